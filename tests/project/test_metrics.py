"""What Prometheus reads: right over several processes, without a name, for who may."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from config import web_counts
from labeling.services import health, metrics
from labeling.views.docs import FOLDER
from tests import factories

HERE = {"HTTP_HOST": "localhost"}
LINE = re.compile(r'[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? -?[0-9.e+-]+')

pytestmark = [pytest.mark.one_database]


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> web_counts.Counts:
    monkeypatch.setattr(web_counts, "_folder", lambda: tmp_path)
    return web_counts.Counts()


def area(name: str) -> web_counts.Area:
    return next(each for each in web_counts.read() if each.name == name)


def test_processes_count_together_and_what_has_ended_stays_counted(
    counting: web_counts.Counts, tmp_path: Path
) -> None:
    counting.add("page", 200, 0.02)
    for _ in range(2):
        child = os.fork()
        if child == 0:  # a web process that ends without a word
            counting.add("page", 200, 0.3)
            counting.add("page", 418, 99)
            os._exit(0)
        os.waitpid(child, 0)
    for _ in range(2):
        counted = area("page")
        assert counted.by_status == {200: 3, 0: 2}
        assert sum(counted.by_duration) == 5
        assert counted.by_duration[1] == 1  # up to 0.025 s
        assert counted.by_duration[-1] == 2  # above the last bound
        assert counted.seconds == pytest.approx(0.02 + 2 * 99.3)
    assert len(list(tmp_path.glob("web-*"))) == 1  # this process lives
    counting.add("page", 200, 0.02)
    assert area("page").by_status[200] == 4


def test_a_full_disk_costs_the_count_and_not_the_answer(
    counting: web_counts.Counts, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    counting.add("page", 200, 0.1)  # the first warning may open the log
    files = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        counting.add("page", 200, 0.1)
    assert area("page").by_status == {}
    assert len(os.listdir("/proc/self/fd")) == files
    assert list(tmp_path.glob("draft-*")) == []


@pytest.mark.django_db
def test_requests_are_counted_by_area(counting: web_counts.Counts, monkeypatch: Any) -> None:
    monkeypatch.setattr(web_counts, "counts", counting)
    ana = Client()
    ana.force_login(factories.make_people()["ana"])
    ana.get("/")
    ana.get("/projects/", headers={"HX-Request": "true"})
    ana.get("/api/queue/")
    ana.put("/api/annotations/1/", {}, content_type="application/json")
    ana.get("/healthz")
    ana.get("/nothing/here/")
    counted = {each.name: each.by_status for each in web_counts.read() if each.by_status}
    assert counted == {
        "page": {200: 1},
        "fragment": {200: 1},
        "api": {200: 1},
        "save": {404: 1},
        "operating": {200: 1},
        "unknown": {404: 1},
    }


@pytest.mark.django_db
def test_figures_are_in_the_form_of_prometheus_and_name_nobody(
    django_assert_max_num_queries: Any,
) -> None:
    factories.make_people()
    project = factories.make_project("zinnober")
    health.beat("machine:1")
    Client().get("/readyz?only=broker", **HERE)
    with django_assert_max_num_queries(40):
        answer = Client().get("/metrics", **HERE)
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = answer.content.decode().splitlines()
    assert all(LINE.fullmatch(line) for line in lines if not line.startswith("#"))
    assert "assay_workers_alive 1" in lines
    assert 'assay_jobs_waiting{kind="run"} 0' in lines
    assert "assay_scrape_complete 1" in lines
    texts = [project.slug, project.name, "olga", "machine:1"]
    assert not [text for text in texts if re.search(rf"\b{re.escape(text)}\b", str(lines))]


@pytest.mark.django_db
def test_without_a_database_the_rest_is_still_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(metrics, "_stored", away)
    said = Client().get("/metrics", **HERE).content.decode()
    assert "assay_scrape_complete 0" in said
    assert "assay_http_request_seconds_count" in said


def test_others_need_the_key(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "text", lambda of_web: "figures")
    settings.HEALTH_KEY = "k" * 20
    far = {"REMOTE_ADDR": "192.0.2.1"}
    assert Client().get("/metrics", **far).status_code == 403
    wrong = Client().get("/metrics", **far, headers={"Authorization": "Bearer k"})
    assert wrong.status_code == 403
    right = Client().get("/metrics", **far, headers={"Authorization": f"Bearer {'k' * 20}"})
    assert right.content == b"figures"


def test_every_metric_and_area_is_documented_and_no_other() -> None:
    page = (FOLDER / "operating.md").read_text(encoding="utf-8")
    table = page.split("## Metrics")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(assay_\w+)`", table, re.MULTILINE)) == set(metrics.METRICS)
    assert all(f"`{name}`" in table for name in web_counts.AREAS)
    assert set(re.findall(r"\bassay_[a-z_]+", page)) <= {
        name + end for name in metrics.METRICS for end in ("", "_bucket", "_count", "_sum")
    }
