"""Figures in the format of the other benchmarks, so that `cargo xtask bench report` can read them."""

import json
from pathlib import Path


def quantile(samples, q):
    """Rounds as crates/bench does."""
    ordered = sorted(samples)
    return ordered[round((len(ordered) - 1) * q)] if ordered else float("nan")


class Report:
    def __init__(self, bench):
        self.bench, self.figures, self.notes = bench, [], []

    def note(self, what, value, unit):
        self._add(what, value, unit, None, None)

    def at_least(self, what, value, unit, goal):
        self._add(what, value, unit, f"≥ {goal:g}", value >= goal)

    def at_most(self, what, value, unit, goal):
        self._add(what, value, unit, f"≤ {goal:g}", value <= goal)

    def _add(self, what, value, unit, goal, met):
        self.figures.append({"what": what, "value": value, "unit": unit, "goal": goal, "met": met})
        verdict = {True: "met", False: "MISSED", None: ""}[met]
        print(f"  {what:<72} {value:>10.3f} {unit:<8} {goal or '':<8} {verdict}", flush=True)

    def write(self, path):
        if path is None:
            return
        content = {"bench": self.bench, "figures": self.figures}
        if self.notes:
            content["note"] = " ".join(self.notes)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")

    def exit_if_missed(self):
        """Ends the program with exit code 1 and a list of the missed goals, if there are any."""
        missed = [figure for figure in self.figures if figure["met"] is False]
        if missed:
            raise SystemExit("\n".join(
                f"goal missed: {figure['what']}: {figure['value']:.3f} {figure['unit']} (goal {figure['goal']})"
                for figure in missed
            ))
