"""Runs thousands of requests generated from /api/openapi.json against a server with demo data.

Fails on a server error, on a status, content type or shape that the document does not describe, and on an accepted
method that it does not describe.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

from common.butler import Butler
from common.install import environment, run
from common.processes import exit_on_sigterm

# Two checks are left out: that all data valid by the schema is accepted (a cursor must come from the server), and that
# invalid data is rejected (a parameter without a value counts as missing).
CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "missing_required_header", "unsupported_method", "allow_header_conformance",
    "use_after_free", "ignored_auth",
]
# an event stream, which never ends
ENDLESS = "/api/events"


def main():
    parser = argparse.ArgumentParser(prog="cargo xtask openapi", description=__doc__)
    parser.add_argument("--butler", type=Path, required=True)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    exit_on_sigterm()
    home = environment("schemathesis", "schemathesis>=4.32,<5")
    with tempfile.TemporaryDirectory(prefix="api") as folder, Butler(args.butler, Path(folder) / "data") as server:
        run([args.butler, "demo", "--size", "500", "--data-dir", Path(folder) / "data"])
        done = subprocess.run(
            [home / "bin/st", "run", f"http://{server.address}/api/openapi.json", "--exclude-path", ENDLESS,
             "--checks", ",".join(CHECKS), "--max-time", str(args.seconds), "--seed", str(args.seed),
             "--phases", "examples,coverage,fuzzing,stateful", "--request-timeout", "30", "--continue-on-failure"],
            cwd=folder,
        )
        alive = server.running()
    if done.returncode != 0 or not alive:
        raise SystemExit(f"schemathesis exited with {done.returncode}; the server {'is running' if alive else 'has exited'}")


if __name__ == "__main__":
    main()
