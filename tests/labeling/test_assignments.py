"""The queue, the pool and the overlap, also with eight people at once."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from datetime import timedelta

import pytest
from django.db import DEFAULT_DB_ALIAS, IntegrityError, connection, connections, transaction
from django.utils import timezone

from labeling.core import clock
from labeling.models import Annotation, Assignment
from labeling.work import annotations, assignments
from tests import factories

pytestmark = pytest.mark.postgres


def test_planned_work_comes_in_order_and_begun_work_stays_first(project, ana):
    round_ = factories.open_calibration(project, 3)
    mine = list(round_.assignments.filter(annotator=ana).order_by("position"))

    assert assignments.next_for(ana) == mine[0]
    factories.answer(mine[0])
    assert assignments.next_for(ana) == mine[1]
    assert assignments.next_for(ana, after=mine[1]) == mine[2]


def test_the_next_conversation_is_of_the_same_round_while_it_has_work(project, ana, signed_in):
    factories.open_full(project, 2)
    second = factories.open_full(project, 2)
    first_here, last_here = second.assignments.filter(annotator=ana).order_by("position")
    client = signed_in(ana)

    factories.answer(first_here)
    response = client.post(f"/label/next/?after={first_here.pk}")
    assert response.url == last_here.get_absolute_url()

    factories.answer(last_here)
    response = client.post(f"/label/next/?after={last_here.pk}")
    assert Assignment.objects.get(pk=response.url.split("/")[2]).round_id != second.pk


def test_a_submission_leads_to_no_other_project(project, ana, signed_in):
    (last,) = factories.open_calibration(project, 1).assignments.filter(annotator=ana)
    factories.open_full(factories.make_project("other"), 2)
    factories.open_full(factories.make_project("pool"), 1, pool=True, overlap=1)
    client = signed_in(ana)
    factories.answer(last)

    response = client.post(f"/label/next/?after={last.pk}", follow=True)

    assert "You have finished what you were given in Orders." in response.content.decode()
    elsewhere = client.post("/label/next/")
    assert Assignment.objects.get(pk=elsewhere.url.split("/")[2]).round.project.slug == "other"


def test_the_queue_shows_open_rounds_before_ended_ones(project, ana):
    ended = factories.open_calibration(project, 2)
    factories.answer_all(ended)
    factories.open_full(project, 2)

    states = [one.round.state for one in assignments.queue(ana)]

    assert states == ["open", "open", "passed", "passed"]


def test_the_database_refuses_a_place_twice(project, ana, ben):
    round_ = factories.open_full(project, 1, pool=True, overlap=1)
    first = assignments.take(ana)

    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(
            round=round_, conversation=first.conversation, annotator=ben, slot=first.slot
        )


def test_an_expired_lease_goes_to_somebody_else_and_the_draft_is_kept(project, ana, ben):
    factories.open_full(project, 1, pool=True, overlap=1)
    mine = assignments.take(ana)
    annotations.save_draft(mine, factories.save_of(factories.labels([0])))
    expire(mine)

    theirs = assignments.take(ben)
    factories.answer(theirs)

    mine.refresh_from_db()
    draft = annotations.save_draft(mine, factories.save_of(factories.labels([1]), base_version=1))
    assert draft.version == 2
    with pytest.raises(assignments.PlaceTaken):
        annotations.submit(mine, factories.save_of(factories.labels([1]), base_version=2))
    assert Annotation.objects.filter(status="submitted").count() == 1


def test_a_place_is_kept_by_the_databases_clock_and_never_for_longer_than_one_taken_now(
    project, ana, ben, settings, monkeypatch
):
    settings.ASSIGNMENT_LEASE_MINUTES = 30
    factories.open_full(project, 1, pool=True, overlap=1)
    right = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: right() + timedelta(hours=2))
    monkeypatch.setattr(connection, "clock_offset", timedelta(hours=-2), raising=False)

    mine = assignments.take(ana)
    mine.refresh_from_db()

    assert mine.lease_expires_at is not None
    assert timedelta(minutes=29) < mine.lease_expires_at - right() <= timedelta(minutes=31)
    Assignment.objects.filter(pk=mine.pk).update(lease_expires_at=right() + timedelta(hours=9))
    assert (assignments.cap_leases(), assignments.cap_leases()) == (1, 0)
    mine.refresh_from_db()
    assert mine.lease_expires_at <= right() + timedelta(minutes=31)


@pytest.mark.django_db
@pytest.mark.postgres
def test_each_connection_measures_how_far_the_database_s_clock_is(monkeypatch):
    right, ahead = timezone.now, timedelta(hours=2)
    monkeypatch.setattr(timezone, "now", lambda: right() + ahead)
    monkeypatch.setattr(connection, "clock_offset", timedelta(), raising=False)

    clock.measure(connections[DEFAULT_DB_ALIAS])

    is_elsewhere = connection.vendor == "postgresql"  # SQLite has the clock of this process
    assert abs(clock.now() - right() - (timedelta() if is_elsewhere else ahead)) < timedelta(
        seconds=5
    )


def test_work_on_an_expired_lease_takes_its_place_again_if_it_is_free(project, ana):
    factories.open_full(project, 1, pool=True, overlap=1)
    mine = assignments.take(ana)
    expire(mine)
    assignments.give_back_expired(mine.round)
    mine.refresh_from_db()
    assert mine.slot is None

    factories.answer(mine)

    mine.refresh_from_db()
    assert mine.slot == 0


def expire(assignment: Assignment) -> None:
    past = timezone.now() - timedelta(minutes=1)
    Assignment.objects.filter(pk=assignment.pk).update(lease_expires_at=past)


def test_lists_go_on_behind_the_last_row_and_take_a_limit(project, annotator):
    factories.open_full(project, 5)
    address, seen = "/api/queue/?limit=2", []
    while address is not None:
        shown = annotator.get(address).json()
        assert len(shown["results"]) <= 2
        seen += [row["id"] for row in shown["results"]]
        address = shown["next"]

    assert seen == [row["id"] for row in annotator.get("/api/queue/").json()["results"]]
    assert len(set(seen)) == 5
    unsigned = urlsafe_b64encode(b'["a", 1, 1, 1, 1]').decode()
    for wrong in ("limit=0", "limit=501", "cursor=x", f"cursor={unsigned}", "cursor=%00"):
        assert annotator.get(f"/api/queue/?{wrong}").status_code == 400, wrong
