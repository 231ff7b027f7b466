"""Which version a release gets by what it means, before and when it is frozen."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import CommandError, call_command

from labeling.agreement.matching.similarity import Ruler
from labeling.gold import gold
from labeling.models import Conversation, GoldRelease, Guideline, Project
from labeling.settling import adjudications
from tests import factories
from tests.fakes import WordOverlap

RULER = Ruler(WordOverlap())


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


def test_the_first_release_of_a_name_is_1_0_0(first: GoldRelease) -> None:
    assert first.meaning == "1.0.0"
    assert gold.find("orders@1.0.0") == gold.find("orders@1") == first


def test_a_corrected_label_raises_the_last_number(first: GoldRelease, rita: Any) -> None:
    correct_a_label(first, rita)

    assert factories.freeze(first.project).meaning == "1.0.1"


def test_new_items_raise_the_middle_number(first: GoldRelease, rita: Any) -> None:
    correct_a_label(first, rita)
    factories.answer_all(factories.open_full(first.project, 1))

    assert factories.freeze(first.project).meaning == "1.1.0"


def test_another_split_raises_the_middle_number(first: GoldRelease) -> None:
    Conversation.objects.filter(gold_items__position=0).update(split="test")

    assert factories.freeze(first.project).meaning == "1.1.0"


def test_other_words_in_the_guidelines_raise_the_first_number(first: GoldRelease) -> None:
    factories.answer_all(factories.open_full(first.project, 1))
    Guideline.objects.create(project=first.project, version=2, body="Label less.")

    assert factories.freeze(first.project, waive={"superseded": "Fine."}).meaning == "2.0.0"


def test_other_white_space_in_the_guidelines_means_nothing(first: GoldRelease) -> None:
    factories.answer_all(factories.open_full(first.project, 1))
    body = "  " + first.project.guidelines.get().body.replace(" ", "\n") + "\n"
    Guideline.objects.create(project=first.project, version=2, body=body)

    assert factories.freeze(first.project, waive={"superseded": "Fine."}).meaning == "1.1.0"


def test_a_version_that_is_not_there_is_named(first: GoldRelease) -> None:
    with pytest.raises(CommandError, match=r"no gold release orders@9\.0\.0"):
        call_command("verify", release="orders@9.0.0")
