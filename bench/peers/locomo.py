"""LoCoMo as the work (`--data`, your own copy): each turn is a memory, and the evidence of a question is its answer."""

import json
import random


class Locomo:
    def __init__(self, path):
        self.texts, self.asked = [], []
        for talk in json.loads(path.read_text()):
            self.read(talk)

    def read(self, talk):
        numbers, sessions = {}, talk["conversation"]
        for name in [key for key in sessions if key.startswith("session_") and isinstance(sessions[key], list)]:
            for turn in sessions[name]:
                numbers[turn["dia_id"]] = len(self.texts)
                self.texts.append(f"[{sessions[name + '_date_time']}] {turn['speaker']}: {turn['text']}")
        for asked in talk["qa"]:
            evidence = {numbers[place] for place in asked.get("evidence", []) if place in numbers}
            # category 5 asks for things that were never said
            if evidence and asked["category"] != 5:
                self.asked.append((asked["question"], evidence))

    def text(self, number):
        return self.texts[number]

    def questions(self, stored, how_many):
        answerable = [(question, places) for question, places in self.asked if max(places) < stored]
        picked = random.Random(stored).sample(answerable, min(how_many, len(answerable)))
        return [(question, {self.texts[place] for place in places}) for question, places in picked]
