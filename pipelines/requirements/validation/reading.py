"""What a reader stumbles over: words of which nobody could build or test anything.

The rules look at form alone, so that they hold in any domain. Each looks for what is clear: a
remark that is wrong costs a reader more than one that is missing. Among the issues that people
label each of them is ``untestable``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from pipelines.requirements.labels import Flaw, Requirement, field_text, name_of
from pipelines.requirements.validation.wording import pattern


class Fault(NamedTuple):
    """One thing in one field; ``place`` is where the words are in the field's text."""

    kind: str
    field: str
    place: tuple[int, int]


class Kind(NamedTuple):
    message: str
    fix: str
    unusable: bool = True
    """Nobody could build or test what is written."""


_ASK = "Read the messages that it cites, and write what is wanted"
KINDS: Mapping[str, Kind] = {
    "question": Kind("It is a question", "Write what was answered"),
    "markup": Kind("It holds marks of formatting", "Write plain words"),
    "filler": Kind("It holds words that only keep a talk going", _ASK),
    "speech": Kind("Somebody speaks in it, as in the talk", "Say who does what"),
    "pointing": Kind("It points to something that it does not name", "Name what is meant"),
    "person": Kind("It speaks to somebody, as in the talk", "Name who is meant", unusable=False),
}
NO_POINTING = r"(?!that (?:all|every|when|if|for|there)\b)"
"""A "that" which begins a clause: "ensure that every plan …"."""
ALARM_FROM = 3
"""Requirements. Among fewer, "most of them" says nothing."""

_MARKUP = re.compile(
    r"\*\*|__|`|^\s*#+\s|^\s*[-*•|]\s|</?[a-z][^>]*>|\]\(|\|.*\||&(?:amp|nbsp|lt|gt|quot);", re.I
)
_LAST_POINTING = re.compile(r"(?<=\w) (?P<points>something|stuff|things?)\s*\W*$", re.I)
_QUESTION_END = re.compile(r"\?\s*[\"')\]]*\s*$")


def unusable(requirements: Sequence[Requirement]) -> dict[str, str]:
    """Why nobody could build or test a requirement, by its name."""
    found = {name_of(one): [KINDS[fault.kind] for fault in of(one)] for one in requirements}
    return {
        name: kind.message for name, kinds in found.items() for kind in kinds[:1] if kind.unusable
    }


def is_alarm(count: int, total: int) -> bool:
    """Whether most of them are unusable, so that a list of them says that before anything else."""
    return total >= ALARM_FROM and 2 * count > total


def of(requirement: Requirement) -> list[Fault]:
    """What is wrong with the words of one requirement: the first that explains it in each field.

    A quotation may ask, speak, point and break off as people do.
    """
    if requirement.get("quoted"):
        return []
    fields = (("title", ("question", "markup", "filler")), ("action", tuple(_RULES)))
    faults = (next(_in(field, requirement, kinds), None) for field, kinds in fields)
    return [fault for fault in faults if fault]


def flaws(requirement: Requirement) -> Iterator[Flaw]:
    for fault in of(requirement):
        kind = KINDS[fault.kind]
        yield Flaw("untestable", fault.field, fault.place, kind.message, kind.fix)


def flaw(action: str) -> str:
    """The kind of what is wrong with an action, or nothing."""
    return next((kind for kind, rule in _RULES.items() if rule(_straight(action))), "")


def _in(field: str, requirement: Requirement, kinds: Sequence[str]) -> Iterator[Fault]:
    text = _straight(field_text(requirement, field))
    for kind in kinds if text.strip() else ():
        if place := _RULES[kind](text):
            yield Fault(kind, field, place)


_Place = tuple[int, int] | None


def _question(text: str) -> _Place:
    start = _begins("asking", text)
    return start or ((0, len(text)) if _QUESTION_END.search(text) else None)


def _pointing(text: str) -> _Place:
    """A pronoun before anything is named: as subject, or right after the verb."""
    match = _object_pointing().match(text) or _LAST_POINTING.search(text)
    return _begins("pointing_subjects", text) or (match.span("points") if match else None)


def _said(name: str) -> Callable[[str], _Place]:
    """Where a person of the talk is meant. ``US`` is a country, and so is what is in capitals."""

    def place(text: str) -> _Place:
        found = pattern(name).finditer(text)
        return next((one.span() for one in found if one[0] == "I" or not one[0].isupper()), None)

    return place


def _span(match: re.Match[str] | None) -> _Place:
    return match.span() if match else None


_RULES: Mapping[str, Callable[[str], _Place]] = {
    "question": _question,
    "markup": lambda text: _span(_MARKUP.search(text)),
    "filler": lambda text: _span(pattern("filler").search(text)),
    "pointing": _pointing,
    "speech": _said("speakers"),  # first and second persons
    "person": _said("addressed"),  # "our list", "send you a link": a reader has to know who
}


def _begins(name: str, text: str) -> _Place:
    return _span(pattern(name).match(text, len(text) - len(text.lstrip())))


def _straight(text: str) -> str:
    return text.replace("’", "'")


@cache
def _object_pointing() -> re.Pattern[str]:
    """``See it``, ``have something like that``, ``talk about this``; not ``see this list``."""
    between = r"(?:(?:to|for|with|on|at|in|of|about|up|out|be|do|have|see|get|use)\s+){0,2}"
    after = (
        r"(?=\s*(?:$|[.,;:!?])|\s+(?:too|also|as|there|then|now|like|every|for|to|by|on|with|at|"
        r"when|if|again|in|from|and|or|because|so|is|are|would|should|please|better|working|"
        r"done|right|properly|all|first|before|after|later)\b)"
    )
    pointing = pattern("pointing").pattern
    return re.compile(
        rf"\s*(?:not |never |be able to )?[\w'-]+\s+{between}"
        rf"(?P<points>(?:it|them)(?![\w'-])|{NO_POINTING}{pointing}{after})",
        re.I,
    )
