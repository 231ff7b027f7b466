"""The protocol of labeling by tokens alone: what leads and annotators do on pages."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from labeling.core import tokens
from labeling.models import Annotation, Project
from tests import factories

pytestmark = pytest.mark.django_db

CONVERSATIONS = [
    {
        "id": f"call-{number}",
        "messages": [
            {"role": "user", "content": f"We have to see order {number}."},
            {"role": "analyst", "content": "Who looks at it?"},
        ],
    }
    for number in range(4)
]


class Program:
    """Somebody's token, and nothing else."""

    def __init__(self, user: User) -> None:
        secret = tokens.issue(user=user, name="protocol").secret
        self._client = Client(
            enforce_csrf_checks=True, headers={"Authorization": f"Bearer {secret}"}
        )

    def __call__(self, method: str, path: str, body: Any = None, *, status: int = 200) -> Any:
        sent = {} if body is None else {"data": json.dumps(body)}
        response = getattr(self._client, method)(
            f"/api/{path}", content_type="application/json", **sent
        )
        assert response.status_code == status, response.content
        return response.json() if response.content else None

    def upload(self, path: str, name: str, text: str, **fields: Any) -> Any:
        file = SimpleUploadedFile(name, text.encode())
        response = self._client.post(f"/api/{path}", {"file": file, **fields})
        assert response.status_code in (200, 201), response.content
        return response.json()

    def label(self, marked: bool) -> None:
        """The next conversation: read it, and submit one requirement or none."""
        pk = self("post", "queue/next/")["assignment"]
        shown = self("get", f"annotations/{pk}/conversation/")
        assert [message["index"] for message in shown["messages"]] == [0, 1]
        (layer,) = shown["layers"]
        labels = [factories.requirement()] if marked else []
        save = {
            "base_version": 0,
            "client": str(uuid4()),
            "seq": 1,
            "payload": {layer["key"]: labels},
            "nothing": [] if marked else [layer["name"]],
        }
        self("post", f"annotations/{pk}/submit/", save)


@pytest.fixture
def programs(people: dict[str, User]) -> dict[str, Program]:
    return {name: Program(people[name]) for name in ("ana", "ben", "rita", "olga", "noor", "admin")}


def test_a_calibration_by_token(programs: dict[str, Program]) -> None:
    admin, ana, ben = programs["admin"], programs["ana"], programs["ben"]

    made = admin("post", "projects/", {"name": "Calls", "kappa_threshold": 0.5}, status=201)
    assert (made["slug"], made["roles"]) == ("calls", ["annotator", "lead", "researcher"])
    added = admin(
        "post", "projects/calls/members/", {"username": "ana", "role": "annotator"}, status=201
    )
    assert added["username"] == "ana"
    admin("post", "projects/calls/members/", {"username": "ben", "role": "annotator"}, status=201)

    text = "\n".join(map(json.dumps, CONVERSATIONS))
    assert (
        admin.upload("projects/calls/conversations/", "calls.jsonl", text, dry_run="true")["new"]
        == 4
    )
    assert admin.upload("projects/calls/conversations/", "calls.jsonl", text)["new"] == 4
    listed = admin("get", "projects/calls/conversations/?search=call-1&stage=unplanned")["results"]
    assert [row["external_id"] for row in listed] == ["call-1"]
    one = admin("get", f"projects/calls/conversations/{listed[0]['id']}/")
    assert one["messages"][0]["content"] == "We have to see order 1."

    admin(
        "post",
        "projects/calls/guidelines/",
        {"body": "# Rules", "summary": "First", "base_version": 0},
        status=201,
    )
    asked = {"kind": "calibration", "number": 3, "seed": 7}
    opened = admin("post", "projects/calls/rounds/", asked, status=201)
    assert (opened["number"], opened["conversations"], opened["work"]["pending"]) == (1, 3, 6)
    for _ in range(3):
        ana.label(marked=True)
        ben.label(marked=False)

    rounds = "projects/calls/rounds"
    admin("get", f"{rounds}/1/disagreements/", status=409)
    factories.work(Project.objects.get(slug="calls"))
    closed = admin("get", f"{rounds}/1/")
    assert (closed["state"], closed["results"][0]["outcome"]) == ("failed", "failed")
    assert closed["people"][0] == {"username": "ana", "assigned": 3, "answered": 3}

    # what they disagreed on: said, decided, and answered by the guidelines
    first, *_ = ben("get", f"{rounds}/1/disagreements/")["results"]
    about = f"{rounds}/1/disagreements/{first['place']}"
    assert [(side["annotator"], side["choice"]) for side in first["sides"]] == [
        ("ana", 1),
        ("ben", 0),
    ]
    ben("post", f"{about}/remarks/", {"body": "Is that one?"}, status=201)
    ben("put", f"{about}/outcome/", {"outcome": "guideline"}, status=403)
    decided = admin("put", f"{about}/outcome/", {"outcome": "guideline", "note": "It is."})
    assert (decided["outcome"], decided["thread"][0]["author"]) == ("guideline", "ben")
    version = {"body": "# Rules\n\nIt is.", "summary": "Second", "base_version": 1}
    admin("post", "projects/calls/guidelines/", {**version, "because": [decided["id"]]}, status=201)
    second = ana("get", "projects/calls/guidelines/2/")
    assert [line["text"] for line in second["changes"] if line["kind"] == "added"] == ["", "It is."]
    assert admin("get", f"{about}/")["answered_in"] == [2]

    admin("post", f"{rounds}/", {"kind": "calibration", "same_as": 1}, status=201)
    for _ in range(3):
        ana.label(marked=True)
        ben.label(marked=True)
    factories.work(Project.objects.get(slug="calls"))
    assert admin("get", f"{rounds}/2/")["state"] == "passed"
    assert not admin("get", "projects/calls/")["gate_open"]  # three conversations are too few

    full = {"kind": "full", "number": 10, "overlap": 2}
    refused = admin("post", f"{rounds}/", full, status=409)
    assert "needs at least 10 conversations" in refused["message"]
    full["override_reason"] = "Four calls are all there are."
    admin("post", f"{rounds}/", full, status=201)
    ana.label(marked=True)
    ben.label(marked=False)
    factories.work(Project.objects.get(slug="calls"))
    listed = admin("get", "projects/calls/adjudications/")
    assert (listed["counts"]["disputed"], listed["preparing"]) == (1, 0)
    (case,) = listed["results"]
    key = f"adjudications/{case['conversation']}/{case['layer']}/"
    shown = admin("get", key)
    admin(
        "post",
        key,
        {
            "answers": shown["answers"],
            "labels": [cluster["label"] for cluster in shown["clusters"]],
            "kind": "error",
        },
        status=201,
    )
    verdict = {"version": 1, "verdict": "accepted"}
    answer = Annotation.objects.filter(assignment__round__number=3).earliest("pk")
    admin("post", f"reviews/{answer.pk}/", verdict, status=201)
    admin("post", f"{rounds}/3/close/")
    answers = admin("get", f"projects/calls/conversations/{case['conversation']}/answers/")
    assert [row["annotator"] for row in answers["answers"]] == ["ana", "ben"]
    assert admin("get", "projects/calls/adjudications/")["counts"]["disputed"] == 0
