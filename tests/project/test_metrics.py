"""What Prometheus reads: without a name, for who may."""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from kombu import Connection

from config.celery import Sweeper
from config.celery import app as celery_app
from config.env import ROOT
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


COUNTING = """
import sys
from pathlib import Path

from celery import shared_task
from config.celery import app as celery_app

@shared_task(name="count")
def count(number):
    with Path(sys.argv[1]).open("a") as file:
        file.write(f"{number}\\n")

celery_app.conf.sweep_seconds = 1000
for number in range(int(sys.argv[2])):
    count.delay(number)
if len(sys.argv) == 3:
    celery_app.worker_main(["worker", "--concurrency", "2"])
"""


@pytest.mark.worker
def test_a_worker_drains_its_queue_and_outlives_what_becomes_of_it(tmp_path):
    done, queue = tmp_path / "done", tmp_path / "broker"
    settings = {"ASSAY_DATA_DIR": str(tmp_path), "CELERY_BROKER_URL": "", "DATABASE_URL": ""}

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", COUNTING, str(done), *arguments],
            cwd=ROOT,
            env={**os.environ, **settings},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    worker = start("300")
    try:
        wait_until(done.exists, worker)
        started = time.monotonic()
        wait_until(lambda: len(done.read_text().split()) == 300, worker)
        assert time.monotonic() - started < 60  # of a full worker, two messages a second and less

        (queue / f"0_{'0' * 32}.celery.msg").write_text('{"half')
        wait_until(lambda: not list(queue.glob("*.msg")), worker)
        shutil.rmtree(queue)
        wait_until((queue / "celery.exchange").exists, worker)
        assert start("1", "only sent").wait(60) == 0
        wait_until(lambda: len(done.read_text().split()) == 301, worker)
    finally:
        worker.kill()
        worker.wait(60)


def wait_until(reached, worker) -> None:
    deadline = time.monotonic() + 180
    while not reached():
        assert time.monotonic() < deadline
        assert worker.poll() is None
        time.sleep(0.05)


def test_the_sweep_comes_again_whatever_one_of_them_met(caplog):
    calls = []

    def sweep() -> None:
        calls.append(1)
        raise RuntimeError("no broker")

    conf = SimpleNamespace(sweep_task="sweep", sweep_seconds=0.01)
    worker = SimpleNamespace(app=SimpleNamespace(conf=conf, tasks={"sweep": sweep}))
    sweeper = Sweeper(worker)
    with caplog.at_level(logging.CRITICAL):
        sweeper.start(worker)
        deadline = time.monotonic() + 60
        while len(calls) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        sweeper.stop(worker)

    assert len(calls) >= 3


def test_a_lost_broker_is_asked_for_every_few_seconds_however_long_it_was_away(monkeypatch):
    asked = {}
    monkeypatch.setattr(Connection, "_ensure_connection", lambda self, *args, **k: asked.update(k))
    celery_app.connection_for_read().ensure_connection(None, None, callback=None)
    assert asked["interval_max"] <= 3


@pytest.mark.worker
def test_the_sweep_runs_in_a_worker_whose_broker_is_away(tmp_path):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        away = f"redis://127.0.0.1:{closed.getsockname()[1]}"
    swept = tmp_path / "swept"
    program = f"""
from pathlib import Path

from celery import shared_task
from config.celery import app as celery_app

@shared_task(name="swept")
def swept():
    Path("{swept}").touch()

celery_app.conf.update(sweep_task="swept", sweep_seconds=0.2)
celery_app.worker_main(["worker", "--pool", "threads", "--concurrency", "1"])
"""
    settings = {"ASSAY_DATA_DIR": str(tmp_path), "CELERY_BROKER_URL": away, "DATABASE_URL": ""}
    worker = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, **settings},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 180
        while not swept.exists() and time.monotonic() < deadline:
            assert worker.poll() is None
            time.sleep(0.1)
        assert swept.exists()
    finally:
        worker.kill()
        worker.wait(60)
