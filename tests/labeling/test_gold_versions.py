"""Which version a release gets by what it means, before and when it is frozen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labeling.gold import gold
from labeling.models import Conversation, GoldRelease, Guideline, Project
from labeling.settling import adjudications
from tests import factories


@pytest.fixture
def first(project: Project) -> GoldRelease:
    return factories.make_release(project, items=2)


def correct_a_label(release: GoldRelease, by: Any) -> None:
    adjudications.decide(
        conversation=release.items.all()[0].conversation,
        layer="extraction",
        payload=factories.labels([1]),
        reason="Message 1 says it",
        by=by,
    )


def test_the_first_release_of_a_name_is_1_0_0(first):
    assert first.meaning == "1.0.0"
    assert gold.find("orders@1.0.0") == gold.find("orders@1") == first


def more(release: GoldRelease, by: Any) -> None:
    factories.answer_all(factories.open_full(release.project, 1))


def another_split(release: GoldRelease, by: Any) -> None:
    Conversation.objects.filter(gold_items__position=0).update(split="test")


def guidelines(body: str) -> Callable[[GoldRelease, Any], None]:
    def write(release: GoldRelease, by: Any) -> None:
        more(release, by)
        Guideline.objects.create(project=release.project, version=2, body=body)

    return write


@pytest.mark.parametrize(
    ("change", "meaning"),
    [
        (correct_a_label, "1.0.1"),
        (more, "1.1.0"),
        (another_split, "1.1.0"),
        (guidelines("Label less."), "2.0.0"),
        (guidelines("  # Guide\nLabel what  they want. \n"), "1.1.0"),  # white space means nothing
    ],
)
def test_what_differs_says_which_number_is_raised(first, rita, change, meaning):
    change(first, rita)

    assert factories.freeze(first.project, waive={"superseded": "Fine."}).meaning == meaning
