"""Type and priority, from the wording."""

from __future__ import annotations

from pipelines.requirements.extraction.lexicon import signal, type_words
from pipelines.requirements.extraction.state import Reading

FUNCTIONAL = "functional"
# From general to special; when two fit equally well, the more special one is taken.
TYPES = (FUNCTIONAL, "non-functional", "interface", "data", "security", "constraint")
ENOUGH = 2


def type_of(text: str) -> str:
    scores = {kind: _score(kind, text) for kind in TYPES[1:]}
    best = max(TYPES[1:], key=lambda kind: (scores[kind], TYPES.index(kind)))
    return best if scores[best] >= ENOUGH else FUNCTIONAL


def _score(kind: str, text: str) -> int:
    return sum(
        weight * len({match.lower() for match in pattern.findall(text)})
        for weight, pattern in type_words()[kind]
    )


def priority_of(text: str, reading: Reading) -> str:
    """What the speaker says outright counts more than the modal verb."""
    if reading.priority == "could" or signal("could").search(text):
        return "could"
    if reading.priority == "must" or signal("must").search(text) or signal("only").search(text):
        return "must"
    return "should"
