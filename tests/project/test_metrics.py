"""What Prometheus reads: right over several processes, without a name, for who may."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from prometheus_client.values import ValueClass

from config import web_counts
from labeling.operation import health, metrics
from labeling.operation.views.docs import FOLDER
from tests import factories

HERE = {"HTTP_HOST": "localhost"}
LINE = re.compile(r'[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? -?[0-9.e+-]+')


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Each test counts from nothing."""
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    web_counts._figures.cache_clear()
    ValueClass.close_all_files()
    web_counts._RESERVED.clear()


def requests() -> dict[tuple[str, str], float]:
    [family] = [
        each for each in web_counts.registry().collect() if each.name == "assay_http_requests"
    ] or [None]
    samples = family.samples if family else []
    return {(one.labels["area"], one.labels["status"]): one.value for one in samples}


def test_processes_count_together_and_what_has_ended_stays_counted(folder: Path) -> None:
    web_counts.add("page", 200, 0.02)
    for _ in range(2):
        child = os.fork()
        if child == 0:  # a web process that ends without a word
            web_counts.add("page", 200, 0.3)
            web_counts.add("page", 418, 99)
            os._exit(0)
        os.waitpid(child, 0)
    assert requests() == {("page", "200"): 3, ("page", "418"): 2}
    said = metrics.generate_latest(web_counts.registry()).decode()
    assert 'assay_http_request_seconds_bucket{area="page",le="0.025"} 1.0' in said
    assert 'assay_http_request_seconds_bucket{area="page",le="30.0"} 3.0' in said
    assert 'assay_http_request_seconds_count{area="page"} 5.0' in said
    web_counts.begin()  # of a new web server
    assert requests() == {("page", "200"): 1}, "this process lives"


def test_a_full_disk_costs_the_count_and_not_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    web_counts.add("page", 200, 0.1)  # the first warning may open the log
    files = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        web_counts.add("page", 200, 0.1)
    assert requests() == {}
    assert len(os.listdir("/proc/self/fd")) == files


def test_no_file_of_counts_ever_grows(folder: Path) -> None:
    """On a full disk that would end the process."""
    for area in web_counts.AREAS:
        for status in range(200, 240):
            web_counts.add(area, status, 0.1)
    assert {path.stat().st_size for path in folder.iterdir()} == {web_counts.BYTES}


@pytest.mark.django_db
def test_requests_are_counted_by_area() -> None:
    ana = Client()
    ana.force_login(factories.make_people()["ana"])
    ana.get("/")
    ana.get("/projects/", headers={"HX-Request": "true"})
    ana.get("/api/queue/")
    ana.put("/api/annotations/1/", {}, content_type="application/json")
    ana.get("/healthz")
    ana.get("/nothing/here/")
    assert requests() == {
        ("page", "200"): 1,
        ("fragment", "200"): 1,
        ("api", "200"): 1,
        ("save", "404"): 1,
        ("operating", "200"): 1,
        ("unknown", "404"): 1,
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
    web_counts.add("page", 200, 0.1)
    said = Client().get("/metrics", **HERE).content.decode()
    assert "assay_scrape_complete 0.0" in said
    assert "assay_http_request_seconds_count" in said


def test_others_need_the_key(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "text", lambda: b"figures")
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
    of_web = {"assay_http_requests_total", "assay_http_request_seconds"}
    known = {*metrics.METRICS, *of_web}
    assert set(re.findall(r"^\| `(assay_\w+)`", table, re.MULTILINE)) == known
    assert all(f"`{name}`" in table for name in web_counts.AREAS)
    assert set(re.findall(r"\bassay_[a-z_]+", page)) <= {
        name + end for name in known for end in ("", "_bucket", "_count", "_sum")
    }
