"""Labels and ratings by the API."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from labeling.models import Annotation
from tests import factories

pytestmark = pytest.mark.django_db
HERE = "/api/projects/orders/"
SignedIn = Callable[[User], Client]


def text_of(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


@pytest.fixture
def researcher(noor: User, signed_in: SignedIn) -> Client:
    return signed_in(noor)


def test_everybodys_labels_leave_as_a_file_and_come_into_another_project(project, researcher, lead):
    factories.answer_all(factories.open_full(project, 2))
    other = factories.make_project("other")
    factories.make_conversations(other, 2)
    file = text_of(researcher.get(f"{HERE}labels/"))

    def store(client: Client, **fields: Any) -> Any:
        data = {"file": SimpleUploadedFile("labels.jsonl", file), "reason": "Pilot", **fields}
        return client.post("/api/projects/other/labels/", data)

    assert store(researcher).status_code == 403
    tried = store(lead, dry_run="true")
    assert (tried.status_code, tried.json()["new"]) == (200, 6)
    assert not Annotation.objects.filter(assignment__round__project=other).exists()
    stored = store(lead)
    assert (stored.status_code, stored.json()["new"]) == (201, 6)
    assert store(lead).json() == {**stored.json(), "new": 0, "unchanged": 6, "rounds": []}
    refused = lead.post("/api/projects/other/labels/", {"file": SimpleUploadedFile("x", b"{")})
    assert (refused.status_code, refused.json()["code"]) == (400, "labels_refused")


def test_ratings_are_a_table_once_agreement_is_measured(project, researcher, ana, signed_in):
    round_ = factories.open_calibration(project, 2)
    address = f"{HERE}rounds/{round_.number}/agreement/ratings/"
    assert researcher.get(address).status_code == 403  # blind
    factories.answer_all(round_)
    factories.work(project)

    long = list(csv.DictReader(text_of(researcher.get(address)).decode().splitlines()))
    assert {row["annotator"] for row in long} == {"ana", "ben", "cleo"}
    assert signed_in(ana).get(address).status_code == 404
