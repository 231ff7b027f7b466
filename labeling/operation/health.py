"""Whether the parts that the product stands on are there. Asked in threads, so nobody waits long.

A part that hung when it was last asked is not asked again before it has answered.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from textwrap import shorten
from threading import Lock, Thread
from time import monotonic
from typing import TypedDict

from celery import current_app
from django.conf import settings
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.models.functions import Now
from django.utils import timezone

from labeling.core import clock
from labeling.jobs import jobs
from labeling.models import WorkerPulse

SECONDS = 3.0
"""In all, for one who asks."""
LEAST_FREE = 100 * 1024 * 1024  # bytes
SILENT_AFTER = timedelta(seconds=45)
"""A worker says every ten seconds that it is there."""
FORGOTTEN_AFTER = timedelta(days=1)


class Part(TypedDict):
    ok: bool
    says: str


class _Asking(Thread):
    """One part is asked, once."""

    def __init__(self, ask: Callable[[], str]) -> None:
        super().__init__(name="health", daemon=True)
        self._ask = ask
        self._begun = monotonic()
        self._answer: Part | None = None

    def answer(self, deadline: float) -> Part:
        self.join(max(0.0, deadline - monotonic()))
        if self._answer is not None:
            return self._answer
        waited = monotonic() - self._begun
        return {"ok": False, "says": f"no answer for {waited:.0f} s"}

    def run(self) -> None:
        ok = True
        try:
            says = self._ask()
        except Exception as error:  # of any kind: that is what was asked
            ok, says = False, shorten(str(error), 200) or type(error).__name__
        finally:
            connections.close_all()
        self._answer = {"ok": ok, "says": says}


class Missing(Exception):
    """A part answers, but not as it should."""


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM django_migrations")
        cursor.fetchone()
    return connection.vendor


def _migrations() -> str:
    executor = MigrationExecutor(connection)
    if waiting := executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise Missing(f"{len(waiting)} migrations wait")
    return "all made"


def _broker() -> str:
    url = str(current_app.conf.broker_url)
    with current_app.connection_for_write(connect_timeout=SECONDS) as broker:
        broker.ensure_connection(max_retries=1, interval_start=0, timeout=SECONDS)
        with broker.SimpleQueue("celery") as queue:
            # not its own count: in Redis a queue without messages does not exist
            waiting = queue.queue.queue_declare().message_count
            return f"{url.partition(':')[0]}, {waiting} messages wait"


def free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def _disk() -> str:
    with tempfile.TemporaryFile(dir=settings.DATA_DIR) as probe:
        probe.write(b"\0" * 4096)
        probe.flush()
        os.fsync(probe.fileno())
    free = free_bytes(settings.DATA_DIR)
    if free < LEAST_FREE:
        raise Missing(f"{free // 1024**2} MB free: less than {LEAST_FREE // 1024**2}")
    return f"{free // 1024**2} MB free, writable"


def _workers() -> str:
    pulses = list(WorkerPulse.objects.order_by("-seen_at"))
    now = clock.now()
    alive = [pulse for pulse in pulses if now - pulse.seen_at < SILENT_AFTER]
    if not alive:
        seen = [timezone.localtime(pulse.seen_at) for pulse in pulses[:1]]
        last = f"; the last was seen at {seen[0]:%Y-%m-%d %H:%M:%S %Z}" if seen else ""
        raise Missing(f"no worker{last}")
    return f"{len(alive)} at work"


def _queue() -> str:
    waiting = [job.since for job in jobs.open_jobs() if not job.is_at_work]
    if not waiting:
        return "nothing waits"
    seconds = max(0, round((clock.now() - min(waiting)).total_seconds()))
    says = f"{len(waiting)} wait, the oldest for {seconds} s"
    if seconds > jobs.OVERDUE_AFTER.total_seconds():
        raise Missing(says)
    return says


_PROBES = {
    "database": _database,
    "migrations": _migrations,
    "broker": _broker,
    "workers": _workers,
    "queue": _queue,
    "disk": _disk,
}
PARTS = tuple(_PROBES)
_LAST: dict[str, _Asking] = {}
_LOCK = Lock()


def look(parts: Iterable[str] = PARTS, *, seconds: float = SECONDS) -> dict[str, Part]:
    deadline = monotonic() + seconds
    asked = {name: _asked(name) for name in parts}
    return {name: asking.answer(deadline) for name, asking in asked.items()}


def _asked(part: str) -> _Asking:
    """By one thread at a time: somebody else may have asked just now."""
    with _LOCK:
        last = _LAST.get(part)
        if last is None or not last.is_alive():
            last = _LAST[part] = _Asking(_PROBES[part])
            last.start()
        return last


def has_worker() -> bool:
    return WorkerPulse.objects.filter(seen_at__gt=Now() - SILENT_AFTER).exists()


def own_name() -> str:
    """Of this worker."""
    return f"{socket.gethostname()}:{os.getpid()}"


def pulse(name: str = "", *, now: datetime | None = None) -> None:
    """This worker is at work; those not seen for a day are forgotten.

    By the database's clock: those of several machines differ.
    """
    WorkerPulse.objects.update_or_create(
        name=name or own_name(),
        defaults={"seen_at": now or Now()},
        create_defaults={"seen_at": now or Now(), "started_at": now or Now()},
    )
    WorkerPulse.objects.filter(seen_at__lt=(now or Now()) - FORGOTTEN_AFTER).delete()


def begin(name: str) -> None:
    """A worker starts, perhaps under the name of an earlier one: in containers all have one."""
    pulse(name)
    WorkerPulse.objects.filter(pk=name).update(started_at=Now())


def beat(name: str) -> None:
    """The same, as one update: several times a minute it must cost next to nothing."""
    if not WorkerPulse.objects.filter(pk=name).update(seen_at=Now()):
        pulse(name)


def silent(seconds: float) -> list[str]:
    """Workers without a sign of life for so long.

    A sign from the future, of before a clock was set right, counts from now on.
    """
    ahead = WorkerPulse.objects.filter(seen_at__gt=Now() + timedelta(seconds=seconds))
    ahead.update(seen_at=Now())
    return list(
        WorkerPulse.objects.filter(seen_at__lt=Now() - timedelta(seconds=seconds)).values_list(
            "pk", flat=True
        )
    )
