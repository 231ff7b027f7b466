"""What is answered when something is missing, and what says so beforehand."""

from __future__ import annotations

import errno
import json
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from kombu import Connection
from kombu.transport import memory

from labeling.jobs import failures
from labeling.models import WorkerPulse
from labeling.operation import health
from labeling.overview.views import home
from tests import factories

pytestmark = pytest.mark.django_db
SHAPE = {"code", "message", "details"}


@pytest.fixture
def ana() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(factories.make_people()["ana"])
    return client


def failing(error: BaseException) -> Any:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise error

    return fail


def from_sqlite(name: str) -> OperationalError:
    error = OperationalError("no")
    error.__cause__ = sqlite3.OperationalError("no")
    error.__cause__.sqlite_errorname = name
    return error


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (OperationalError("server closed the connection"), 503, "database_away"),
        (from_sqlite("SQLITE_BUSY"), 503, "database_away"),
        (from_sqlite("SQLITE_FULL"), 507, "disk_full"),
        (OSError(errno.ENOSPC, "No space left on device"), 507, "disk_full"),
        (from_sqlite("SQLITE_ERROR"), 500, "server_error"),
        (ValueError("ours"), 500, "server_error"),
    ],
)
def test_what_is_missing_is_said_by_pages_and_api(ana, monkeypatch, error, status, code):
    monkeypatch.setattr("labeling.work.api.queue.QueueView.get", failing(error))
    monkeypatch.setattr(home.tries, "tests_of", failing(error))
    answer = ana.get("/api/queue/")
    assert (answer.status_code, set(answer.json()), answer.json()["code"]) == (status, SHAPE, code)
    page = ana.get("/")
    assert page.status_code == status
    assert page["Content-Type"].startswith("text/html")
    assert ("database" in page.content.decode()) == (status == 503)
    assert ("Retry-After" in page) == (status == 503)


ERRORS = [
    ("get", "/api/nothing/here/", {}, 404, "not_found"),
    ("get", "/api/%00/", {}, 400, "bad_request"),
    ("get", "/api/queue/", {"headers": {"host": "elsewhere.example.org"}}, 400, "bad_request"),
    ("get", "/api/queue/", {"headers": {"authorization": "Bearer no"}}, 401, "bad_token"),
    ("post", "/api/looks/", {"data": "{"}, 400, "parse_error"),
    ("post", "/api/looks/", {"data": b"\xff"}, 400, "parse_error"),
    ("delete", "/api/queue/", {}, 405, "method_not_allowed"),
    ("post", "/api/queue/next/", {"data": b"x" * 2048}, 413, "too_large"),
    ("post", "/api/looks/", {"data": b"{", "content_type": "text/x"}, 415, None),
]


def test_every_error_of_the_api_has_its_shape(ana, settings):
    for method, path, sent, status, code in ERRORS:
        settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1024
        answer = getattr(ana, method)(path, **({"content_type": "application/json"} | sent))
        assert answer.status_code == status
        assert set(answer.json()) == SHAPE
        assert code in (None, answer.json()["code"])


def test_a_wrong_csrf_token_is_said_in_the_shape_of_the_api() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(factories.make_people()["ana"])
    answer = client.post("/api/queue/next/")
    assert (answer.status_code, set(answer.json())) == (403, SHAPE)


# --- readyz ---------------------------------------------------------------------------------------


def test_the_web_process_is_well_without_a_database_also_for_who_is_signed_in(
    ana, django_assert_num_queries
):
    with django_assert_num_queries(0):
        assert ana.get("/healthz").content == b"ok\n"
    assert ana.get("/projects/").status_code == 200  # and what is not open to everybody stays so
    assert Client().get("/projects/").status_code == 302


def test_health_says_what_is_missing_to_this_machine_alone(db: None) -> None:
    here, far = {"HTTP_HOST": "localhost"}, {"REMOTE_ADDR": "192.0.2.1"}
    answer = Client().get("/readyz?only=disk,broker", **here)
    assert answer.status_code == 200
    assert set(answer.json()["parts"]) == {"disk", "broker"}
    assert Client().get("/readyz?only=disk", **far).content == b"ok\n"


def test_health_asks_a_hanging_part_for_a_limited_time_and_once(monkeypatch):
    ends, asked = Event(), []

    def hang() -> str:
        asked.append(1)
        ends.wait(20)
        return "late"

    monkeypatch.setattr(health, "_PROBES", {"hanging": hang})
    for _ in range(2):
        part = health.look(["hanging"], seconds=0.1)["hanging"]
        assert not part["ok"]
        assert part["says"].startswith("no answer")
    assert len(asked) == 1
    ends.set()


@pytest.mark.no_database
def test_health_answers_everybody_who_asks_at_the_same_time(monkeypatch):
    monkeypatch.setattr(health, "_PROBES", {"prompt": lambda: "well"})
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            looks = list(pool.map(lambda _: health.look(["prompt"])["prompt"]["ok"], range(2000)))
    finally:
        sys.setswitchinterval(before)
    assert all(looks)


def test_health_with_a_part_that_fails_is_503(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = failing(OperationalError("gone away\nfor good"))
    monkeypatch.setattr(health, "_PROBES", {"database": broken})
    far = Client().get("/readyz?only=database", REMOTE_ADDR="192.0.2.1")
    assert (far.status_code, far.content) == (503, b"not ok\n")
    near = Client().get("/readyz?only=database", HTTP_HOST="localhost")
    assert json.loads(near.content)["parts"]["database"]["says"] == "gone away for good"


def test_a_queue_without_messages_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in Redis, where it does not exist."""

    class Channel(memory.Channel):
        def _has_queue(self, queue: str, **kwargs: Any) -> bool:
            return bool(self._size(queue))

    class Transport(memory.Transport):
        pass

    Transport.Channel = Channel
    monkeypatch.setattr(
        health.current_app,
        "connection_for_write",
        lambda **options: Connection(transport=Transport),
    )
    assert health.look(["broker"])["broker"]["says"].endswith("0 messages wait")


def test_health_knows_a_worker_by_its_pulse() -> None:
    assert not health.has_worker()
    health.pulse("one")
    assert health.has_worker()
    assert health._workers() == "1 at work"
    WorkerPulse.objects.update(seen_at=timezone.now() - timedelta(minutes=1))
    with pytest.raises(health.Missing, match="the last was seen"):
        health._workers()
    health.pulse("two", now=timezone.now() + timedelta(days=2))
    assert [pulse.name for pulse in WorkerPulse.objects.all()] == ["two"]


def test_the_cause_of_an_error_counts() -> None:
    error = RuntimeError("while writing")
    error.__context__ = OSError(errno.ENOSPC, "full")
    assert failures.missing(error) == failures.DISK_FULL
