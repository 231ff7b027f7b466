"""What was put to the client and waits for an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipelines.requirements.extraction import acts
from pipelines.requirements.extraction.clauses import read
from pipelines.requirements.extraction.features import features
from pipelines.requirements.extraction.state import Commitment, Source, Utterance
from pipelines.requirements.text import strip_openers, tokens

LONGEST_CHOICE, MOST_OF_BOTH = 16, 4  # words
_ALL = re.compile(r"\b(?:both|all(?: of (?:them|it|those))?|everything|each)\b", re.I)


@dataclass(slots=True)
class Pending:
    """Something that was put to the client."""

    utterance: Utterance
    text: str
    kind: str
    """proposal, recap or question."""
    choice: acts.Choice | None = None
    drops: bool = False
    """It proposes to leave something out."""
    answered: bool = False
    place: int | None = None
    """Of the commitment that it became."""


def chosen(pending: Pending, text: str) -> str | None:
    """What an answer picks of a choice, by its words or its place."""
    if pending.choice is None or not text or len(tokens(text)) > LONGEST_CHOICE:
        return None
    first, second, both = pending.choice
    said = {word.lower() for word in tokens(text)}
    if said & {"first", "former", "second", "latter"}:
        return first if said & {"first", "former"} else second
    if _ALL.search(text) and len(said) <= MOST_OF_BOTH:
        return both
    left, right = ({word.lower() for word in tokens(option)} for option in (first, second))
    scores = len(said & (left - right)), len(said & (right - left))
    if scores[0] == scores[1]:
        return None
    return first if scores[0] > scores[1] else second


def proposed(pending: Pending, accepted: Utterance | None = None) -> Commitment:
    own = pending.utterance
    reading = read(pending.text)
    sources = [Source(own.message, "proposed")]
    if accepted:
        sources.append(Source(accepted.message, "accepted"))
    values = features(pending.text, reading, sentence=own, question=None, proposal=True)
    return Commitment(
        sentence=own,
        text=strip_openers(pending.text).rstrip(" ?"),
        reading=reading,
        question=None,
        sources=tuple(sources),
        features=values | {"asks back": 0.0},
    )
