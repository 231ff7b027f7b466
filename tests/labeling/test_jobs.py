"""Who is at which job: one at a time, taken over from whoever is gone, and nothing forgotten."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event as Signal
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.db.models.functions import Now
from django.utils import timezone

from evaluation.services.run.dispatching import Dispatcher
from evaluation.services.work import leases
from labeling.jobs import queue, tasks
from labeling.jobs.queue import JobLease
from labeling.jobs.tasks import Task
from labeling.models import Job
from labeling.operation import health
from tests.concurrency import closing

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture
def worker() -> str:
    health.begin("this")
    return "this"


@pytest.fixture
def does(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def register(work: Callable[[int, UUID], object], **options: Any) -> None:
        monkeypatch.setattr(tasks, "_TASKS", {"some": Task("some", work, **options)})

    return register


@pytest.fixture
def lease(worker: str) -> JobLease:
    Job.objects.create(kind="some", key=7)
    taken = queue.take(["some"], worker)
    assert taken is not None
    return taken


def test_what_is_asked_for_twice_is_one_job_once_it_is_stored(
    django_capture_on_commit_callbacks, monkeypatch
):
    rung: list[str] = []
    monkeypatch.setattr("celery.current_app.send_task", rung.append)
    with django_capture_on_commit_callbacks(execute=True):
        queue.ask("some", 7)
        queue.ask("some", 7)
        queue.ask("later", 7, after=60)
        assert not Job.objects.exists()

    assert sorted(map(str, Job.objects.all())) == ["later 7", "some 7"]
    assert rung == ["labeling.tasks.look"]
    assert [job.kind for job in Job.objects.free()] == ["some"]


def test_a_job_is_stored_although_the_queue_is_away(
    django_capture_on_commit_callbacks, monkeypatch
):
    def away(name: str) -> None:
        raise ConnectionError("refused")

    monkeypatch.setattr("celery.current_app.send_task", away)
    with django_capture_on_commit_callbacks(execute=True):
        queue.ask("some", 7)

    assert Job.objects.count() == 1


def test_the_oldest_of_the_kinds_that_a_thread_does_is_taken_once(worker):
    for kind, key in (("long", 1), ("some", 2), ("some", 3)):
        Job.objects.create(kind=kind, key=key)
    taken = [queue.take(["some"], worker) for _ in range(3)]
    assert [lease and lease.key for lease in taken] == [2, 3, None]


def test_who_holds_a_job_keeps_it_and_who_does_not_gets_nothing(lease):
    assert queue.claim("some", 7, uuid4()) is None
    assert queue.claim("some", 7, lease.owner) == lease  # its own child process
    with queue.held("some", 7) as mine:
        assert not mine
    assert Job.objects.held().get().key == 7

    Job.objects.update(lease_expires_at=Now() - timedelta(seconds=1))
    other = queue.claim("some", 7, uuid4())
    assert other is not None
    assert other.attempts == 0  # nobody has proved a death
    assert not lease.renew()
    lease.put_off(60)
    lease.finish()
    assert other.renew()
    other.finish()
    assert not Job.objects.exists()


@pytest.mark.parametrize("hours", [2, -2])
def test_a_wrong_clock_neither_lengthens_nor_shortens_a_lease(lease, monkeypatch, hours):
    right = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: right() + timedelta(hours=hours))

    assert lease.renew()

    end = Job.objects.get().lease_expires_at
    assert end is not None
    assert timedelta(seconds=60) < end - right() <= timedelta(seconds=121)
    assert queue.claim("some", 7, uuid4()) is None


def test_leases_from_the_future_are_cut(lease):
    Job.objects.update(lease_expires_at=Now() + timedelta(hours=2))
    assert (leases.cap(), leases.cap()) == (1, 0)
    end = Job.objects.get().lease_expires_at
    assert end is not None
    assert end <= timezone.now() + timedelta(seconds=121)


def test_what_a_dead_worker_held_is_free_at_once_and_counts(lease, worker):
    queue.bury(["another"])
    assert lease.renew()

    queue.bury([worker])

    assert not lease.renew()
    again = queue.take(["some"], worker)
    assert again is not None
    assert again.attempts == 1


def test_what_is_due_and_was_not_asked_for_is_found_once(does, lease):
    does(print, due=lambda: [7, 8])
    tasks.find()
    tasks.find()
    assert sorted(Job.objects.values_list("key", flat=True)) == [7, 8]
    assert lease.renew()


def gone(*_: object) -> None:
    raise ObjectDoesNotExist


def test_work_that_is_done_or_on_what_is_gone_leaves_no_row(does, lease, worker):
    seen: list[Any] = []
    does(lambda key, owner: seen.append((key, owner)))
    tasks.carry_out(lease)
    assert (seen, Job.objects.count()) == ([(7, lease.owner)], 0)
    Job.objects.create(kind="some", key=8)
    again = queue.take(["some"], worker)
    assert again is not None
    does(gone)
    tasks.carry_out(again)
    assert not Job.objects.exists()


def test_what_came_in_meanwhile_is_asked_for_anew(does, lease, django_capture_on_commit_callbacks):
    does(lambda *_: None, due=lambda: [7], flows=True)
    with django_capture_on_commit_callbacks(execute=True):
        tasks.carry_out(lease)
    assert Job.objects.free().get().key == 7


def test_work_that_fails_is_logged_and_tried_again_later(does, lease, caplog):
    def fail(*_: object) -> None:
        raise ValueError("no luck")

    does(fail)
    with caplog.at_level(logging.ERROR):
        tasks.carry_out(lease)
    assert "some 7 failed" in caplog.text
    job = Job.objects.get()
    assert (job.owner, job.attempts) == (None, 1)
    assert not Job.objects.free().exists()


def test_a_worker_that_stops_gives_back_what_its_child_did_not_end(does, lease, monkeypatch):
    monkeypatch.setattr(tasks.runner.children, "_stopped", True)
    does(lambda *_: None)
    tasks.carry_out(lease)
    assert (Job.objects.free().get().owner, Job.objects.get().attempts) == (None, 0)


@pytest.mark.django_db(transaction=True)
def test_many_threads_take_each_job_once(worker):
    Job.objects.bulk_create(Job(kind="some", key=key) for key in range(40))

    def take_all() -> list[int]:
        taken = []
        while Job.objects.free().exists():
            if lease := queue.take(["some"], worker):
                taken.append(lease.key)
        return taken

    with ThreadPoolExecutor(6) as threads:
        found = [threads.submit(closing, take_all) for _ in range(6)]
    assert sorted(key for each in found for key in each.result()) == list(range(40))


@pytest.mark.django_db(transaction=True)
def test_what_takes_long_never_has_all_threads(monkeypatch):
    begun, go_on, done = Signal(), Signal(), Signal()

    def take_long(*_: object) -> None:
        begun.set()
        go_on.wait(60)

    short = Task("short", lambda *_: done.set(), is_quick=True)
    monkeypatch.setattr(tasks, "_TASKS", {"long": Task("long", take_long), "short": short})
    Job.objects.bulk_create(Job(kind="long", key=key) for key in (1, 2, 3))
    dispatcher = Dispatcher(1, name="this")
    dispatcher.start()
    try:
        assert begun.wait(60)
        Job.objects.create(kind="short", key=1)
        assert done.wait(60)
        assert Job.objects.held().get(kind="long").key == 1
    finally:
        go_on.set()
        dispatcher.stop()
