"""Saving, submitting and skipping, through the API, as an annotator's page does it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.test import Client

from labeling.models import Annotation, AnnotationRevision, Assignment, Event, Project
from labeling.work import annotations, rounds
from tests import factories

pytestmark = pytest.mark.postgres

PAGE = UUID(int=1)
OTHER_PAGE = UUID(int=2)


@pytest.fixture
def assignment(project: Project, ana: User) -> Assignment:
    factories.open_calibration(project, 2)
    return Assignment.objects.filter(annotator=ana)[0]


def send(
    client: Client,
    assignment: Assignment,
    payload: dict[str, Any],
    *,
    verb: str = "",
    base_version: int = 0,
    page: UUID = PAGE,
    seq: int = 1,
    **fields: Any,
) -> Any:
    body = {"base_version": base_version, "client": str(page), "seq": seq, "payload": payload}
    url = f"/api/annotations/{assignment.pk}/{verb}"
    call = client.post if verb else client.put
    return call(url, body | fields, content_type="application/json")


def titled(title: str) -> dict[str, Any]:
    return {"requirements": [factories.requirement(title=title)]}


def stored_title() -> str:
    return str(Annotation.objects.get().payload["requirements"][0]["title"])


def test_a_page_that_missed_a_change_cannot_overwrite_it(assignment, annotator):
    saved = send(annotator, assignment, titled("first")).json()
    assert (saved["version"], bool(saved["saved_at"])) == (1, True)
    response = send(annotator, assignment, titled("second"), page=OTHER_PAGE)
    assert response.status_code == 409
    assert response.json()["code"] == "stale_version"
    assert response.json()["details"]["current_version"] == 1
    assert response.json()["details"]["payload"]["requirements"][0]["title"] == "first"
    assert stored_title() == "first"


@pytest.mark.parametrize("arrivals", [[1, 2], [2, 1], [1, 1, 2], [1, 2, 2, 1]])
def test_saves_of_one_page_may_arrive_in_any_order(assignment, arrivals, annotator):
    for seq in arrivals:  # all based on version 0
        assert send(annotator, assignment, titled(f"save {seq}"), seq=seq).status_code == 200

    assert stored_title() == "save 2"


def test_every_accepted_save_is_a_revision(assignment, annotator):
    for seq in (1, 2, 2, 3):
        send(annotator, assignment, titled(f"save {seq}"), seq=seq)
    send(annotator, assignment, titled("final"), verb="submit/", seq=4)

    rows = annotator.get(f"/api/annotations/{assignment.pk}/revisions/").json()["results"]
    assert [(row["version"], row["kind"]) for row in rows] == [
        (4, "submitted"),
        (3, "saved"),
        (2, "saved"),
        (1, "saved"),
    ]
    assert AnnotationRevision.objects.get(version=1).payload["requirements"][0]["title"] == "save 1"


def test_a_submission_must_be_complete_and_says_where_it_is_not(assignment, annotator):
    label = factories.requirement(title=" ", acceptance_criteria=["one"], source_messages=[9])

    response = send(annotator, assignment, {"requirements": [label]}, verb="submit/")

    assert response.status_code == 400
    problems = {row["path"]: row["message"] for row in response.json()["details"]["problems"]}
    assert problems == {
        "requirements.0.title": "This is empty.",
        "requirements.0.acceptance_criteria": "Write at least two criteria, one per line.",
        "requirements.0.source_messages": "There is no message 9.",
    }
    assert not Annotation.objects.exists()


@pytest.mark.parametrize(
    ("payload", "empty", "status"),
    [
        ({"requirements": []}, True, 200),
        ({}, True, 200),
        ({"requirements": []}, False, 400),  # not labeled is not "nothing here"
        (titled("Tracking"), True, 400),
    ],
)
def test_nothing_here_is_an_explicit_answer(assignment, payload, empty, status, annotator):
    response = send(annotator, assignment, payload, verb="submit/", empty=empty)

    assert response.status_code == status


def test_a_submitted_answer_is_final(assignment, annotator):
    for _ in range(2):  # sent twice, it changes nothing
        response = send(annotator, assignment, titled("final"), verb="submit/")
        assert response.status_code == 200
    assert Annotation.objects.get().version == 1
    assert Event.objects.filter(verb="annotation.submitted").count() == 1
    for verb in ("", "submit/"):
        response = send(annotator, assignment, titled("later"), verb=verb, base_version=1, seq=2)
        assert response.status_code == 409
        assert response.json()["code"] == "already_submitted"
    assert stored_title() == "final"


def test_a_skip_needs_a_reason_keeps_the_work_and_can_be_taken_up_again(assignment, annotator):
    for nothing in (" ", "\u200b"):
        refused = send(annotator, assignment, titled("draft"), verb="skip/", reason=nothing)
        assert refused.status_code == 400
    response = send(annotator, assignment, titled("draft"), verb="skip/", reason="Cut off")

    assert response.json()["status"] == "skipped"
    assert Annotation.objects.get().skip_reason == "Cut off"
    assert stored_title() == "draft"
    after_all = send(annotator, assignment, titled("after all"), verb="submit/", seq=2).json()
    assert (after_all["status"], after_all["skip_reason"]) == ("submitted", "")


def test_active_time_never_runs_backwards(assignment, annotator):
    send(annotator, assignment, {}, active_seconds=40)

    response = send(annotator, assignment, {}, seq=2, active_seconds=7)

    assert response.json()["active_seconds"] == 40


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
def test_text_that_no_database_can_store_is_refused(assignment, text, annotator):
    response = send(annotator, assignment, titled(text))

    assert response.status_code == 400
    assert response.json()["code"] == "invalid_payload"


def test_a_save_that_was_under_way_when_the_round_ended_is_refused(project, ana):
    full = factories.open_full(project, 1)
    loaded = full.assignments.select_related("round__project", "conversation").get(annotator=ana)
    rounds.close(full, by=None)

    with pytest.raises(annotations.RoundClosed):
        annotations.save_draft(loaded, factories.save_of(factories.labels([0])))


@pytest.mark.parametrize("name", ["ben", "rita", "olga", "admin"])
def test_nobody_sees_or_changes_the_work_of_others(signed_in, people, assignment, name):
    client = signed_in(people[name])

    for verb in ("", "submit/", "skip/", "reopen/"):
        assert send(client, assignment, titled("mine"), verb=verb).status_code == 404
    refused = client.get(f"/api/annotations/{assignment.pk}/")
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
    assert "check the address" in refused.json()["message"]
    assert not Annotation.objects.exists()
