"""Entry points of the queue. The database is the truth; a message only says where to look."""

from __future__ import annotations

from threading import Thread
from typing import Any
from uuid import uuid4

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown, worker_shutting_down
from django.conf import settings
from django.db import connections

from evaluation.services import memory_builds
from evaluation.services.language_models import replies
from evaluation.services.launch import suggestions
from evaluation.services.run import scoring, yardsticks
from evaluation.services.run.dispatching import Dispatcher
from evaluation.services.trials import trials
from evaluation.services.work import leases
from labeling.jobs import runner
from labeling.services import (
    health,
    outbox,
    pending,
    signing_in,
)
from labeling.services.alone import alone
from labeling.services.exchange import uploads
from labeling.services.gold import gold_requests
from labeling.services.turns import takes_long, turns
from labeling.services.work import assignments, check_requests


@shared_task(ignore_result=True)
@takes_long
def suggest(request_id: int) -> None:
    runner.run(suggestions.work, request_id, uuid4())


@shared_task(ignore_result=True)
@takes_long
def try_pipeline(trial_id: int) -> None:
    runner.run(trials.work, trial_id, uuid4())


@shared_task(ignore_result=True)
@takes_long
def build_layers(build_id: int) -> None:
    runner.run(memory_builds.work, build_id, uuid4())


@shared_task(ignore_result=True)
@takes_long
def measure_floors(release_id: int) -> None:
    with alone("floors") as mine:  # or those of two releases would keep a freeze waiting
        if mine:
            yardsticks.measure_release(release_id)
            scoring.add_floors(release_id)
    if mine:
        yardsticks.wake_unattended()


_dispatchers: list[Dispatcher] = []


@worker_ready.connect
def is_there(sender: Any, **kwargs: Any) -> None:
    """Runs are taken up by separate threads, so that they wait for no other job."""
    turns.limit(sender.controller.concurrency)
    if not _dispatchers:
        _dispatchers.append(Dispatcher(turns.at_most))
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
    memory_builds.wake_unattended()
    suggestions.wake_unattended()
    trials.wake_unattended()
    trials.forget()
    yardsticks.wake_unattended()
    pending.wake_unattended()
    gold_requests.wake_unattended()
    check_requests.wake_unattended()
    outbox.wake_unattended()
    uploads.sweep()
