"""How background work stands: for a page and the API."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, Q

from labeling.core import clock
from labeling.jobs import jobs
from labeling.jobs.jobs import Failure, Job
from labeling.models import WorkerPulse
from labeling.operation import health


@dataclass(frozen=True, slots=True)
class Status:
    """``workers`` are all of the server: any of them may take up any work."""

    at: datetime
    jobs: list[Job]
    failures: list[Failure]
    workers: list[Any]

    @property
    def alive(self) -> int:
        return sum(worker.is_alive for worker in self.workers)

    @property
    def last_seen(self) -> datetime | None:
        return max((worker.seen_at for worker in self.workers), default=None)

    @property
    def at_work(self) -> list[Job]:
        return [job for job in self.jobs if job.is_at_work]

    @property
    def waiting(self) -> list[Job]:
        return [job for job in self.jobs if not job.is_at_work]

    @property
    def waiting_since(self) -> datetime | None:
        return min((job.since for job in self.waiting), default=None)


def now() -> Status:
    return Status(clock.now(), jobs.open_jobs(), jobs.failures(), _workers())


def _workers() -> list[Any]:
    """Those seen within a day; ``is_alive``: lately."""
    alive = Q(seen_at__gt=clock.now() - health.SILENT_AFTER)
    is_alive = ExpressionWrapper(alive, output_field=BooleanField())
    return list(WorkerPulse.objects.annotate(is_alive=is_alive).order_by("-seen_at"))
