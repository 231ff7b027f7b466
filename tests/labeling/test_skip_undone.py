"""Taking a skip back, through the API, as long as nobody else has got the conversation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from labeling.models import Annotation, AnnotationRevision, Assignment, Event, Project
from labeling.work import annotations, assignments, locking, rounds
from tests import factories
from tests.concurrency import closing

pytestmark = pytest.mark.django_db


def skip(assignment: Assignment, sources: tuple[int, ...] = (0,)) -> Annotation:
    known = Annotation.objects.filter(assignment=assignment).first()
    version = known.version if known else 0
    save = factories.save_of(factories.labels(sources), base_version=version)
    return annotations.skip(assignment, save, reason="Not my language")


def reopen(client: Client, assignment: Assignment) -> Any:
    return client.post(f"/api/annotations/{assignment.pk}/reopen/")


def kinds(assignment: Assignment) -> list[str]:
    rows = AnnotationRevision.objects.filter(annotation__assignment=assignment)
    return [row.kind for row in rows.order_by("version")]


@pytest.fixture
def mine(project: Project, ana: User) -> Assignment:
    """Of full labeling by ana, ben and cleo, who all have it: nobody is left to get a skip."""
    return factories.open_full(project, 2).assignments.filter(annotator=ana)[0]


def test_a_skip_taken_back_is_a_draft_with_the_same_labels(signed_in, ana, mine):
    skipped = skip(mine)

    response = reopen(signed_in(ana), mine)

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
    assert reopen(signed_in(ana), mine).json()["version"] == 2  # again: nothing changes


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
