"""What a writer is told about the wording of a label, and what is passed over as right."""

from __future__ import annotations

import pytest

from labeling.schema.hints import KINDS
from pipelines.requirements.labels import Requirement
from pipelines.requirements.validation import guide

RIGHT: Requirement = {
    "uid": "a",
    "title": "Order Tracking",
    "actor": "Customer",
    "action": "Track an order on the map",
    "acceptance_criteria": ["The courier's place is shown within 5 seconds", "It moves"],
    "rationale": "Asked for in message 2",
    "confidence": 0.6,
}


def kinds(label: Requirement, *others: Requirement) -> set[tuple[str, str]]:
    return {(note.field, note.kind) for note in guide.notes([*others, label]) if note.label == "a"}


@pytest.mark.parametrize(
    ("field", "value", "kind"),
    [
        ("title", "Users", "noun_phrase"),
        ("title", "Send a reminder", "noun_phrase"),
        ("title", "The order must be shown", "noun_phrase"),
        ("actor", "User and Admin and System", "one_actor"),
        ("actor", "somebody", "one_actor"),
        ("action", "Users should see the order", "modal"),
        ("action", "Handle complaints", "vague"),
        ("action", "Offer parking at a good price", "vague"),
        ("action", "Create the job and send invoices", "two_actions"),
        ("acceptance_criteria", ["Email is sent quickly", "It is kept"], "untestable"),
        ("acceptance_criteria", ["It is kept", "It is kept."], "repeated"),
        ("rationale", " ", "unsure"),
    ],
)
def test_each_rule_of_the_guide_has_its_note(field: str, value: object, kind: str) -> None:
    label: Requirement = {**RIGHT, field: value}  # type: ignore[misc]

    assert kinds(RIGHT) == set()
    place = "confidence" if kind == "unsure" else field
    assert kinds(label) == {(place, kind)}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", "Export options"),
        ("title", "Change Log"),
        ("title", "Recommendations From Friends"),
        ("title", "Wartelistenangebot"),
        ("title", "注文の追跡"),
        ("actor", "Food and Beverage Manager"),
        ("action", "Show the list and map"),
        ("action", "See how many miles the trail is"),
        ("action", "Ask who could not come"),
        ("action", "Send the text without the driver pressing anything"),
        ("acceptance_criteria", ["Reviews rate the taste as good", "It has a menu"]),
        ("acceptance_criteria", ["A fast search ends within 2 seconds", "Shows a list"]),
    ],
)
def test_what_may_be_right_has_no_note(field: str, value: object) -> None:
    assert kinds({**RIGHT, field: value}) == set()  # type: ignore[misc]


def test_a_title_and_a_criterion_of_another_label_are_noted_once() -> None:
    other: Requirement = {**RIGHT, "uid": "b", "acceptance_criteria": ["It moves!"]}

    assert kinds(RIGHT, other) == {("title", "repeated"), ("acceptance_criteria", "repeated")}
    assert {note.label for note in guide.notes([other, RIGHT])} == {"a"}


def test_a_half_written_label_is_read_without_an_error() -> None:
    assert guide.notes([{"uid": "a"}, {"uid": "b", "title": "", "condition": None}]) == []


def test_a_project_can_switch_every_kind() -> None:
    assert tuple(KINDS) == guide.KINDS
