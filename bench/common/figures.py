"""Figures in the form of the other benches, so that `cargo xtask bench report` reads them."""

import json
from pathlib import Path


def quantile(samples, q):
    """The same rounding as crates/bench."""
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
        verdict = {True: "met", False: "NOT MET", None: ""}[met]
        print(f"  {what:<72} {value:>10.3f} {unit:<8} {goal or '':<8} {verdict}", flush=True)

    def write(self, path):
        if path is None:
            return
        content = {"bench": self.bench, "figures": self.figures}
        if self.notes:
            content["note"] = " ".join(self.notes)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
