"""What workers can do, how they find it, and how they do it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from threading import Event
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist

from labeling.jobs import queue, runner
from labeling.jobs.queue import JobLease, KeepAlive
from labeling.models import Job

logger = logging.getLogger(__name__)

AGAIN_SECONDS = 60
"""Until the next try after something went wrong that its own rows do not explain."""


@dataclass(frozen=True, slots=True)
class Task:
    """``work`` is given the key and its holder; repeating it does what is left to do.

    ``due`` reads from the rows what there is to do, whatever became of who asked for it.
    ``is_quick``: done in a moment, so a thread is kept for it that nothing long ever has.
    ``is_apart``: in a child process. ``flows``: more may come in while somebody is at it.
    """

    kind: str
    work: Callable[[int, UUID], object]
    due: Callable[[], Iterable[int]] = tuple
    is_quick: bool = False
    is_apart: bool = False
    flows: bool = False


_TASKS: dict[str, Task] = {}

bell = Event()
"""Rung where a message says that there is something to do."""


def register(*tasks: Task) -> None:
    _TASKS.update({task.kind: task for task in tasks})


def kinds(*, quick: bool) -> list[str]:
    """All, or the quick ones alone."""
    return [task.kind for task in _TASKS.values() if task.is_quick or not quick]


def find() -> None:
    """Put down what is due and that nobody has asked for: who did died before, or it is time."""
    known = set(Job.objects.order_by().values_list("kind", "key"))
    due = {(task.kind, key) for task in _TASKS.values() for key in task.due()}
    missing = [Job(kind=kind, key=key) for kind, key in sorted(due - known)]
    if missing:
        Job.objects.bulk_create(missing, ignore_conflicts=True)


def carry_out(lease: JobLease) -> None:
    task = _TASKS[lease.kind]
    try:
        with KeepAlive(lease, seconds=inf):
            if task.is_apart:
                runner.run(task.work, lease.key, lease.owner)
            else:
                task.work(lease.key, lease.owner)
    except ObjectDoesNotExist as error:
        logger.info("%s %s is gone: %s", lease.kind, lease.key, error)
    except Exception:  # of any kind: it is tried again, and the worker goes on
        logger.exception("%s %s failed; it is tried again.", lease.kind, lease.key)
        lease.put_off(AGAIN_SECONDS)
        return
    if runner.children.is_stopped:
        lease.give_back()
        return
    lease.finish()
    if task.flows and lease.key in task.due():
        queue.ask(lease.kind, lease.key)
