"""Taking a submission or a skip back, through the API, until something finished counts it."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from uuid import UUID

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from labeling.models import Annotation, AnnotationRevision, Assignment, Event, Round
from labeling.work import annotations, assignments, locking, rounds
from tests import factories
from tests.concurrency import closing

pytestmark = pytest.mark.django_db
PAGE = UUID(int=1)


@pytest.fixture
def full(project):
    """Full labeling of two conversations by ana, ben and cleo."""
    return factories.open_full(project, 2)


@pytest.fixture
def mine(full, ana):
    return full.assignments.filter(annotator=ana).first()


def reopen(client, mine):
    return client.post(f"/api/annotations/{mine.pk}/reopen/")


def kinds(mine):
    rows = AnnotationRevision.objects.filter(annotation__assignment=mine)
    return [row.kind for row in rows.order_by("version")]


def test_a_submission_taken_back_is_a_draft_with_the_same_labels(ana, mine, annotator):
    submitted = factories.answer(mine, [0, 2])

    response = reopen(annotator, mine)

    assert response.status_code == 200
    assert response.json()["status"] == "draft"
    assert response.json()["version"] == 2
    stored = Annotation.objects.get()
    assert (stored.payload, stored.submitted_at) == (submitted.payload, None)
    assert kinds(mine) == ["submitted", "reopened"]
    assert Event.objects.filter(verb="annotation.reopened", actor=ana).count() == 1


def test_what_is_not_submitted_stays_as_it_is(mine, annotator):
    assert reopen(annotator, mine).json()["version"] == 0
    assert not Annotation.objects.exists()
    factories.answer(mine)
    assert [reopen(annotator, mine).json()["version"] for _ in range(2)] == [2, 2]
    assert kinds(mine) == ["submitted", "reopened"]


def test_a_submission_that_arrives_after_the_reopening_does_not_submit_again(mine):
    save = factories.save_of(factories.labels([0]), client=PAGE)
    annotations.submit(mine, save)
    annotations.reopen(mine)

    with pytest.raises(annotations.StaleVersion):
        annotations.submit(mine, save)

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


def test_closing_full_labeling_locks_what_was_submitted(rita, full, mine, annotator):
    factories.answer(mine)
    rounds.close(full, by=rita)

    response = reopen(annotator, mine)

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


def test_the_database_itself_refuses_to_reopen_what_is_locked(mine):
    factories.answer(mine)
    Annotation.objects.update(locked_at=timezone.now())

    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        Annotation.objects.update(status="draft", submitted_at=None)


def test_returned_work_is_a_draft_again_and_says_what_has_to_change(signed_in, rita, mine):
    factories.answer(mine)

    annotations.send_back(mine, by=rita, reason=" Link message 2 as well. ")

    assert Annotation.objects.get().status == "draft"
    assert kinds(mine) == ["submitted", "returned"]
    assert AnnotationRevision.objects.get(kind="returned").author == rita
    assert Assignment.objects.get(pk=mine.pk).returned_reason == "Link message 2 as well."
    event = Event.objects.get(verb="annotation.returned")
    assert (event.actor, event.data["reason"]) == (rita, "Link message 2 as well.")


@pytest.mark.parametrize("nothing", [" ", "\xad\u200b"])
def test_returned_work_needs_a_reason(rita, mine, nothing):
    factories.answer(mine)

    with pytest.raises(annotations.ReasonMissing):
        annotations.send_back(mine, by=rita, reason=nothing)

    assert Annotation.objects.get().status == "submitted"


def test_submitting_returned_work_again_settles_the_return(rita, mine):
    factories.answer(mine)
    annotations.send_back(mine, by=rita, reason="Link message 2 as well.")

    factories.answer(mine)

    assert Assignment.objects.get(pk=mine.pk).returned_reason == ""

    annotations.reopen(mine)  # a slip: what had to change is to be read again

    assert Assignment.objects.get(pk=mine.pk).returned_reason == "Link message 2 as well."


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", range(4))
def test_reopening_while_the_last_answer_arrives_never_closes_over_a_draft(attempt):
    factories.make_people()
    opened = factories.open_calibration(factories.make_project(), 1)
    first, second, last = opened.assignments.select_related("annotator", "round__project")
    for mine in (first, second):
        factories.answer(mine)

    with ThreadPoolExecutor(2) as pool:
        reopening = pool.submit(closing, partial(annotations.reopen, first))
        answering = pool.submit(closing, partial(factories.answer, last))

    assert answering.exception() is None
    assert isinstance(reopening.exception(), locking.Locked | None)
    closed = Round.objects.get().state != Round.State.OPEN
    assert closed == (reopening.exception() is not None)
    statuses = set(Annotation.objects.values_list("status", flat=True))
    assert statuses == ({"submitted"} if closed else {"submitted", "draft"})


# --- a skip, as long as nobody else has got the conversation -----------------------------------


def skip(assignment: Assignment, sources: tuple[int, ...] = (0,)) -> Annotation:
    known = Annotation.objects.filter(assignment=assignment).first()
    version = known.version if known else 0
    save = factories.save_of(factories.labels(sources), base_version=version)
    return annotations.skip(assignment, save, reason="Not my language")


def test_a_skip_taken_back_is_a_draft_with_the_same_labels(ana, mine, annotator):
    skipped = skip(mine)

    response = reopen(annotator, mine)

    assert response.status_code == 200
    assert (response.json()["status"], response.json()["skip_reason"]) == ("draft", "")
    stored = Annotation.objects.get()
    assert stored.payload == skipped.payload
    assert kinds(mine) == ["skipped", "reopened"]
    verbs = Event.objects.filter(object_type="annotation").order_by("pk")
    assert list(verbs.values_list("verb", flat=True)) == [
        "annotation.skipped",
        "annotation.unskipped",
    ]
    assert assignments.next_for(ana) == mine
    assert reopen(annotator, mine).json()["version"] == 2  # again: nothing changes


def test_the_place_in_a_pool_is_taken_again(project, ana):
    round_ = factories.open_full(project, 1, pool=True, overlap=1)
    mine = assignments.take(ana)
    assert mine is not None
    skip(mine)

    assert annotations.reopen(mine).status == "draft"

    held = round_.assignments.get()
    assert (held.annotator, held.slot) == (ana, 0)
    assert held.lease_expires_at is not None
    assert factories.answer(mine).status == "submitted"


def test_a_skip_stands_when_others_have_taken_the_conversation_and_its_page_says_so(
    signed_in, project, ana, ben
):
    round_ = factories.open_full(project, 1, pool=True, overlap=1)
    mine = assignments.take(ana)
    assert mine is not None
    skip(mine)
    client, told = signed_in(ana), "Somebody else has got this conversation"
    assert 'id="reopen"' in client.get(mine.get_absolute_url()).content.decode()
    assignments.take(ben)

    response = reopen(client, mine)

    assert (response.status_code, response.json()["code"]) == (409, "locked")
    assert told in response.json()["message"]
    assert kinds(mine) == ["skipped"]
    assert round_.assignments.get(slot__isnull=False).annotator == ben
    page = client.get(mine.get_absolute_url()).content.decode()
    assert told in page
    assert 'id="reopen"' not in page


def test_a_skip_of_planned_work_that_was_handed_on_stands(project, ana):
    round_ = factories.open_full(project, 3, overlap=1)
    mine = round_.assignments.filter(annotator=ana)[0]
    skip(mine)

    with pytest.raises(locking.Locked, match="conversation_given_to_another"):
        annotations.reopen(mine)

    held = round_.assignments.filter(conversation=mine.conversation, slot__isnull=False)
    assert held.get().annotator != ana


def test_a_skip_in_a_closed_round_stands(project, ana, mine):
    skip(mine)
    rounds.close(mine.round, by=None)

    with pytest.raises(locking.Locked, match="round_closed"):
        annotations.reopen(mine)
    assert Annotation.objects.get().status == "skipped"


def test_a_skip_in_a_conversation_that_gold_holds_stands(project, ana):
    first, *others = factories.open_full(project, 1).assignments.all()
    skip(first)
    for other in others:
        factories.answer(other)
    factories.freeze(project)

    with pytest.raises(locking.Locked, match="in_gold"):
        annotations.reopen(first)
    assert kinds(first) == ["skipped"]


def test_the_reply_to_a_skip_says_whether_it_can_be_taken_back(signed_in, project, ana):
    round_ = factories.open_full(project, 3, overlap=1)
    handed_on = round_.assignments.filter(annotator=ana)[0]
    left = factories.open_full(project, 1).assignments.get(annotator=ana)
    body = {"base_version": 0, "client": "9" * 32, "seq": 1, "payload": {}, "reason": "Too long"}

    replies = [
        signed_in(ana).post(
            f"/api/annotations/{one.pk}/skip/", body, content_type="application/json"
        )
        for one in (handed_on, left)
    ]

    assert [reply.json()["can_reopen"] for reply in replies] == [False, True]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", range(4))
def test_one_place_is_never_given_twice_while_a_skip_is_taken_back(attempt):
    people = factories.make_people()
    factories.open_full(factories.make_project(), 1, pool=True, overlap=1)
    mine = assignments.take(people["ana"])
    assert mine is not None
    skip(mine)

    with ThreadPoolExecutor(2) as pool:
        taking_back = pool.submit(closing, partial(annotations.reopen, mine))
        taking = pool.submit(closing, partial(assignments.take, people["ben"]))

    assert isinstance(taking_back.exception(), locking.Locked | None)
    is_mine = taking_back.exception() is None
    assert (taking.result() is None) == is_mine
    holder = Assignment.objects.get(slot__isnull=False).annotator
    assert holder == people["ana" if is_mine else "ben"]
    assert Annotation.objects.get().status == ("draft" if is_mine else "skipped")
