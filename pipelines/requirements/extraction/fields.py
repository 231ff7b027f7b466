"""The fields of a requirement, from a commitment: what is done, by whom, when, how it is tested."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.requirements.extraction import measures
from pipelines.requirements.extraction.actors import resolve
from pipelines.requirements.extraction.shapes import ASKED, TOLD
from pipelines.requirements.extraction.state import Commitment
from pipelines.requirements.labels import Requirement
from pipelines.requirements.lexicon import signal, type_words, words
from pipelines.requirements.text import upper_first

MOST_CRITERIA, TITLE_WORDS, TITLE_CHARACTERS = 5, 8, 100
FUNCTIONAL = "functional"
# From general to special; when two fit equally well, the more special one is taken.
TYPES = (FUNCTIONAL, "non-functional", "interface", "data", "security", "constraint")
TYPE_ENOUGH = 4  # words of a type, by weight: a sure one never decides alone
_SUBJECT = re.compile(
    r"(?:[^,]{1,60}, )?(?P<who>[\w'-]+(?: [\w'-]+){0,3}?) (?:must|should|shall|can|could|may|"
    r"cannot|only|needs?|wants?|has to|have to|will|gets?)\b",
    re.I,
)
_CONDITION = re.compile(
    r"(?P<condition>(?:if|when|whenever|once|unless|as soon as|in case|after|before) [^,]{3,100}),"
    r" (?P<action>(?:(?!\b(?:would|could|was|were|had)\b).){12,})",
    re.I,
)
_TITLE_HEAD = re.compile(
    r"^(?:the (?:system|app|application|software) should |users (?:should be able|need) to |"
    r"there (?:should|must) be )",
    re.I,
)
_DUTY = re.compile(r"\b(?:must|has to|have to|needs? to|only|never)\b", re.I)
_OF_SELF = re.compile(r"\b(?:i|my|me|we|our|us)\b", re.I)


def requirement_of(one: Commitment, earlier: Sequence[str]) -> Requirement:
    """``earlier`` is what was said before."""
    found = _CONDITION.fullmatch(one.text) if one.shape not in {TOLD, ASKED} else None
    action = upper_first(found["action"]) if found else one.text
    return {
        "title": title_of(action),
        "type": type_of(one.text),
        "actor": resolve(_subject(action), earlier=earlier),
        "action": action,
        "quoted": one.shape in {TOLD, ASKED},
        "condition": found["condition"] if found else None,
        "acceptance_criteria": criteria_of(one.text),
        "priority": priority_of(f"{one.text} {one.sentence.text}"),
        "source_messages": list(one.messages),
        "rationale": rationale_of(one),
        "confidence": round(one.keep, 4),
        "wanted": round(one.keep, 4),
    }


def title_of(text: str) -> str:
    spoken = _TITLE_HEAD.sub("", text).rstrip(".!?").split()[:TITLE_WORDS]
    dull = words("determiners") | words("prepositions") | words("auxiliaries") | {"and", "or", "to"}
    while len(spoken) > 2 and spoken[-1].lower() in dull:
        spoken.pop()
    return upper_first(" ".join(spoken)[:TITLE_CHARACTERS].rstrip(".,;:–-!? "))


def _subject(text: str) -> str:
    """Of whom it speaks."""
    found = _SUBJECT.match(text)
    if found:
        return found["who"]
    return "I" if _OF_SELF.search(text) else ""


def rationale_of(one: Commitment) -> str:
    where = one.sentence.message
    if one.kind in {"offer", "summary"}:
        done = "Proposed" if one.kind == "offer" else "Summed up"
        return f"{done} in message {where}, taken up in message {one.messages[-1]}"
    if one.kind == "answer":
        return f"Answer in message {where} to the question in message {one.messages[0]}"
    return f"Stated in message {where}"


def criteria_of(text: str) -> list[str]:
    """Checks from the amounts, times and formats that were said, if any."""
    said = [*measures.amounts(text), *measures.times(text), *measures.formats(text)]
    return list(dict.fromkeys(said))[:MOST_CRITERIA]


def type_of(text: str) -> str:
    scores = {kind: _type_score(kind, text) for kind in TYPES[1:]}
    best = max(TYPES[1:], key=lambda kind: (scores[kind], TYPES.index(kind)))
    return best if scores[best] >= TYPE_ENOUGH else FUNCTIONAL


def _type_score(kind: str, text: str) -> int:
    return sum(
        weight * len({match.lower() for match in pattern.findall(text)})
        for weight, pattern in type_words()[kind]
    )


def priority_of(text: str) -> str:
    """What the speaker says outright counts more than the modal verb."""
    if signal("could").search(text):
        return "could"
    return "must" if _DUTY.search(text) or signal("must").search(text) else "should"
