"""A strict parser of answers, independent of butler's lenient one."""

import json

FACT = {"subject", "predicate", "content"}
NEEDED = {"new_facts": FACT, "updated_facts": FACT | {"target_id"}, "new_rules": {"content"}}


def is_json(text):
    """Whether the answer is one JSON object with the four lists, with or without a code fence."""
    body = text.strip().removeprefix("```json").removesuffix("```")
    try:
        answer = json.loads(body)
    except ValueError:
        return False
    return isinstance(answer, dict) and all(isinstance(answer.get(key), list) for key in (*NEEDED, "confirmations"))


def complete_actions(text):
    """The complete facts and rules of the first known lists, even if the text is cut off later.

    Only valid JSON counts, so butler must keep at least these.
    """
    found = set()
    for key, needed in NEEDED.items():
        at = text.find(f'"{key}"')
        start = text.find("[", at) if at >= 0 else -1
        if start < 0 or text[at + len(key) + 2:start].strip() != ":":
            continue
        for item in items(text, start + 1):
            texts = {name: item.get(name) for name in needed}
            if all(isinstance(value, str) and value.strip() for value in texts.values()):
                found.add((key, json.dumps(texts, sort_keys=True)))
    return found


def items(text, at):
    """The objects of a list, up to the first item that is not an object."""
    decoder = json.JSONDecoder()
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at >= len(text) or text[at] != "{":
            return
        try:
            item, at = decoder.raw_decode(text, at)
        except ValueError:
            return
        yield item
