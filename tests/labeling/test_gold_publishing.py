"""A release is of one moment, and appears at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction

from labeling.agreement.matching import consensus
from labeling.agreement.matching.agreed import AgreedLabel
from labeling.core import acting
from labeling.gold import releases
from labeling.gold.verification import verify
from labeling.models import (
    Annotation,
    GoldItem,
    GoldRelease,
    Merge,
    Project,
)
from labeling.settling import adjudications, merges
from labeling.work import locking
from tests import factories


@pytest.fixture
def answered(transactional_db: None, project: Project) -> Project:
    factories.answer_all(factories.open_full(project, 3))
    return project


@pytest.mark.postgres
def test_what_is_decided_while_a_release_is_made_is_in_the_next_one(answered, rita, monkeypatch):
    """Nobody waits for the freeze, and its items are of the moment at which it began."""
    last = answered.conversations.order_by("external_id").last()
    draft = releases.draft

    def decide() -> None:
        with transaction.atomic():
            adjudications.decide(
                conversation=last,
                layer="extraction",
                payload=factories.labels([1]),
                reason="Message 1 says it",
                by=rita,
            )
        connection.close()

    def decide_first(*args: Any, **options: Any) -> releases.Draft:
        monkeypatch.setattr(releases, "draft", draft)
        with ThreadPoolExecutor(1) as elsewhere:
            elsewhere.submit(decide).result()
        return draft(*args, **options)

    monkeypatch.setattr(releases, "draft", decide_first)
    with acting.acting(""):  # the account of the command line is made before
        before, after = factories.freeze(answered), factories.freeze(answered)

    hows = [release.items.get(conversation=last).how for release in (before, after)]
    assert hows == ["unanimous", "adjudicated"]
    assert verify(before) == verify(after) == []


def test_what_fails_while_rows_are_inserted_leaves_nothing(answered, monkeypatch):
    lock = locking.lock
    monkeypatch.setattr(locking, "lock", lambda answers: lock(answers) and 1 // 0)

    with pytest.raises(ZeroDivisionError):
        factories.freeze(answered)

    assert not GoldItem.objects.exists()
    assert not GoldRelease.objects.exists()
    assert not Annotation.objects.exclude(locked_at=None).exists()


def test_who_freezes_something_else_under_the_name_meanwhile_is_not_overwritten(
    answered, monkeypatch
):
    store = releases.Draft.store

    def store_second(draft: releases.Draft, *new: Any) -> GoldRelease:
        monkeypatch.setattr(releases.Draft, "store", store)
        draft.store(*new)
        return draft.store(*new)

    monkeypatch.setattr(releases.Draft, "store", store_second)

    with pytest.raises(releases.AnswersChanged):
        factories.freeze(answered)

    assert not GoldRelease.objects.exists()


# --- another rule ------------------------------------------------------------------------------


PRIORITIES = {
    "c-001": ("must", "must", "must"),
    "c-002": ("must", "should", "must"),
    "c-003": ("must", "should", "could"),
    "c-004": ("must", "should", "could"),
}


@pytest.fixture
def by_the_rule_before(project, monkeypatch):
    """A release by the rule before: the chosen holder's label, and everybody counts as for it."""
    opened = factories.open_full(project, len(PRIORITIES))
    for assignment in opened.assignments.select_related("annotator", "conversation"):
        at = ["ana", "ben", "cleo"].index(assignment.annotator.username)
        priority = PRIORITIES[assignment.conversation.external_id][at]
        label = factories.requirement(priority=priority)
        factories.answer_with(assignment, {"requirements": [label]})
    with monkeypatch.context() as before:
        before.setattr(merges, "VERSION", 1)
        before.setattr(
            consensus,
            "agreed_label",
            lambda layer, holders, chosen, rules: AgreedLabel(dict(holders[chosen]), {}, []),
        )
        release = factories.freeze(project)
    assert {item.how for item in release.items.all()} == {"unanimous"}
    return release


def test_merges_of_the_older_rule_are_made_again_and_the_release_stays_as_it_is(by_the_rule_before):
    project, before = (
        by_the_rule_before.project,
        [item.sha256 for item in by_the_rule_before.items.all()],
    )
    assert merges.due(project, "extraction")  # until then they are not shown

    second = factories.freeze(project)

    states = Merge.objects.order_by("conversation__external_id").values_list("state", flat=True)
    assert list(states) == ["unanimous", "majority", "disputed", "disputed"]
    assert verify(by_the_rule_before) == verify(second) == []
    assert [item.sha256 for item in by_the_rule_before.items.all()] == before
