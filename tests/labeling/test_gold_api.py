"""Gold by the API: what pages show, prove and do, for programs."""

from __future__ import annotations

import csv
import json
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.test import Client

from labeling.gold import gold_requests, looks
from labeling.gold.looks import Sight
from labeling.models import GoldRelease, Guideline
from tests import factories

pytestmark = pytest.mark.django_db
GOLD = "/api/gold/orders/1/"


def post(client: Client, url: str, **body: Any) -> Any:
    return client.post(url, json.dumps(body), content_type="application/json")


def text_of(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


def test_test_items_leave_for_a_reason(project, noor, researcher):
    full = factories.open_full(project, 2)
    full.conversations.update(split="test")
    factories.answer_all(full)
    release = factories.freeze(project)
    url = f"{GOLD}export/"

    refused = researcher.get(url)
    looks.state(noor, [release], Sight("export"), "To publish it")

    assert (refused.status_code, refused.json()["code"]) == (403, "look_reason_needed")
    assert researcher.get(url).status_code == 200


def test_files_are_what_the_page_downloads_and_can_be_verified(release, lead):
    of_page = lead.get("/projects/orders/gold/orders/1/export/")
    lines = lead.get(f"{GOLD}export/", headers={"Accept": "application/x-ndjson"})
    packed = lead.get(f"{GOLD}export/?form=native")
    refused = lead.get(f"{GOLD}export/?form=word")

    assert text_of(lines) == text_of(of_page)
    assert "manifest.json" in ZipFile(BytesIO(text_of(packed))).namelist()
    assert (refused.status_code, refused.json()["code"]) == (400, "unknown_format")
    assert post(lead, f"{GOLD}verify/").json() == {"intact": True, "faults": []}


def test_a_release_is_asked_for_made_by_a_worker_and_looked_up(project, lead):
    factories.answer_all(factories.open_full(project, 1))
    factories.work(project)
    url = "/api/projects/orders/freezes/"
    asked = post(lead, url, layer="extraction", name="own")
    again = post(lead, url, layer="extraction", name="own")
    assert (asked.status_code, asked.json()["state"]) == (202, "waiting")
    assert again.json()["id"] == asked.json()["id"]

    gold_requests.answer(project, ruler=factories.ruler)
    made = lead.get(f"{url}{asked.json()['id']}/").json()
    post(lead, url, layer="extraction", name="own")
    gold_requests.answer(project, ruler=factories.ruler)
    rows = lead.get(url).json()["results"]

    assert (made["state"], made["release"], made["asked_by"]) == ("frozen", "own@1", "rita")
    assert [(row["state"], row["reason_code"]) for row in rows] == [
        ("refused", "gold.nothing_changed"),
        ("frozen", None),
    ]
    assert post(lead, url, layer="extraction", name="a b").json()["code"] == "bad_name"


def test_what_lint_found_is_said_and_accepted_as_one_freezes(project, lead):
    factories.answer_all(factories.open_full(project, 2))
    Guideline.objects.create(project=project, version=2, body="# Two")
    freezes = "/api/projects/orders/freezes/"
    asked = post(lead, freezes, layer="extraction").json()

    gold_requests.answer(project, ruler=factories.ruler)

    refused = lead.get(f"{freezes}{asked['id']}/").json()
    assert (refused["state"], refused["reason_code"]) == ("refused", "gold.lint_open")
    assert "Labels under superseded guidelines: 2 (superseded)" in refused["reason"]
    post(lead, freezes, layer="extraction", waive={"superseded": "As it is."})
    gold_requests.answer(project, ruler=factories.ruler)
    assert [row["reason"] for row in GoldRelease.objects.get().waivers] == ["As it is."]


# --- labels and ratings ------------------------------------------------------------------------


HERE = "/api/projects/orders/"


def test_ratings_are_a_table_once_agreement_is_measured(project, researcher, ana, annotator):
    round_ = factories.open_calibration(project, 2)
    address = f"{HERE}rounds/{round_.number}/agreement/ratings/"
    assert researcher.get(address).status_code == 403  # blind
    factories.answer_all(round_)
    factories.work(project)

    long = list(csv.DictReader(text_of(researcher.get(address)).decode().splitlines()))
    assert {row["annotator"] for row in long} == {"ana", "ben", "cleo"}
    assert annotator.get(address).status_code == 404
