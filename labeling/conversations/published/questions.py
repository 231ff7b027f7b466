"""The questions that a published chat brings with it."""

from collections.abc import Mapping
from typing import Any

from labeling.conversations.published import reading
from labeling.conversations.published.chat import ChatRefused, Question
from labeling.conversations.published.faults import ChatFault
from labeling.domain.msgids import msgid

CATEGORIES: dict[str, dict[int, str]] = {
    "realtalk": {1: "multi-hop", 2: "temporal", 3: "commonsense"},
    "locomo": {
        1: "multi-hop",
        2: "temporal",
        3: "open-domain",
        4: "single-hop",
        5: "adversarial",
    },
}
"""What the numbers mean, by the data sets' own scoring."""


def read_questions(
    listed: Any, *, format: str, faults: list[ChatFault], where: str = "qa"
) -> tuple[Question, ...]:
    """Each question of a list, with its place; oddities are added to ``faults``."""
    rows = reading.a_list(listed, where)
    return tuple(
        _question(row, f"{where}[{number}]", format, faults) for number, row in enumerate(rows)
    )


def _question(value: Any, place: str, format: str, faults: list[ChatFault]) -> Question:
    row = reading.an_object(value, place)
    return Question(
        place=place,
        question=reading.text_of(row, "question", place),
        answer=_answer(row, place, faults),
        evidence=_evidence(row, place),
        category=_category(row, place, format),
        adversarial_answer=reading.text_of(row, "adversarial_answer", place, required=False),
    )


def _answer(row: Mapping[str, Any], place: str, faults: list[ChatFault]) -> str:
    value = row.get("answer", row.get("expected_answer"))
    if isinstance(value, int | float) and not isinstance(value, bool):
        faults.append(ChatFault("answer_number", place, str(value)))
        return str(value)
    text = reading.text_of({"answer": value}, "answer", place, required=False)
    if not text.strip():
        faults.append(ChatFault("no_answer", place, str(row.get("question", ""))))
    return text


def _evidence(row: Mapping[str, Any], place: str) -> tuple[str, ...]:
    value = row.get("evidence", row.get("evidence_dia_ids"))
    if isinstance(value, str):
        value = [value]
    elements = reading.a_list([] if value is None else value, f'{place}: "evidence"')
    return elements_of(elements, f'{place}: "evidence"')


def elements_of(elements: list[Any], place: str) -> tuple[str, ...]:
    for element in elements:
        if not isinstance(element, str):
            raise ChatRefused(msgid("{place} must hold texts"), place=place)
        reading.storable(element, place)
    return tuple(elements)


def _category(row: Mapping[str, Any], place: str, format: str) -> str:
    value = row.get("category")
    known = CATEGORIES[format]
    if type(value) is not int or value not in known:
        raise ChatRefused(
            msgid('{place}: "category" is {value}; known are {known}'),
            place=place,
            value=ascii(value),
            known=list(known),
        )
    return known[value]
