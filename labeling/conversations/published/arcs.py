"""Narrative arc cases: a question, and the phases that answer it."""

from typing import Any, NamedTuple

from labeling.conversations.published import reading
from labeling.conversations.published.chat import ChatRefused
from labeling.conversations.published.faults import ChatFault
from labeling.conversations.published.questions import elements_of
from labeling.domain.msgids import msgid

MAX_PHASES = 50
MIN_PHASES = 2


class ArcPhase(NamedTuple):
    place: str
    title: str
    time_range: str
    evidence: tuple[str, ...]


class ArcCase(NamedTuple):
    """One case as published; ``place`` is where it is in its file."""

    place: str
    question: str
    phases: tuple[ArcPhase, ...]


def read_arc_cases(listed: Any, *, faults: list[ChatFault], where: str = "case") -> list[ArcCase]:
    """Every case of a list; oddities are added to ``faults``."""
    rows = reading.a_list(listed, where)
    if not rows:
        raise ChatRefused(msgid("the file holds no case"))
    return [_case(row, f"{where}[{number}]", faults) for number, row in enumerate(rows)]


def _case(value: Any, place: str, faults: list[ChatFault]) -> ArcCase:
    row = reading.an_object(value, place)
    phases = reading.a_list(row.get("expected_phases"), f'{place}: "expected_phases"')
    if not 0 < len(phases) <= MAX_PHASES:
        raise ChatRefused(
            msgid("{place}: {phases} phases; 1 to {most} are allowed"),
            place=place,
            phases=len(phases),
            most=MAX_PHASES,
        )
    if len(phases) < MIN_PHASES:
        faults.append(ChatFault("few_phases", place, f"{len(phases)}"))
    return ArcCase(
        place=place,
        question=reading.text_of(row, "question", place),
        phases=tuple(
            _phase(each, f"{place}.expected_phases[{number}]") for number, each in enumerate(phases)
        ),
    )


def _phase(value: Any, place: str) -> ArcPhase:
    row = reading.an_object(value, place)
    cited = reading.a_list(row.get("evidence_dia_ids"), f'{place}: "evidence_dia_ids"')
    return ArcPhase(
        place=place,
        title=reading.text_of(row, "title", place),
        time_range=reading.text_of(row, "time_range", place, required=False),
        evidence=elements_of(cited, f'{place}: "evidence_dia_ids"'),
    )
