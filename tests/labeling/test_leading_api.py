"""What the API refuses to leads and annotators, and how much it asks the database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from labeling.models import Guideline, Membership, Round
from tests import factories

pytestmark = pytest.mark.django_db

Ask = Callable[..., Any]


@pytest.fixture
def ask(signed_in: Callable[[User], Client], people: dict[str, User]) -> Ask:
    def send(who: str, method: str, path: str, body: Any = None, *, status: int = 200) -> Any:
        client = signed_in(people[who])
        sent = {} if method == "get" else {"data": body or {}, "content_type": "application/json"}
        response = getattr(client, method)(f"/api/projects/orders/{path}", **sent)
        assert response.status_code == status, response.content
        return response.json() if response.content else None

    return send


def fields_of(refusal: Any) -> dict[str, Any]:
    fields: dict[str, Any] = refusal["details"]["fields"]
    return fields


# --- people ---------------------------------------------------------------------------------------


def test_who_stops_annotating_hands_on_open_work(project, people, ask):
    factories.open_full(project, 2, overlap=1, annotators=[people["ana"]])
    ana = Membership.objects.get(user=people["ana"]).pk

    refused = ask("rita", "delete", f"members/{ana}/?to=noor", status=400)
    assert list(fields_of(refused)) == ["to"]
    assert ask("rita", "delete", f"members/{ana}/?to=cleo")["to"] == {"cleo": 2}
    rita = Membership.objects.get(user=people["rita"]).pk
    assert ask("rita", "delete", f"members/{rita}/", status=400)["code"] == "last_lead"


# --- rounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "code", "field"),
    [
        ({}, "invalid", "conversations"),
        ({"number": 1, "conversations": ["c-001"]}, "invalid", "conversations"),
        ({"conversations": ["c-001", "c-999"]}, "round_impossible", None),
        ({"number": 1, "annotators": ["ana", "olga"]}, "invalid", "annotators"),
        ({"number": 1, "annotators": ["ana"]}, "round_impossible", None),
        ({"number": 1, "kind": "full"}, "gate_locked", None),
        ({"number": 1, "kind": "qualifying"}, "invalid", "kind"),
    ],
)
def test_a_round_that_cannot_be_opened_says_why(wanted, code, field, project, ask):
    factories.make_conversations(project, 2)
    status = 409 if code == "gate_locked" else 400

    refusal = ask("rita", "post", "rounds/", {"kind": "calibration", **wanted}, status=status)

    assert (refusal["code"], next(iter(refusal["details"].get("fields", {})), None)) == (
        code,
        field,
    )
    assert not Round.objects.exists()


def test_a_round_is_opened_past_a_locked_gate_with_a_reason(project, ask):
    factories.make_conversations(project, 4)
    wanted = {"kind": "full", "number": 4, "overlap": 1}

    opened = ask("rita", "post", "rounds/", {**wanted, "override_reason": "A pilot."}, status=201)

    assert (opened["override_reason"], opened["work"]["pending"]) == ("A pilot.", 4)


def test_nobody_sees_answers_of_a_round_that_is_blind(project, ask):
    blind = factories.open_calibration(project, 1)
    factories.answer(blind.assignments.all()[0])
    talk = blind.conversations.get().pk

    assert ask("rita", "get", f"conversations/{talk}/answers/") == {"answers": [], "blind": [1]}


def test_somebody_who_labels_a_conversation_again_sees_no_answers_of_before(project, people, ask):
    Membership.objects.create(project=project, user=people["rita"], role="annotator")
    first = factories.open_full(project, 1, annotators=[people["ana"]], overlap=1)
    factories.answer_all(first)
    talk = first.conversations.get()
    both = [people["rita"], people["ben"]]
    factories.rounds.open_round(
        project=project, kind="calibration", by=None, conversations=[talk], annotators=both
    )

    ask("rita", "get", f"conversations/{talk.pk}/answers/", status=403)
    assert len(ask("noor", "get", f"conversations/{talk.pk}/answers/")["answers"]) == 1


# --- guidelines -----------------------------------------------------------------------------------


def test_a_version_of_the_guidelines_is_written_once(project, ask):
    text = {"body": "# Guide\n\nLabel all.", "summary": "All", "base_version": 1}

    assert ask("rita", "post", "guidelines/", text, status=201)["version"] == 2
    assert ask("rita", "post", "guidelines/", text, status=409)["code"] == "stale_version"
    again = {**text, "base_version": 2}
    assert ask("rita", "post", "guidelines/", again, status=400)["code"] == "guideline_unchanged"
    assert ask("ana", "get", "guidelines/2/")["body"] == text["body"] + "\n"


# --- lists ----------------------------------------------------------------------------------------


def test_lists_ask_no_more_for_more_rows(project, people):
    """Six conversations in four rounds cost what two in two do."""
    client = Client()
    client.force_login(people["rita"])
    paths = [
        *("conversations/", "members/", "rounds/", "", "adjudications/"),
        "guidelines/",
    ]

    def more(number: int) -> None:
        version = project.guidelines.count() + 1
        Guideline.objects.create(project=project, version=version, body=f"Version {version}")
        opened = factories.open_full(project, number)
        for assignment in opened.assignments.select_related("annotator"):
            mark = assignment.annotator == people["ana"]
            factories.answer(assignment, [0] if mark else [1])
        factories.measure(opened)
        factories.rounds.close(opened, by=people["rita"])
        factories.work(project)

    def asked() -> dict[str, int]:
        numbers = {}
        for path in paths:
            with CaptureQueriesContext(connection) as queries:
                answer = client.get(f"/api/projects/orders/{path}")
            assert answer.status_code == 200, (path, answer.content)
            numbers[path] = len(queries)
        return numbers

    more(1)
    more(1)
    few = asked()
    more(2)
    more(2)

    assert {path: n - few[path] for path, n in asked().items() if n > few[path]} == {}
