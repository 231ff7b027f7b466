"""What Prometheus reads: without a name, for who may."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from labeling.operation import health, metrics
from labeling.operation.views.docs import FOLDER
from tests import factories

HERE = {"HTTP_HOST": "localhost"}
LINE = re.compile(r'[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? -?[0-9.e+-]+')


@pytest.mark.django_db
def test_figures_are_in_the_form_of_prometheus_and_name_nobody(django_assert_max_num_queries):
    factories.make_people()
    project = factories.make_project("zinnober")
    health.beat("machine:1")
    with django_assert_max_num_queries(40):
        answer = Client().get("/metrics", **HERE)
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = answer.content.decode().splitlines()
    assert all(LINE.fullmatch(line) for line in lines if not line.startswith("#"))
    assert "assay_workers_alive 1.0" in lines
    assert 'assay_jobs_waiting{kind="run"} 0.0' in lines
    assert "assay_scrape_complete 1.0" in lines
    texts = [project.slug, project.name, "olga", "machine:1"]
    assert not [text for text in texts if re.search(rf"\b{re.escape(text)}\b", str(lines))]


@pytest.mark.django_db
def test_without_a_database_the_rest_is_still_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(metrics, "_stored", away)
    said = Client().get("/metrics", **HERE).content.decode()
    assert "assay_scrape_complete 0.0" in said
    assert "assay_disk_free_bytes" in said


def test_others_need_the_key(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "text", lambda: b"figures")
    settings.HEALTH_KEY = "k" * 20
    far = {"REMOTE_ADDR": "192.0.2.1"}
    assert Client().get("/metrics", **far).status_code == 403
    wrong = Client().get("/metrics", **far, headers={"Authorization": "Bearer k"})
    assert wrong.status_code == 403
    right = Client().get("/metrics", **far, headers={"Authorization": f"Bearer {'k' * 20}"})
    assert right.content == b"figures"


def test_every_metric_is_documented_and_no_other() -> None:
    page = (FOLDER / "operating.md").read_text(encoding="utf-8")
    table = page.split("## Metrics")[1].split("\n## ")[0]
    known = {*metrics.METRICS}
    assert set(re.findall(r"^\| `(assay_\w+)`", table, re.MULTILINE)) == known
    assert set(re.findall(r"\bassay_[a-z_]+", page)) <= known
