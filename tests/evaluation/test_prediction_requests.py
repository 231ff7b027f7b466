"""Predictions sent by a program or uploaded on a page, and what the pages show of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from evaluation.models import CaseRun, Run
from tests.evaluation.events import RIGHT, prediction
from tests.evaluation.test_predictions import measure

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


# --- from a program -----------------------------------------------------------------------------


def post(client, **body: Any):
    return client.post(reverse("api-runs"), json.dumps(body), content_type="application/json")


def test_a_program_may_send_predictions(news, signed_in):
    client = signed_in("noor")

    response = post(client, gold="news", predictions=[*RIGHT[:2], prediction("doc-7")])

    assert response.status_code == 201
    assert response.json()["pipeline"] == "predictions"
    assert response.json()["spec"]["predictions"]["extra"] == ["doc-7"]
    assert response.json()["n_failed"] == 1


def test_a_program_is_told_which_prediction_is_wrong(news, signed_in):
    response = post(signed_in("noor"), gold="news", predictions=[RIGHT[0], RIGHT[0]])

    assert response.status_code == 400
    assert response.json()["code"] == "predictions_refused"
    assert response.json()["details"]["faults"][0]["line"] == 2
    assert not Run.objects.exists()


def test_a_program_cannot_name_a_pipeline_too(news, signed_in):
    response = post(signed_in("noor"), gold="news", predictions=RIGHT, pipeline="nothing")

    assert response.json()["code"] == "predictions_refused"


# --- on the pages -------------------------------------------------------------------------------


def upload(client, release, path: Path, **fields: Any):
    with path.open("rb") as file:
        data = {"release": release.pk, "file": file, **fields}
        return client.post(reverse("run-predictions"), data, follow=True)


def test_an_upload_with_a_bad_line_stores_nothing_and_says_where(news, write, signed_in):
    response = upload(signed_in("noor"), news, write(RIGHT[0], "{"))

    assert response.status_code == 422
    assert "line 2: not valid JSON" in response.content.decode()
    assert not Run.objects.exists()


def text(client, url):
    return client.get(url).content.decode()


def test_the_page_of_a_case_shows_every_argument(news, write, signed_in):
    raw = (
        '<thought>2. 质押方：张三</thought>[{"event_type": "质押", "arguments": ['
        '{"role": "质押方", "argument": "张三"}, {"role": "质权方", "argument": "<b>李四"}],}]'
    )
    run = measure(write({"case_id": "doc-1", "output": {"raw": raw}}, *RIGHT[1:]))
    case = CaseRun.objects.get(run=run, item__item_id="doc-1")

    text = signed_in("noor").get(case.get_absolute_url()).content.decode()

    assert "&lt;b&gt;李四" in text
    assert "not in the text" in text
    assert "trailing_commas" in text
    assert "after repair" in text
