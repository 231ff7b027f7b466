"""Gold by the API: what pages show, prove and do, for programs."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.test import Client

from labeling.gold import gold_requests, looks
from labeling.gold.looks import Sight
from labeling.models import GoldRelease, Guideline, Project
from tests import factories

pytestmark = pytest.mark.django_db
GOLD = "/api/gold/orders/1/"


def post(client: Client, url: str, **body: Any) -> Any:
    return client.post(url, json.dumps(body), content_type="application/json")


def text_of(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


@pytest.fixture
def release(project: Project) -> GoldRelease:
    return factories.make_release(project, items=3)


def test_test_items_leave_for_a_reason(project, noor, signed_in):
    full = factories.open_full(project, 2)
    full.conversations.update(split="test")
    factories.answer_all(full)
    release = factories.freeze(project)
    client, url = signed_in(noor), f"{GOLD}export/"

    refused = client.get(url)
    looks.state(noor, [release], Sight("export"), "To publish it")

    assert (refused.status_code, refused.json()["code"]) == (403, "look_reason_needed")
    assert client.get(url).status_code == 200


def test_files_are_what_the_page_downloads_and_can_be_verified(release, rita, signed_in):
    client = signed_in(rita)
    of_page = client.get("/projects/orders/gold/orders/1/export/")
    lines = client.get(f"{GOLD}export/", headers={"Accept": "application/x-ndjson"})
    packed = client.get(f"{GOLD}export/?form=native")
    refused = client.get(f"{GOLD}export/?form=word")

    assert text_of(lines) == text_of(of_page)
    assert "manifest.json" in ZipFile(BytesIO(text_of(packed))).namelist()
    assert (refused.status_code, refused.json()["code"]) == (400, "unknown_format")
    assert post(client, f"{GOLD}verify/").json() == {"intact": True, "faults": []}


def test_a_release_is_asked_for_made_by_a_worker_and_looked_up(project, rita, signed_in):
    factories.answer_all(factories.open_full(project, 1))
    factories.work(project)
    client, url = signed_in(rita), "/api/projects/orders/freezes/"
    asked = post(client, url, layer="extraction", name="own")
    again = post(client, url, layer="extraction", name="own")
    assert (asked.status_code, asked.json()["state"]) == (202, "waiting")
    assert again.json()["id"] == asked.json()["id"]

    gold_requests.answer(project, ruler=factories.ruler)
    made = client.get(f"{url}{asked.json()['id']}/").json()
    post(client, url, layer="extraction", name="own")
    gold_requests.answer(project, ruler=factories.ruler)
    rows = client.get(url).json()["results"]

    assert (made["state"], made["release"], made["asked_by"]) == ("frozen", "own@1", "rita")
    assert [(row["state"], row["reason_code"]) for row in rows] == [
        ("refused", "gold.nothing_changed"),
        ("frozen", None),
    ]
    assert post(client, url, layer="extraction", name="a b").json()["code"] == "bad_name"


def test_what_lint_found_is_said_and_accepted_as_one_freezes(project, rita, signed_in):
    factories.answer_all(factories.open_full(project, 2))
    Guideline.objects.create(project=project, version=2, body="# Two")
    client, freezes = signed_in(rita), "/api/projects/orders/freezes/"
    asked = post(client, freezes, layer="extraction").json()

    gold_requests.answer(project, ruler=factories.ruler)

    refused = client.get(f"{freezes}{asked['id']}/").json()
    assert (refused["state"], refused["reason_code"]) == ("refused", "gold.lint_open")
    assert "Labels under superseded guidelines: 2 (superseded)" in refused["reason"]
    post(client, freezes, layer="extraction", waive={"superseded": "As it is."})
    gold_requests.answer(project, ruler=factories.ruler)
    assert [row["reason"] for row in GoldRelease.objects.get().waivers] == ["As it is."]
