"""How background work stands, of the whole server or of some projects: for a page and the API."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from labeling.core import clock
from labeling.jobs import jobs
from labeling.jobs.jobs import Failure, Job, Scope
from labeling.models import WorkerPulse
from labeling.operation import health


class Worker(NamedTuple):
    name: str
    started_at: datetime
    seen_at: datetime
    is_alive: bool


@dataclass(frozen=True, slots=True)
class Status:
    """``workers`` are all of the server: any of them may take up any work."""

    at: datetime
    jobs: list[Job]
    failures: list[Failure]
    workers: list[Worker]

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


def of(scope: Scope) -> Status:
    open_jobs = jobs.open_jobs(scope)
    return Status(clock.now(), open_jobs, jobs.failures(scope), _workers())


def _workers() -> list[Worker]:
    """Those seen within a day."""
    now = clock.now()
    return [
        Worker(
            pulse.name,
            pulse.started_at,
            pulse.seen_at,
            now - pulse.seen_at < health.SILENT_AFTER,
        )
        for pulse in WorkerPulse.objects.order_by("-seen_at")
    ]
