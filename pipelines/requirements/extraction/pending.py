"""What was put to the client and waits for an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pipelines.requirements.extraction import acts
from pipelines.requirements.extraction.clauses import read
from pipelines.requirements.extraction.features import features
from pipelines.requirements.extraction.overlaps import same_stand, share
from pipelines.requirements.extraction.state import Act, Commitment, Source, Utterance
from pipelines.requirements.lexicon import load
from pipelines.requirements.text import base, content_words, strip_openers, tokens

ECHOED = 0.7  # share of the words of a question that only repeats
LONGEST_CHOICE = 16  # words
_ALL = re.compile(r"\b(?:both|all(?: of (?:them|it|those))?|everything|each)\b", re.I)


@dataclass(slots=True)
class Pending:
    """Something that was put to the client."""

    utterance: Utterance
    text: str
    kind: str
    """proposal, recap or question."""
    options: list[str] = field(default_factory=list)
    drops: bool = False
    """It proposes to leave something out."""
    answered: bool = False
    place: int | None = None
    """Of the commitment that it became."""
    checks: int | None = None
    """The commitment that it asks about once more: "Five minutes, really?"."""


def names_all(text: str) -> bool:
    """ "Both", "all of them"."""
    return _ALL.search(text) is not None


def exclude(options: Sequence[str]) -> bool:
    """Both of them cannot be: "public or private", "with or without"."""
    if len(options) != 2:
        return False
    left, right = ({word.lower() for word in tokens(option)} for option in options)
    for group in load("acts")["opposites"]:
        if (left - right) & set(group) and (right - left) & set(group):
            return True
    return not same_stand(*options)


def chosen_option(pending: Pending, text: str) -> str | None:
    """The option that an answer picks, by its words or its place."""
    if not pending.options or not text:
        return None
    said = {word.lower() for word in tokens(text)}
    if said & {"first", "former"}:
        return pending.options[0]
    if said & {"second", "latter"}:
        return pending.options[1]
    if names_all(text) and len(tokens(text)) <= 4:
        return acts.together(pending.text)
    left, right = ({word.lower() for word in tokens(option)} for option in pending.options)
    scores = len(said & (left - right)), len(said & (right - left))
    if scores[0] == scores[1]:  # by the verbs alone
        said, left, right = ({base(word) or word for word in one} for one in (said, left, right))
        scores = len(said & (left - right)), len(said & (right - left))
    if scores[0] == scores[1] or len(tokens(text)) > LONGEST_CHOICE:
        return None
    return pending.options[0 if scores[0] > scores[1] else 1]


def echoes(pending: Pending, text: str) -> bool:
    """A question that only repeats part of what was asked, for a choice."""
    about = content_words(text)
    return len(about) > 1 and share(about, content_words(pending.text)) >= ECHOED


def with_text(pending: Pending, text: str) -> Pending:
    """The same question, with the words that were taken up."""
    pending.text = text
    return pending


def proposed(pending: Pending, accepted: Utterance | None = None) -> Commitment:
    own = pending.utterance
    reading = read(acts.statement_of(pending.text))
    did: Act = "recap" if pending.kind == "recap" else "proposal"
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
        acts=(did, "acceptance") if accepted else (did,),
        features=values | {"asks back": 0.0, "summed up": float(did == "recap")},
    )
