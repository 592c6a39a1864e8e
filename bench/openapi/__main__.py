"""Requests by the thousand, made from /api/openapi.json, against a server with half a year of an invented life.

No answer may be a server error, have a status, a type or a shape the document does not name, or let in a method it does
not know.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

from common.butler import Butler
from common.install import environment, run
from common.processes import end_politely

# Not among them: that whatever fits the schema is accepted (a cursor is one of the server's own or none), and that what
# does not fit is refused (a parameter without a value counts as not given).
CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "missing_required_header", "unsupported_method", "allow_header_conformance",
    "use_after_free", "ignored_auth",
]
# never ends, by its nature
ENDLESS = "/api/events"


def main():
    parser = argparse.ArgumentParser(prog="cargo xtask openapi", description=__doc__)
    parser.add_argument("--butler", type=Path, required=True)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    end_politely()
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
        raise SystemExit(f"schemathesis ended with {done.returncode}; the server {'lives' if alive else 'is gone'}")


if __name__ == "__main__":
    main()
