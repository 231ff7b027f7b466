"""Who is at which job: a row, taken by one conditional update and kept by renewing it.

Whoever died stops renewing, and another takes over; at once, where its worker is known to be gone.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from math import inf
from threading import Event, Thread
from time import monotonic
from uuid import UUID, uuid4

from celery import current_app
from django.conf import settings
from django.db import DatabaseError, connections, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from labeling.jobs import runner
from labeling.jobs.models import FREE
from labeling.jobs.runner import Lease
from labeling.models import Job

logger = logging.getLogger(__name__)

CANDIDATES = 5


def expiry() -> CombinedExpression:
    """By the database's clock, which all workers share."""
    return Now() + timedelta(seconds=settings.CASE_LEASE_SECONDS)


def ask(kind: str, key: int, *, after: float = 0) -> None:
    """Have a worker do it, once the current transaction is committed.

    What is lost in between is found by the next sweep (``tasks.find``).
    """
    transaction.on_commit(partial(_put, kind, key, after), robust=True)


def _put(kind: str, key: int, after: float) -> None:
    if Job.objects.filter(kind=kind, key=key).order_by().exists():
        return
    not_before = Now() + timedelta(seconds=after) if after else None
    _, is_new = Job.objects.get_or_create(
        kind=kind, key=key, defaults={"lease_expires_at": not_before}
    )
    if is_new and not after:
        wake()


def wake() -> None:
    """Workers look by themselves, too: a message that is lost costs less than a second."""
    try:
        current_app.send_task("labeling.tasks.look")
    except Exception as error:  # of any kind from the broker's client: the work itself is stored
        logger.warning("No queue: workers look later. %s: %s", type(error).__name__, error)


@dataclass(frozen=True, slots=True)
class JobLease:
    """A job in the hands of ``owner``."""

    kind: str
    key: int
    owner: UUID

    @property
    def _row(self) -> QuerySet[Job]:
        return Job.objects.filter(kind=self.kind, key=self.key, owner=self.owner)

    @property
    def attempts(self) -> int:
        return self._row.values_list("attempts", flat=True).first() or 0

    def renew(self) -> bool:
        return self._row.update(lease_expires_at=expiry()) == 1

    def give_back(self) -> None:
        self._row.update(owner=None, worker=None, lease_expires_at=None)

    def abandon(self) -> None:
        self.put_off(0)

    def end_late(self) -> None:
        """What took too long may say so in its own rows."""
        self.give_back()

    def put_off(self, seconds: float) -> None:
        """It has failed: others may try after so long, and the attempt counts."""
        until = Now() + timedelta(seconds=seconds)
        self._row.update(
            owner=None, worker=None, lease_expires_at=until, attempts=F("attempts") + 1
        )

    def finish(self) -> None:
        self._row.delete()


def take(kinds: Collection[str], worker: str) -> JobLease | None:
    """The job that has waited longest, for a thread of this worker."""
    free = Job.objects.free().filter(kind__in=kinds)
    for job in free[:CANDIDATES]:
        owner, same = uuid4(), Job.objects.free().filter(pk=job.pk)
        if same.update(owner=owner, worker=worker, lease_expires_at=expiry()):
            return JobLease(job.kind, job.key, owner)
    return None


def claim(kind: str, key: int, owner: UUID) -> JobLease | None:
    """This job, whether anybody asked a worker for it or not; None: somebody else is at it."""
    Job.objects.get_or_create(kind=kind, key=key)
    taken = Job.objects.filter(FREE | Q(owner=owner), kind=kind, key=key)
    if not taken.update(owner=owner, lease_expires_at=expiry()):
        return None
    return JobLease(kind, key, owner)


@contextmanager
def held(kind: str, key: int) -> Iterator[bool]:
    """For a block of this process; False: somebody else is at it."""
    lease = claim(kind, key, uuid4())
    if lease is None:
        yield False
        return
    try:
        with KeepAlive(lease, seconds=inf):
            yield True
    finally:
        lease.finish()


def held_until() -> dict[tuple[str, int], datetime]:
    """When the leases of those end that somebody is or was at, by kind and key."""
    rows = Job.objects.filter(owner__isnull=False)
    return {(job.kind, job.key): job.lease_expires_at for job in rows if job.lease_expires_at}


def bury(workers: Collection[str]) -> None:
    """These workers are gone: what they held is free at once, and the attempt counts."""
    Job.objects.filter(worker__in=workers).update(
        owner=None, worker=None, lease_expires_at=None, attempts=F("attempts") + 1
    )


class KeepAlive:
    """Renews a lease while the block runs, by default up to the limit of a case.

    The limit is what frees a case whose pipeline hangs. In a child process the thread that watches
    it renews the lease and ends the process at the limit; elsewhere a thread of this process
    renews it until the limit.
    """

    def __init__(self, lease: Lease, *, seconds: float | None = None) -> None:
        self._lease = lease
        self._seconds = settings.CASE_TIMEOUT_SECONDS if seconds is None else seconds
        self._done = Event()
        self._interval = settings.CASE_LEASE_SECONDS / 3
        self._thread: Thread | None = None

    def __enter__(self) -> None:
        if runner.is_watched():
            runner.hold(self._lease, self._seconds)
        else:
            self._thread = Thread(target=self._repeat, name="lease", daemon=True)
            self._thread.start()

    def __exit__(self, *error: object) -> None:
        if self._thread is None:
            runner.release(self._lease)
        else:
            self._done.set()
            self._thread.join()

    def _repeat(self) -> None:
        end = monotonic() + self._seconds
        try:
            while not self._done.wait(self._interval) and monotonic() < end:
                try:
                    if not self._lease.renew():
                        return
                except DatabaseError:  # busy or away for a moment; the lease lasts two more tries
                    connections.close_all()
        finally:
            connections.close_all()  # those of this thread
