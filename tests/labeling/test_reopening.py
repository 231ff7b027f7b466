"""Taking a submission back, through the API, until something finished counts it."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from uuid import UUID

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from labeling.models import Annotation, AnnotationRevision, Assignment, Event, Round
from labeling.work import annotations, locking, rounds
from tests import factories
from tests.concurrency import closing

pytestmark = pytest.mark.django_db
PAGE = UUID(int=1)


@pytest.fixture
def full(project):
    """Full labeling of two conversations by ana, ben and cleo."""
    return factories.open_full(project, 2)


@pytest.fixture
def assignment(full, ana):
    return full.assignments.filter(annotator=ana).first()


def reopen(client, assignment):
    return client.post(f"/api/annotations/{assignment.pk}/reopen/")


def kinds(assignment):
    rows = AnnotationRevision.objects.filter(annotation__assignment=assignment)
    return [row.kind for row in rows.order_by("version")]


def test_a_submission_taken_back_is_a_draft_with_the_same_labels(signed_in, ana, assignment):
    submitted = factories.answer(assignment, [0, 2])

    response = reopen(signed_in(ana), assignment)

    assert response.status_code == 200
    assert response.json()["status"] == "draft"
    assert response.json()["version"] == 2
    stored = Annotation.objects.get()
    assert (stored.payload, stored.submitted_at) == (submitted.payload, None)
    assert kinds(assignment) == ["submitted", "reopened"]
    assert Event.objects.filter(verb="annotation.reopened", actor=ana).count() == 1


def test_what_is_not_submitted_stays_as_it_is(signed_in, ana, assignment):
    client = signed_in(ana)
    assert reopen(client, assignment).json()["version"] == 0
    assert not Annotation.objects.exists()
    factories.answer(assignment)
    assert [reopen(client, assignment).json()["version"] for _ in range(2)] == [2, 2]
    assert kinds(assignment) == ["submitted", "reopened"]


def test_a_submission_that_arrives_after_the_reopening_does_not_submit_again(assignment):
    save = factories.save_of(factories.labels([0]), client=PAGE)
    annotations.submit(assignment, save)
    annotations.reopen(assignment)

    with pytest.raises(annotations.StaleVersion):
        annotations.submit(assignment, save)

    assert Annotation.objects.get().status == "draft"


@pytest.mark.parametrize("done", [factories.answer, factories.skip])
def test_a_calibration_with_a_reopened_answer_waits_for_it(project, ana, done):
    opened = factories.open_calibration(project, 1)
    first, *others = opened.assignments.all()
    done(first)
    annotations.reopen(first)
    for other in others:
        factories.answer(other)
    assert Round.objects.get().state == Round.State.OPEN

    factories.answer(first)

    assert Round.objects.get().state == Round.State.PASSED


def test_the_last_answer_of_a_calibration_locks_all_of_them(signed_in, ana, project):
    opened = factories.open_calibration(project, 1)
    factories.answer_all(opened)
    mine = opened.assignments.get(annotator=ana)

    response = reopen(signed_in(ana), mine)

    assert response.status_code == 409
    assert response.json()["code"] == "locked"
    assert "closed with its last answer" in response.json()["message"]
    assert not Annotation.objects.filter(locked_at=None).exists()
    assert kinds(mine) == ["submitted"]


def test_closing_full_labeling_locks_what_was_submitted(signed_in, ana, rita, full, assignment):
    factories.answer(assignment)
    rounds.close(full, by=rita)

    response = reopen(signed_in(ana), assignment)

    assert response.json()["code"] == "locked"
    assert "was closed" in response.json()["message"]
    assert Annotation.objects.get().locked_at is not None


def test_gold_locks_the_answers_it_holds_and_no_others(signed_in, ana, project, full):
    settled, open_ = full.conversations.order_by("pk")
    for one in full.assignments.filter(conversation=settled):
        factories.answer(one)
    unsettled = full.assignments.get(annotator=ana, conversation=open_)
    factories.answer(unsettled)
    factories.freeze(project)

    held = reopen(signed_in(ana), full.assignments.get(annotator=ana, conversation=settled))
    free = reopen(signed_in(ana), unsettled)

    assert (held.status_code, held.json()["code"]) == (409, "locked")
    assert "gold release holds this answer" in held.json()["message"]
    assert free.json()["status"] == "draft"


def test_the_database_itself_refuses_to_reopen_what_is_locked(assignment):
    factories.answer(assignment)
    Annotation.objects.update(locked_at=timezone.now())

    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        Annotation.objects.update(status="draft", submitted_at=None)


def test_returned_work_is_a_draft_again_and_says_what_has_to_change(signed_in, rita, assignment):
    factories.answer(assignment)

    annotations.send_back(assignment, by=rita, reason=" Link message 2 as well. ")

    assert Annotation.objects.get().status == "draft"
    assert kinds(assignment) == ["submitted", "returned"]
    assert AnnotationRevision.objects.get(kind="returned").author == rita
    assert Assignment.objects.get(pk=assignment.pk).returned_reason == "Link message 2 as well."
    event = Event.objects.get(verb="annotation.returned")
    assert (event.actor, event.data["reason"]) == (rita, "Link message 2 as well.")


@pytest.mark.parametrize("nothing", [" ", "\xad\u200b"])
def test_returned_work_needs_a_reason(rita, assignment, nothing):
    factories.answer(assignment)

    with pytest.raises(annotations.ReasonMissing):
        annotations.send_back(assignment, by=rita, reason=nothing)

    assert Annotation.objects.get().status == "submitted"


def test_submitting_returned_work_again_settles_the_return(rita, assignment):
    factories.answer(assignment)
    annotations.send_back(assignment, by=rita, reason="Link message 2 as well.")

    factories.answer(assignment)

    assert Assignment.objects.get(pk=assignment.pk).returned_reason == ""

    annotations.reopen(assignment)  # a slip: what had to change is to be read again

    assert Assignment.objects.get(pk=assignment.pk).returned_reason == "Link message 2 as well."


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", range(4))
def test_reopening_while_the_last_answer_arrives_never_closes_over_a_draft(attempt):
    factories.make_people()
    opened = factories.open_calibration(factories.make_project(), 1)
    first, second, last = opened.assignments.select_related("annotator", "round__project")
    for assignment in (first, second):
        factories.answer(assignment)

    with ThreadPoolExecutor(2) as pool:
        reopening = pool.submit(closing, partial(annotations.reopen, first))
        answering = pool.submit(closing, partial(factories.answer, last))

    assert answering.exception() is None
    assert isinstance(reopening.exception(), locking.Locked | None)
    closed = Round.objects.get().state != Round.State.OPEN
    assert closed == (reopening.exception() is not None)
    statuses = set(Annotation.objects.values_list("status", flat=True))
    assert statuses == ({"submitted"} if closed else {"submitted", "draft"})
