"""The fields of a requirement, from a commitment: what is done, by whom, when, how it is tested."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.requirements.extraction import measures, plain_words
from pipelines.requirements.extraction.actors import resolve
from pipelines.requirements.extraction.state import Candidate, Commitment, Reading, Utterance
from pipelines.requirements.labels import Requirement
from pipelines.requirements.lexicon import signal, type_words
from pipelines.requirements.text import plain, upper_first

MOST_CRITERIA = 5
FUNCTIONAL = "functional"
# From general to special; when two fit equally well, the more special one is taken.
TYPES = (FUNCTIONAL, "non-functional", "interface", "data", "security", "constraint")
TYPE_ENOUGH = 4  # words of a type, by weight: a sure one never decides alone
_SUBJECT = re.compile(
    r"(?P<who>[\w'-]+(?: [\w'-]+){0,3}?) (?:must|should|shall|can|could|may|cannot|only|needs?|"
    r"wants?|has to|have to|will|gets?)\b",
    re.I,
)

_DUTY = re.compile(r"\b(?:must|has to|have to|needs? to|only|never)\b", re.I)
_OF_SELF = re.compile(r"\b(?:i|my|me|we|our|us)\b", re.I)


def requirement_of(candidate: Candidate, said: Sequence[Utterance]) -> Requirement:
    one, said_so = candidate.commitment, candidate.said
    own, action = one.sentence, said_so.text
    earlier = [each.text for each in said if each.place < own.place]
    return {
        "title": plain_words.title_of(action),
        "type": type_of(said_so.said),
        "actor": resolve(said_so.who or _subject(said_so.said), earlier=earlier),
        "action": action,
        "quoted": said_so.quoted and said_so.text.rstrip(".").lower() == said_so.said.lower(),
        "condition": said_so.condition,
        "acceptance_criteria": criteria_of(one),
        "priority": priority_of(f"{one.text} {said_so.said}", one.reading),
        "source_messages": list(one.messages),
        "rationale": rationale_of(one),
        "confidence": round(one.keep, 4),
        "wanted": round(one.keep, 4),
    }


def _subject(said: str) -> str:
    """Of whom a quotation speaks."""
    found = _SUBJECT.match(said)
    if found:
        return found["who"]
    return "I" if _OF_SELF.search(said) else ""


def rationale_of(commitment: Commitment) -> str:
    where = commitment.sentence.message
    reading = commitment.reading
    if commitment.sentence.asked:
        return f"Proposed in message {where} and accepted in message {max(commitment.messages)}"
    if reading.cue:
        return f"Stated with “{reading.cue}” in message {where}"
    if commitment.question:
        return f"Answer in message {where} to the question in message {commitment.question.message}"
    return (
        f"Stated as {'an order' if reading.shape == 'imperative' else 'a rule'} in message {where}"
    )


def criteria_of(commitment: Commitment) -> list[str]:
    """Checks from the amounts, times and formats that were said, if any."""
    said = " ".join([commitment.text, *commitment.details])
    drafted = [upper_first(plain(one)).rstrip(".!") for one in commitment.details if _measures(one)]
    drafted += [*measures.amounts(said), *measures.times(said), *measures.formats(said)]
    return list(dict.fromkeys(drafted))[:MOST_CRITERIA]


def _measures(detail: str) -> bool:
    """Whether a further sentence says something that can be tested."""
    found = [*measures.amounts(detail), *measures.times(detail), *measures.formats(detail)]
    return bool(found) or signal("only").search(detail) is not None


def type_of(text: str) -> str:
    scores = {kind: _type_score(kind, text) for kind in TYPES[1:]}
    best = max(TYPES[1:], key=lambda kind: (scores[kind], TYPES.index(kind)))
    return best if scores[best] >= TYPE_ENOUGH else FUNCTIONAL


def _type_score(kind: str, text: str) -> int:
    return sum(
        weight * len({match.lower() for match in pattern.findall(text)})
        for weight, pattern in type_words()[kind]
    )


def priority_of(text: str, reading: Reading) -> str:
    """What the speaker says outright counts more than the modal verb."""
    if reading.priority == "could" or signal("could").search(text):
        return "could"
    if reading.priority == "must" or _DUTY.search(text) or signal("must").search(text):
        return "must"
    return "should"
