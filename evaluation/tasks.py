"""Entry points of the queue. The database is the truth; a message only says where to look."""

from __future__ import annotations

from threading import Thread
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown, worker_shutting_down
from django.conf import settings
from django.db import connections

from evaluation.services.language_models import replies
from evaluation.services.run import yardsticks
from evaluation.services.run.dispatching import Dispatcher
from evaluation.services.unmeasured import launching
from evaluation.services.work import leases
from labeling.accounts import signing_in
from labeling.conversations import uploads
from labeling.jobs import runner, tasks
from labeling.jobs.tasks import Task
from labeling.operation import health
from labeling.work import assignments


def measure_floors(*_: object) -> None:
    release = yardsticks.newest_unmeasured()
    if release is not None:
        yardsticks.measure_release(release)


tasks.register(Task("floors", measure_floors, yardsticks.due))

_dispatchers: list[Dispatcher] = []


@worker_ready.connect
def is_there(sender: Any, **kwargs: Any) -> None:
    """A thread less than it may have is for what takes long: see ``Dispatcher``."""
    if not _dispatchers:
        _dispatchers.append(Dispatcher(max(1, sender.controller.concurrency - 1)))
        _dispatchers[0].start()
        if settings.LLM_MODEL or settings.JUDGE_MODEL:  # what asks it takes a second to import
            Thread(target=runner.warm_up, name="warm-up", daemon=True).start()
    connections.close_all()


@worker_shutting_down.connect
def break_off(**kwargs: Any) -> None:
    """Current work is released at once; another worker, or this one later, continues."""
    runner.children.stop()


@worker_shutdown.connect
def has_ended(**kwargs: Any) -> None:
    for dispatcher in _dispatchers:
        dispatcher.stop()


@shared_task(ignore_result=True)
def sweep() -> None:
    """Called by every worker every few seconds, so that nothing waits for a lost message."""
    runner.children.end_idle()
    health.pulse()
    signing_in.forget()
    replies.sweep()
    leases.cap()
    assignments.cap_leases()
    launching.forget()
    tasks.find()
    uploads.sweep()
