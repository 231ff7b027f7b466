"""Two who do something at the same moment: nobody waits in a ring, and nothing is done twice.

One of them rests a little where the other could come between. PostgreSQL lets it; SQLite does not.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from functools import partial
from io import BytesIO
from threading import Barrier, BrokenBarrierError
from threading import Event as Signal
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from labeling.core import members, transactions
from labeling.exchange import label_imports, label_rounds
from labeling.gold import gold
from labeling.models import (
    Annotation,
    Assignment,
    Conversation,
    Event,
    Membership,
    Qualification,
)
from labeling.screening import check_scores, check_turns, tries
from labeling.settling import merges
from labeling.work import annotations, assignments, handovers
from tests import factories
from tests.concurrency import Pause, both, closing

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def save(seq: int) -> annotations.Save:
    """Saves of one page."""
    return factories.save_of(factories.labels([0]), client=UUID(int=1), seq=seq)


def test_an_autosave_and_a_submission_of_one_page_both_arrive(project, ana, monkeypatch):
    mine = factories.open_full(project, 1).assignments.get(annotator=ana)
    annotations.save_draft(mine, save(1))
    pause = Pause(monkeypatch, assignments, "hold")

    autosave, submission = both(
        lambda: annotations.save_draft(mine, save(2)),
        pause,
        lambda: annotations.submit(mine, save(3)),
    )

    assert autosave.result().status == "draft"
    assert submission.result().status == "submitted"


@pytest.mark.parametrize(
    ("store", "status"), [(annotations.save_draft, "draft"), (annotations.submit, "submitted")]
)
def test_a_skip_and_what_another_page_stores_wait_for_each_other(
    project, ana, monkeypatch, store, status
):
    mine = factories.open_full(project, 1).assignments.get(annotator=ana)
    annotations.save_draft(mine, save(1))
    pause = Pause(monkeypatch, assignments, "lock_place")

    skipped, stored = both(
        lambda: annotations.skip(mine, save(2), reason="Not a chat"),
        pause,
        lambda: store(mine, save(3)),
    )

    assert skipped.result().status == "skipped"
    assert stored.result().status == status


def test_a_place_that_is_just_answered_is_not_given_back(project, ana, monkeypatch):
    factories.open_full(project, 1, pool=True, overlap=1)
    mine = assignments.take(ana)
    pause = Pause(monkeypatch, annotations, "_finish")

    _, given_back = both(lambda: factories.answer(mine), pause, lambda: assignments.give_back(mine))

    assert given_back.result() is False
    assert Assignment.objects.get().slot == 0


def test_a_place_that_is_just_reserved_again_goes_to_nobody_else(project, ana, ben, monkeypatch):
    factories.open_full(project, 1, pool=True, overlap=1)
    mine = assignments.take(ana)
    an_hour_ago = timezone.now() - timedelta(hours=1)
    Assignment.objects.update(lease_expires_at=an_hour_ago)
    pause = Pause(monkeypatch, assignments, "hold")

    _, taken = both(
        lambda: annotations.save_draft(mine, save(1)), pause, lambda: assignments.take(ben)
    )

    assert taken.result() is None


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
def test_who_hands_work_on_and_who_saves_it_wait_in_no_ring(project, ana, ben, monkeypatch):
    monkeypatch.setattr(transactions, "TIMES", 1)
    factories.open_full(project, 1, pool=True, overlap=1)
    mine = assignments.take(ana)
    pause = Pause(monkeypatch, assignments, "release")

    moved, draft = both(
        lambda: handovers.hand_on(project=project, person=ana, by=ben, to=ben),
        pause,
        lambda: annotations.save_draft(mine, save(1)),
    )

    assert moved.result() == ({"ben": 1}, 0, 0)
    assert draft.result().status == "draft"  # its place is gone, it is kept


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
def test_who_takes_a_place_back_and_who_submits_wait_in_no_ring(project, ana, ben, monkeypatch):
    monkeypatch.setattr(transactions, "TIMES", 1)
    factories.open_full(project, 1, pool=True, overlap=2)
    mine, bens = assignments.take(ana), assignments.take(ben)
    assignments.release([mine])  # her open work was moved
    pause = Pause(monkeypatch, assignments, "take_free_place")

    draft, answer = both(
        lambda: annotations.save_draft(mine, save(1)),
        pause,
        lambda: factories.answer(bens),
    )

    assert draft.result().status == "draft"
    answer.result()
    assert Annotation.objects.get(assignment=bens).status == "submitted"


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
def test_a_transaction_that_was_ended_for_another_is_carried_out_again(project, people):
    met = Barrier(2)

    @transactions.atomic
    def rename(first: str, second: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL deadlock_timeout = '20ms'")
        User.objects.filter(username=first).update(last_name=second)
        with suppress(BrokenBarrierError):  # nobody else comes the second time
            met.wait(1)
        User.objects.filter(username=second).update(first_name=first)

    with ThreadPoolExecutor(2) as threads:
        done = [
            threads.submit(closing, partial(rename, *names))
            for names in (("ana", "ben"), ("ben", "ana"))
        ]

    assert [each.result() for each in done] == [None, None]
    names = User.objects.filter(username__in=["ana", "ben"]).order_by("username")
    assert list(names.values_list("first_name", "last_name")) == [("ben", "ben"), ("ana", "ana")]


@pytest.fixture
def once_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The database ends the first transaction that changes a member."""
    follow, ended = members.follow, iter([OperationalError("deadlock detected")])
    monkeypatch.setattr(transactions, "was_ended", lambda error: True)

    def follow_once_ended(*args: Any, **kwargs: Any) -> Any:
        if error := next(ended, None):
            raise error
        return follow(*args, **kwargs)

    monkeypatch.setattr(members, "follow", follow_once_ended)


def test_a_role_that_is_taken_again_after_an_ended_transaction_is_taken_once(
    project, rita, once_ended
):
    membership = project.memberships.get(user__username="ana")
    members.remove_member(membership=membership, by=rita)

    assert not Membership.objects.filter(pk=membership.pk).exists()
    assert Event.objects.filter(verb="member.removed").count() == 1


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
def test_answers_come_in_during_a_freeze(project, rita, monkeypatch):
    last, *others = factories.open_full(project, 1).assignments.order_by("-pk")
    for one in others:
        factories.answer(one)
    freezing, answered = Signal(), Signal()
    outcomes = merges.outcomes_of_project

    def outcomes_later(*args: Any, **kwargs: Any) -> Any:
        freezing.set()
        assert answered.wait(60)
        return outcomes(*args, **kwargs)

    monkeypatch.setattr(merges, "outcomes_of_project", outcomes_later)
    frozen_by = {"layer": "extraction", "ruler": factories.ruler(), "by": rita}

    with ThreadPoolExecutor(1) as threads:
        frozen = threads.submit(closing, lambda: gold.freeze(project=project, **frozen_by))
        assert freezing.wait(60)
        factories.answer(last)
        answered.set()

    with pytest.raises(gold.NothingToFreeze):  # it is of the moment in which it began
        frozen.result()
    monkeypatch.undo()
    assert gold.freeze(project=project, **frozen_by).items.count() == 1


def test_a_finished_test_is_not_begun_again_by_a_page_that_saw_it_open(project, rita, monkeypatch):
    factories.make_release(project, items=1)
    check_turns.set_plan(project, by=rita, test=True, pass_at=0.9)
    dan = User.objects.create_user("dan")
    Membership.objects.create(project=project, user=dan, role="annotator")
    tries.begin(project, dan)
    part = tries.parts_of(dan, project).get()
    annotations.submit(part, factories.save_of(factories.labels([0])))
    pause = Pause(monkeypatch, check_turns, "plan_of")

    begun, scored = both(
        lambda: tries.begin(project, dan),
        pause,
        lambda: check_scores.score(part.pk, ruler=factories.ruler()),
    )

    assert (begun.exception(), scored.exception()) == (None, None)
    assert Qualification.objects.get().state == "passed"


def test_two_workers_tell_of_a_merge_once(project, monkeypatch):
    factories.answer_all(factories.open_full(project, 1))
    pause = Pause(monkeypatch, merges.Merge.objects, "bulk_create")

    def merge() -> None:
        merges.merge(project, ruler=factories.ruler)

    first, second = both(merge, pause, merge)

    assert (first.exception(), second.exception()) == (None, None)
    assert Event.objects.filter(verb="conversation.answered").count() == 1


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
def test_a_worker_that_merges_waits_for_an_import_of_labels_in_no_ring(project, monkeypatch):
    """The file names first what the worker locks last, in another batch than the rest."""
    low, high = factories.make_conversations(project, 2)
    lines = [
        json.dumps({"id": talk.external_id, "answers": [{"annotator": "ana", "empty": True}]})
        for talk in (high, low)
    ]
    monkeypatch.setattr(label_imports, "BATCH", 1)
    pause = Pause(monkeypatch, label_rounds, "_annotation")

    def merge() -> None:
        with transaction.atomic():
            for talk in (low, high):
                list(Conversation.objects.select_for_update(no_key=True).filter(pk=talk.pk))

    imported, merged = both(
        lambda: label_imports.import_labels(
            project=project,
            files=[("labels.jsonl", BytesIO("\n".join(lines).encode()))],
            format="native",
            reason="Made in the pilot.",
        ),
        pause,
        merge,
    )

    assert imported.result().new == 2
    assert merged.result() is None
