"""Takes a clause apart: who, what, and when."""

from __future__ import annotations

import re
from typing import NamedTuple

from pipelines.requirements.extraction.state import Reading
from pipelines.requirements.lexicon import Cue, cues, signal, words
from pipelines.requirements.text import (
    base,
    content_words,
    is_base_verb,
    is_participle,
    plain,
    strip_openers,
    tokens,
)

STRONG = 0.6
LONGEST_PRONOUN = 4  # letters of what stands before "look for": I, we, they, you
_CONDITION = r"(?:if|when|whenever|once|unless|as soon as|in case|every time|each time)\b"
_LEADING = re.compile(
    rf"^((?:{_CONDITION}|after |before |above |below |during ).{{3,120}}?),\s+", re.I
)
_TRAILING = re.compile(rf"[\s,]+((?:{_CONDITION}) .{{3,}})$", re.I)
_JOINT = re.compile(
    r"(?:,|;| -| –)?\s+(?:and|but|so|plus)(?: also| then| that)?\s+|[;:]\s+|\s[-–]\s"
    r"|,\s+(?=(?:the|a|an|it|they|he|she|we|you|nobody|staff|people) )",
    re.I,
)
_RELATIVE = re.compile(
    r"(?<!so )\b(?:that|which|who|what|whatever|whoever)(?: (?:nobody|i|you|they|we))?\s+$", re.I
)
_CONTRACTED = re.compile(
    r"\b(?:it|that|there|he|she|they|we|i|you|who|what)'(?:s|re|m|ve|ll|d)\b", re.I
)
_PASSIVE = re.compile(r".{2,60}? (?:is|are|gets?)(?: also| then| only)? (?P<verb>\w+)\b", re.I)
_YES_OR_NO = re.compile(r"(?:should|must|shall|may|can|could|will) .+", re.I)


class Found(NamedTuple):
    cue: Cue
    start: int
    end: int
    who: str
    """Whom the cue itself names: "can *we*", "only *managers* may"."""


def clauses(sentence: str) -> list[str]:
    """Split where the second half says something wanted of its own."""
    parts, rest = [], plain(sentence)
    while cut := _cut(rest):
        left, rest = rest[: cut.start()], rest[cut.end() :]
        parts.append(left)
    return [*parts, rest]


def _cut(text: str) -> re.Match[str] | None:
    for joint in _JOINT.finditer(text):
        left, right = text[: joint.start()], text[joint.end() :]
        cue = find_cue(right)
        near = cue and cue.cue.strength >= STRONG and len(tokens(right[: cue.start])) <= 5
        if near and len(tokens(left)) >= 3 and not _LEADING.match(f"{left}, x"):
            return joint
    return None


def find_cue(text: str) -> Found | None:
    """The cue that says most about the clause; of equal ones the first."""
    found = [
        Found(cue, match.start(), match.end(), _who(match))
        for cue in cues()
        for match in [cue.pattern.search(text)]
        if match and not _RELATIVE.search(text[: match.start()])
    ]
    return max(found, key=lambda one: (one.cue.strength, -one.start), default=None)


def _who(match: re.Match[str]) -> str:
    return plain(match.groupdict().get("who") or "")


def asks_for_yes(question: str) -> bool:
    return _YES_OR_NO.match(strip_openers(question)) is not None


def split_condition(text: str) -> tuple[str, str | None]:
    leading = _LEADING.match(text)
    if leading and len(tokens(text[leading.end() :])) >= 2:
        return text[leading.end() :], plain(leading[1])
    trailing = _TRAILING.search(text)
    if trailing and len(tokens(text[: trailing.start()])) >= 2:
        return text, plain(trailing[1]).rstrip(".!?")
    return text, None


def read(clause: str) -> Reading:
    """By which cue a clause says what is wanted, and what it says of it."""
    main, _ = split_condition(signal("aside").sub("", _bare(clause)))
    main = strip_openers(main)
    found = find_cue(main)
    if found is None:
        return _without_cue(main)
    before = plain(main[: found.start]).rstrip(",")
    after = plain(main[found.end :]).lstrip(" ,:")
    # "Distance is important" names the thing before the cue, "I look for" after it.
    named = found.cue.kind == "value" and len(before) > LONGEST_PRONOUN
    said = before if named or not after else after
    cue = found.cue
    said = said if content_words(said) else main
    return Reading(said, "said", cue.name, cue.kind, cue.strength, cue.priority)


def _bare(clause: str) -> str:
    return strip_openers(clause).rstrip(" .!?…,;:\"'")


class Finite(NamedTuple):
    subject: str
    predicate: str


def finite(text: str) -> Finite | None:
    """Subject and verb of a statement in the present tense ("the technician scans a part")."""
    spoken = text.split()
    for at, word in enumerate(spoken[1:7], start=1):
        bare = word.strip(",.").lower()
        verb = base(bare)
        if verb is None or bare in words("prepositions") or bare.endswith(("ing", "ed")):
            continue
        if _agrees(spoken[at - 1], bare, verb):
            return Finite(" ".join(spoken[:at]), " ".join([verb, *spoken[at + 1 :]]))
    return None


def _agrees(noun: str, form: str, verb: str) -> bool:
    low = noun.lower().strip(",.")
    if low in words("determiners") | words("prepositions"):
        return False
    many = low.endswith("s") or low in {"i", "we", "they", "you", "people", "staff", "everybody"}
    return (form != verb) != many or low in {"staff", "children"}


def _without_cue(main: str) -> Reading:
    spoken = tokens(main)
    if spoken and is_base_verb(spoken[0]) and len(spoken) > 1 and not _noun_start(spoken):
        return Reading(main, "imperative")
    passive = _PASSIVE.match(main)
    if passive and is_participle(passive["verb"]):
        return Reading(main, "present")
    if stated := finite(main):
        return Reading(stated.predicate, "present")
    copula = _CONTRACTED.search(main) or set(map(str.lower, spoken)) & words("auxiliaries")
    return Reading(main, "state" if copula else "fragment")


def _noun_start(spoken: list[str]) -> bool:
    """ "Text messages are …": a word that may be a verb, followed by its own verb."""
    return bool(spoken[1:]) and any(
        word.lower() in {"is", "are", "was", "were", "has", "goes"} for word in spoken[1:4]
    )
