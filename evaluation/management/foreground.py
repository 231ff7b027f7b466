"""Working through a run in the foreground of a command, with a progress bar."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import DatabaseError, connections
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from evaluation.models import Run
from evaluation.services.run import execution
from evaluation.services.work import slots
from evaluation.services.work.attendance import OPEN
from labeling.jobs import runner
from labeling.words import in_english

WAIT_SECONDS = 1.0  # for work that another worker holds, or that waits for another attempt
COUNTING_SECONDS = 2.0


def reload(run_id: int) -> Run:
    return Run.objects.with_progress().select_related("release").get(pk=run_id)


def work_until_done(run_id: int, show: Callable[[], None]) -> None:
    while True:
        runner.run(_work, run_id, uuid4(), progress=show)
        if reload(run_id).status not in OPEN:
            return
        time.sleep(WAIT_SECONDS)


def _work(run_id: int, owner: UUID, *, progress: Callable[[], None]) -> None:
    """As many cases at a time as the run allows, where a language model is asked: that is waiting;
    what computes here uses the processors by itself."""
    run = Run.objects.get(pk=run_id)
    in_threads = settings.CASE_PROCESSES and slots.asks_model(run)
    at_once = run.concurrency if in_threads else 1
    execution.work(run_id, owner, progress=progress, at_once=at_once)


@contextmanager
def kept(run_ids: Collection[int]) -> Iterator[None]:
    """No worker takes these runs away while the block works on them or gets to them."""
    done = Event()
    slots.keep_for_command(run_ids)
    thread = Thread(target=_keep, args=(run_ids, done), name="keep", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        slots.leave_to_workers(run_ids)


def _keep(run_ids: Collection[int], done: Event) -> None:
    try:
        while not done.wait(slots.COMMAND_SECONDS / 4):
            try:
                slots.keep_for_command(run_ids)
            except DatabaseError:  # busy or away for a moment: it is said three more times
                connections.close_all()
    finally:
        connections.close_all()


def bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )


@contextmanager
def progress_bar(run_id: int) -> Iterator[Callable[[], None]]:
    """Shows the rows' own counts, so that cases done by other workers count too. Not after each
    case: a count reads every case of the run."""
    with bar() as shown:
        task = shown.add_task(f"Run {run_id}", total=None)
        counted = -COUNTING_SECONDS

        def show() -> None:
            nonlocal counted
            if time.monotonic() - counted >= COUNTING_SECONDS:
                run: Any = reload(run_id)
                shown.update(task, total=run.n_cases, completed=run.n_done + run.n_failed)
                counted = time.monotonic()

        show()
        yield show


def why_not_measurable(run: Run) -> str:
    counts: Any = run
    if run.failure:
        return in_english(run.failure)
    if run.status == Run.Status.PAUSED and run.pause_reason:
        why = in_english(run.pause_reason)
        budget = " --budget MONEY" if run.budget_cost is not None else ""
        budget = budget or (" --budget-tokens N" if run.budget_tokens is not None else "")
        go_on = f"assay evaluate --resume {run.pk}{budget}"
        return f"Run {run.pk} is paused. {why} Go on with: {go_on}"
    if run.status != Run.Status.FINISHED:
        return f"Run {run.pk} is {run.status}; continue with: assay evaluate --resume {run.pk}"
    if counts.n_done == 0:
        case = run.cases.only("error").first()
        why = in_english(case.error) if case and case.error else ""
        return f"The pipeline failed on every case. {why}"
    return ""
