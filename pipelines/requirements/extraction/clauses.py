"""Takes a sentence apart: who, what, and when."""

from __future__ import annotations

import re
from typing import NamedTuple

from pipelines.requirements.lexicon import words
from pipelines.requirements.text import base, plain, tokens

_CONDITION = r"(?:if|when|whenever|once|unless|as soon as|in case|every time|each time)\b"
_LEADING = re.compile(
    rf"^((?:{_CONDITION}|after |before |above |below |during ).{{3,120}}?),\s+", re.I
)
_TRAILING = re.compile(rf"[\s,]+((?:{_CONDITION}) .{{3,}})$", re.I)


def split_condition(text: str) -> tuple[str, str | None]:
    leading = _LEADING.match(text)
    if leading and len(tokens(text[leading.end() :])) >= 2:
        return text[leading.end() :], plain(leading[1])
    trailing = _TRAILING.search(text)
    if trailing and len(tokens(text[: trailing.start()])) >= 2:
        return text, plain(trailing[1]).rstrip(".!?")
    return text, None


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
