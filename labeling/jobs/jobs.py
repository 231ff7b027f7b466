"""Background work of all kinds: what waits for a worker, what is under way, and what failed.

Each part of the product registers its kinds. Everything is read from the rows that hold
the work, so it is right whatever became of messages and workers; queries don't grow with projects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.utils import timezone

from labeling.core import clock
from labeling.domain.facts import Fact
from labeling.jobs import queue
from labeling.models import Project

OVERDUE_AFTER = timedelta(minutes=10)
"""Work that waits longer has no worker, or far too few."""

MOST = 50
"""Rows of one list on a page; its number says how many there are."""

FAILURES, FAILED_WITHIN = 20, timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do. ``since`` is when it began to wait, or was last taken up."""

    kind: str
    key: int
    since: datetime
    is_at_work: bool
    project: Project | None = None
    title: str = ""
    url: str = ""
    workers: tuple[str, ...] = ()
    """Those at work on it, where that is known."""
    done: int | None = None
    total: int | None = None
    held_as: int | None = None
    """The key of its row among ``labeling.models.Job``, where it is another; 0: it has none."""

    def held(self, until: Mapping[tuple[str, int], datetime]) -> Job:
        end = until.get((self.kind, self.key if self.held_as is None else self.held_as))
        if end is None:
            return self
        return replace(self, is_at_work=is_held(end))


@dataclass(frozen=True, slots=True)
class Failure:
    kind: str
    key: int
    at: datetime
    why: Fact
    project: Project | None = None
    title: str = ""
    url: str = ""


def is_held(lease_expires_at: datetime | None) -> bool:
    return lease_expires_at is not None and lease_expires_at > clock.now()


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    jobs: Callable[[], Iterable[Job]]
    failures: Callable[[datetime], Iterable[Failure]] = lambda since: ()


_KINDS: dict[str, Kind] = {}


def register(*kinds: Kind) -> None:
    _KINDS.update({kind.name: kind for kind in kinds})


def kinds() -> list[str]:
    return list(_KINDS)


def open_jobs() -> list[Job]:
    """What waits, the oldest first, after what is at work."""
    until = queue.held_until()
    jobs = [job.held(until) for kind in _KINDS.values() for job in kind.jobs()]
    return sorted(jobs, key=lambda job: (not job.is_at_work, job.since, job.kind, job.key))


def failures() -> list[Failure]:
    """The newest first."""
    since = timezone.now() - FAILED_WITHIN
    rows = [failure for kind in _KINDS.values() for failure in kind.failures(since)]
    return sorted(rows, key=lambda failure: failure.at, reverse=True)[:FAILURES]
