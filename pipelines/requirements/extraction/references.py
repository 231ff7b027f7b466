"""What "it" and "them" stand for in the wording of a requirement."""

from __future__ import annotations

import re

from pipelines.requirements.extraction.lexicon import words
from pipelines.requirements.extraction.text import base, tokens
from pipelines.requirements.extraction.wording import noun_phrases

_MOST_WORDS = 3
_OBJECT = re.compile(
    r"^(?P<verb>[\w-]+(?: (?:also|always|only))?) (?P<what>it|them|those|this|that)"
    r"(?=$|[,.;]| (?:by|in|on|at|from|to|with|for|as|within|before|after|when|if|again|later)\b)",
    re.I,
)


def named(action: str, before: str) -> str:
    """The action with its object named, if the action before it tells which one is meant."""
    found = _OBJECT.match(action)
    thing = _object_of(before) if found and base(found["verb"].split()[0]) else ""
    many = thing.endswith("s")
    if found is None or not thing or many != (found["what"].lower() in {"them", "those"}):
        return action
    return f"{action[: found.start('what')]}the {thing}{action[found.end('what') :]}"


def _object_of(action: str) -> str:
    """What the verb of an action is done to: "Print the route map" is about the route map."""
    spoken = tokens(re.split(r"[,;:]", action)[0])
    if not spoken or base(spoken[0]) is None:
        return ""
    phrases = noun_phrases(spoken[1:])
    dull = words("openers")
    kept = [word for word in (phrases[0] if phrases else []) if word.lower() not in dull]
    return " ".join(kept[:_MOST_WORDS])
