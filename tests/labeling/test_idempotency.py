"""Writes of programs with a key: carried out once, whatever happens on the way."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone

from labeling.models import Comment, Conversation, KeyedRequest, Project
from labeling.services import comments, idempotency, tokens
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def mine(project: Project, ana: User) -> str:
    """The address of the comments on ana's only conversation."""
    pk = factories.open_full(project, 1).assignments.get(annotator=ana).pk
    return f"/api/annotations/{pk}/comments/"


@pytest.fixture
def program(ana: User) -> Client:
    secret = tokens.issue(user=ana, name="t").secret
    return Client(headers={"Authorization": f"Bearer {secret}"})


def say(program: Client, url: str, body: str, key: str = "k-1") -> Any:
    sent = json.dumps({"body": body})
    return program.post(url, sent, "application/json", headers={"Idempotency-Key": key})


def test_the_same_request_is_answered_again_and_carried_out_once(
    program: Client, mine: str
) -> None:
    first, again = say(program, mine, "Which shop?"), say(program, mine, "Which shop?")

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert (first.get("Idempotency-Replayed"), again["Idempotency-Replayed"]) == (None, "true")
    assert Comment.objects.count() == 1
    stored = KeyedRequest.objects.get()
    assert "Which shop?" not in stored.request + stored.digest
    assert "k-1" not in stored.digest


def test_a_key_belongs_to_one_request_of_one_token(
    program: Client, mine: str, ana: User, signed_in: Any
) -> None:
    say(program, mine, "Which shop?")
    other = say(program, mine, "Which order?")

    assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")
    assert say(signed_in(ana), mine, "Which order?").status_code == 201
    assert say(program, mine, "Which order?", key="k-2").status_code == 201


def test_a_request_under_way_is_not_begun_twice_and_a_dead_one_is(
    program: Client, mine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    post, answers = comments.post, []

    def slow(*args: Any, **kwargs: Any) -> Any:
        answers.append(say(program, mine, "Which shop?"))
        return post(*args, **kwargs)

    monkeypatch.setattr(comments, "post", slow)
    say(program, mine, "Which shop?")
    monkeypatch.undo()

    assert [answer.json()["code"] for answer in answers] == ["idempotency_under_way"]
    dead = timezone.now() - idempotency.DEAD_AFTER - timedelta(seconds=1)
    KeyedRequest.objects.update(started_at=dead, status=None)
    assert say(program, mine, "Which shop?").status_code == 201


def test_a_request_that_was_overtaken_stores_nothing(
    program: Client, mine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = comments.post

    def overtaken(*args: Any, **kwargs: Any) -> Any:
        posted = post(*args, **kwargs)
        KeyedRequest.objects.update(started_at=timezone.now())  # by another process
        return posted

    monkeypatch.setattr(comments, "post", overtaken)
    late = say(program, mine, "Which shop?")

    assert (late.status_code, late.json()["code"]) == (409, "idempotency_overtaken")
    assert not Comment.objects.exists()


def test_a_fault_or_a_refusal_leaves_the_key_free(
    program: Client, mine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = comments.post

    def broken(*args: Any, **kwargs: Any) -> Any:
        post(*args, **kwargs)
        raise ValueError("ours")

    program.raise_request_exception = False
    with monkeypatch.context() as patch:
        patch.setattr(comments, "post", broken)
        assert say(program, mine, "Which shop?").status_code == 500

    assert not Comment.objects.exists()
    assert say(program, mine, "").status_code == 400
    assert not KeyedRequest.objects.exists()
    assert say(program, mine, "Which shop?").status_code == 201


def test_files_are_compared_piece_by_piece_and_still_read(
    project: Project, rita: User, signed_in: Any
) -> None:
    def send(text: str) -> Any:
        file = SimpleUploadedFile("calls.csv", f"speaker,text\nDana,{text}\nZoé,Hi\n".encode())
        sent = {
            "file": file,
            "format": "csv",
            "columns": "speaker=speaker,text=text",
            "roles": "*=user",
        }
        url, headers = "/api/projects/orders/conversations/", {"Idempotency-Key": "k"}
        return signed_in(rita).post(url, sent, headers=headers)

    before = Conversation.objects.count()
    answers = [send("Hello"), send("Hello"), send("Hello?")]

    assert [answer.status_code for answer in answers] == [201, 201, 422]
    assert answers[1].json() == answers[0].json()
    assert Conversation.objects.count() == before + 1


def test_an_answer_with_a_secret_is_not_stored(
    program: Client, mine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labeling.api.comments.CommentsView.answers_with_secret", True)
    first, again = say(program, mine, "Which shop?"), say(program, mine, "Which shop?")

    assert first.status_code == 201
    assert (again.status_code, again.json()["code"]) == (409, "idempotency_answer_not_kept")
    assert again.json()["details"] == {"status": 201}
    assert KeyedRequest.objects.get().answer == ""


@pytest.mark.parametrize("key", ["", "é", "x" * 201])
def test_a_key_is_short_and_printable(program: Client, mine: str, key: str) -> None:
    refused = say(program, mine, "Which shop?", key=key)

    assert (refused.status_code, refused.json()["code"]) == (400, "idempotency_key_refused")


def test_keys_are_forgotten_after_a_day(program: Client, mine: str) -> None:
    say(program, mine, "Which shop?")
    assert idempotency.forget() == 0
    KeyedRequest.objects.update(started_at=timezone.now() - idempotency.KEPT)

    assert idempotency.forget() == 1
    assert say(program, mine, "Which order?").status_code == 201


# --- pages of lists -------------------------------------------------------------------------------


def test_lists_go_on_behind_the_last_row_and_take_a_limit(
    project: Project, ana: User, signed_in: Any
) -> None:
    factories.open_full(project, 5)
    client, address, seen = signed_in(ana), "/api/queue/?limit=2", []
    while address is not None:
        shown = client.get(address).json()
        assert len(shown["results"]) <= 2
        seen += [row["id"] for row in shown["results"]]
        address = shown["next"]

    assert seen == [row["id"] for row in client.get("/api/queue/").json()["results"]]
    assert len(set(seen)) == 5
    for wrong in ("limit=0", "limit=501", "cursor=x", "cursor=WyJhIl0", "cursor=WzEsMiwzLDQsNV0"):
        assert client.get(f"/api/queue/?{wrong}").status_code == 400, wrong


@pytest.mark.parametrize(
    ("of", "values"),
    [
        ("queue", ["0001-01-01T00:00:00+14:00", 1, 1, 1, 1]),
        ("projects", ["\ud800", 1]),
        ("projects", ["\x00", 1]),
        ("projects", [{}, 1]),
        ("projects", ["a", 1.5]),
    ],
)
def test_a_cursor_that_nobody_gave_out_is_refused(
    signed_in: Any, ana: User, of: str, values: list[Any]
) -> None:
    cursor = urlsafe_b64encode(json.dumps(values).encode()).decode()

    status = signed_in(ana).get(f"/api/{of}/?cursor={cursor}").status_code
    # PostgreSQL can compare with a time before the first year of UTC, which does no harm
    assert status == (200 if of == "queue" and connection.vendor == "postgresql" else 400)
