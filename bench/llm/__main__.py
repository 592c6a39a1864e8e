"""Consolidates batches of episodes with the real server and a real model, with and without a JSON schema."""

import argparse
import json
import re
import tempfile
import time
from collections import Counter
from pathlib import Path

from common.butler import Butler
from common.figures import Report
from common.processes import exit_on_sigterm

from .episodes import episode
from .model import NAME, Model
from .proxy import RecordingProxy
from .reader import complete_actions, is_json

EPISODES_A_BATCH = 2
# enough for the prompt (about 1500 tokens of this model) and an answer of about 500, so that endless repetition ends
CONTEXT = 2048
PROMPT_TOKENS = 1100
COPIED = re.compile(r"(\d+) actions are the prompt's own example")
KEPT = ("facts_created", "facts_updated", "rules_created", "confirmations", "replayed")

CONFIG = """
[butler]
name = "llm"
[butler.runtime]
type = "openai"
base_url = "{url}"
model = "{model}"
timeout_s = 600
[modules.memory.consolidation]
batch_size = {batch}
prompt_token_cap = {tokens}
[modules.memory.schedule]
enabled = false
"""


class Trial:
    """One mode with its own server, and everything that was measured."""

    def __init__(self, way, args, model, folder):
        self.way, self.model = way, model
        self.said = (args.answers / f"{way}.jsonl").open("w") if args.answers else None
        self.proxy = RecordingProxy(model.port, plain=way == "plain")
        self.counts, self.stored, self.missing, self.errors = Counter(), [], 0, []
        config = folder / f"{way}.toml"
        config.write_text(CONFIG.format(url=self.proxy.url, model=NAME, batch=EPISODES_A_BATCH, tokens=PROMPT_TOKENS))
        home = folder / way
        home.mkdir()
        self.server = Butler(args.butler, home / "data", "--config", config)
        self.tools = self.server.tools()

    def run(self, batches, minutes):
        end = time.monotonic() + minutes * 60
        while self.counts["batches"] < batches and time.monotonic() < end:
            for _ in range(EPISODES_A_BATCH):
                content = episode(len(self.stored))
                self.stored.append(self.tools.call("memory_store_episode", content=content, butler="llm")["id"])
            began = time.monotonic()
            report = self.tools.call("memory_run_consolidation")
            self.note(report, self.proxy.take())
            print(f"  {self.way} {self.counts['batches']}/{batches}: {time.monotonic() - began:.0f} s, "
                  f"{self.counts['consolidated']} episodes consolidated, {self.counts['kept']} actions", flush=True)

    def note(self, report, answers):
        totals = report["totals"]
        self.counts.update({key: value for key, value in totals.items() if isinstance(value, int)})
        self.counts["kept"] += sum(totals[key] for key in KEPT)
        self.counts["answers"] += len(answers)
        for answer in answers if self.said else []:
            print(json.dumps(answer), file=self.said, flush=True)
        self.counts["well_formed"] += sum(is_json(answer["text"]) for answer in answers)
        self.counts["cut_off"] += sum(answer["finish"] == "length" for answer in answers)
        self.errors += report["errors"]
        complete = sum(len(complete_actions(answer["text"])) for answer in answers)
        self.counts["complete"] += complete
        # every complete action must be kept, or reported as failed or as a copy of the prompt's example
        copied = sum(int(number) for error in report["errors"] for number in COPIED.findall(error))
        self.counts["copied"] += copied
        missing = max(0, complete - sum(totals[key] for key in KEPT) - totals["actions_failed"] - copied)
        self.missing += missing
        if missing:
            print(f"    {missing} of {complete} complete actions were not kept: {json.dumps(report)}", flush=True)
            for answer in answers:
                print(f"    the model said: {json.dumps(answer)}", flush=True)

    def states(self):
        """Counts the stored episodes by state. An episode that cannot be read is lost."""
        states = Counter()
        for number in self.stored:
            states[self.tools.call("memory_get", memory_type="episode", memory_id=number)["consolidation_status"]] += 1
        return states

    def close(self):
        crashed = 0 if self.server.running() else 1
        crashed += 0 if self.model.running() else 1
        self.server.stop()
        self.proxy.close()
        return crashed


def record(report, trial, states, crashes):
    way, counts = trial.way, trial.counts
    stored, batches = len(trial.stored), counts["batches"]
    report.note(f"{way}: batches", batches, "")
    report.note(f"{way}: answers that are the JSON asked for", counts["well_formed"], "")
    report.note(f"{way}: answers cut off at the end of the context", counts["cut_off"], "")
    report.note(f"{way}: problems the parser named", counts["parse_errors"], "")
    consolidated = counts["consolidated"] / EPISODES_A_BATCH
    if way == "schema":
        report.at_least(f"{way}: batches consolidated", consolidated, "", batches / 2)
    else:
        report.note(f"{way}: batches consolidated", consolidated, "")
    report.note(f"{way}: complete actions in the answers, by a strict reader", counts["complete"], "")
    report.note(f"{way}: actions kept", counts["kept"], "")
    report.note(f"{way}: actions refused by name (no such target)", counts["actions_failed"], "")
    report.note(f"{way}: copies of the prompt's example, left out", counts["copied"], "")
    report.at_most(f"{way}: complete actions lost", trial.missing, "", 0)
    report.note(f"{way}: episodes stored", stored, "")
    for state in ("consolidated", "failed", "pending", "dead_letter"):
        report.note(f"{way}: episodes {state}", states[state], "")
    report.at_most(f"{way}: episodes lost", stored - sum(states.values()), "", 0)
    report.at_most(f"{way}: crashes", crashes, "", 0)


def main():
    parser = argparse.ArgumentParser(prog="cargo xtask llm", description=__doc__)
    parser.add_argument("--butler", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--batches", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=120, help="stop each mode after this time")
    parser.add_argument("--ways", default="plain,schema", help="the modes: plain, schema, or both")
    parser.add_argument("--answers", type=Path, help="a folder to write the model's answers to")
    args = parser.parse_args()
    exit_on_sigterm()
    report = Report("llm")
    with tempfile.TemporaryDirectory() as folder, Model(Path(folder) / "model.log", CONTEXT) as model:
        for way in args.ways.split(","):
            trial = Trial(way, args, model, Path(folder))
            try:
                trial.run(args.batches, args.minutes)
                states = trial.states()
            finally:
                crashes = trial.close()
            record(report, trial, states, crashes)
            for error, times in Counter(trial.errors).most_common(8):
                print(f"    {times} × {error[:160]}")
    report.write(args.json)
    report.exit_if_missed()


if __name__ == "__main__":
    main()
