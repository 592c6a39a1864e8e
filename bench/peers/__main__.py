"""The same work on mem0, Hindsight, mcp-memory-service, the official MCP memory server and this project."""

import argparse
import subprocess
import tempfile
from pathlib import Path

from common.figures import Report
from common.install import NotInstalled
from common.processes import Process, exit_on_sigterm

from . import measure, systems
from .locomo import Locomo
from .work import Generated

# the factor over comparable systems (semantic search in memories on disk); the others only have to be slower
COMPARABLE_GOAL = 5.0


class Bench:
    """What the systems share: our programs and one embedding endpoint."""

    def __init__(self, args, folder):
        self.butler, self.hold = args.butler, args.bench.with_name("postgres-hold")
        self.server = Process([args.bench, "endpoint"], folder / "endpoint.log", stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
        self.endpoint = self.server.child.stdout.readline().decode().strip().removeprefix("ready ")
        if not self.endpoint.startswith("http"):
            raise SystemExit(f"the embedding endpoint did not start: {self.server.tail()}")


def trial(kind, bench, work, args, report):
    """Installs, measures and stops one system. An error is reported and ends only this trial."""
    system = kind(bench)
    try:
        installed = system.install()
    except NotInstalled as error:
        report.notes.append(f"{kind.name} could not be installed: {error}.")
        return []
    said = f"{kind.name} {installed or '(this build)'}: {kind.about}."
    print(f"\n{said}", flush=True)
    report.notes.append(said)
    results = []
    # short, because it becomes part of the path of a socket
    with tempfile.TemporaryDirectory(prefix="peer") as folder:
        try:
            system.start(Path(folder))
            stored = 0
            for wanted in args.sizes:
                results.append(measure.size(system, work, stored, wanted, args.questions, args.limit))
                stored = results[-1]["memories"]
                show(kind, results[-1], wanted, report)
                if stored < wanted:
                    break
        except Exception as error:
            report.notes.append(f"{kind.name} failed after {len(results)} of {len(args.sizes)} sizes: {error}.")
            print(f"  {kind.name}: {error}", flush=True)
        finally:
            system.stop()
    return results


def show(kind, result, wanted, report):
    at = f"{kind.name} at {result['memories']}"
    if result["memories"] < wanted:
        report.notes.append(f"{kind.name} held {result['memories']} memories when the time for {wanted} was over.")
    report.note(f"{at}, stores by {measure.CLIENTS} clients", result["stores_a_second"], "/s")
    for what in ("store", "search"):
        report.note(f"{at}, {what} p50", result[f"{what}_p50"], "ms")
        report.note(f"{at}, {what} p95", result[f"{what}_p95"], "ms")
    report.note(f"{at}, from store to found, p50", result["lag_p50"], "ms")
    if result["never_found"]:
        report.note(f"{at}, of {measure.LAGS} stored alone never found", result["never_found"], "")
    report.note(f"{at}, recall@10", result["recall"], "")
    report.note(f"{at}, resident memory with its database", result["resident_mb"], "MB")


def compare(ours, theirs, kind, report):
    goal = COMPARABLE_GOAL if kind.comparable else 1.0
    for us, them in zip(ours, theirs):
        at = f"butler at {us['memories']} against {kind.name} at {them['memories']}"
        for what in ("store", "search"):
            report.at_least(f"{at}, {what} p50", them[f"{what}_p50"] / us[f"{what}_p50"], "× as fast", goal)
        if us["stores_a_second"] and them["stores_a_second"]:
            ratio = us["stores_a_second"] / them["stores_a_second"]
            report.at_least(f"{at}, stores by {measure.CLIENTS} clients", ratio, "× as many", goal)


def main():
    parser = argparse.ArgumentParser(prog="cargo xtask bench peers", description=__doc__)
    parser.add_argument("--butler", type=Path, required=True)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=[1000, 10000])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--limit", type=float, default=300, help="seconds for filling a system to a size")
    parser.add_argument("--only", default="", help="names of the systems to measure, separated by commas")
    parser.add_argument("--data", type=Path, help="a LoCoMo file to use instead of generated memories")
    parser.add_argument("--allow-missed", action="store_true", help="exit with 0 although a goal is missed")
    args = parser.parse_args()
    exit_on_sigterm()
    work = Locomo(args.data) if args.data else Generated(max(args.sizes))
    report, wanted = Report("peers"), [name.strip() for name in args.only.split(",") if name.strip()]
    chosen = [kind for kind in systems.ALL if not wanted or kind.name in wanted]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, Path(folder))
        try:
            results = {kind: trial(kind, bench, work, args, report) for kind in chosen}
        finally:
            bench.server.stop()
    print()
    for kind in chosen:
        if kind is not systems.ButlerMemory:
            compare(results.get(systems.ButlerMemory, []), results[kind], kind, report)
    report.write(args.json)
    if not args.allow_missed:
        report.exit_if_missed()


if __name__ == "__main__":
    main()
