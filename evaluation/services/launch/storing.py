"""Storing a new run with its cases, so that those who write meanwhile hardly wait."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter, sleep

from django.db import connection, transaction

from evaluation import judge
from evaluation.models import CaseRun, Judging, Run
from evaluation.services import looks, rows
from evaluation.services.judging import answers
from evaluation.services.work import steering
from labeling.models import GoldItem

AT_ONCE = 500
"""Cases of the first transaction, which stores what is to be answered and judged of them, too."""
PART_SECONDS = 0.06
"""How long a transaction may take: the next part has as many cases as fit into it."""
PAUSE_SECONDS = 0.12
"""Between two of them on SQLite: those who wait try again every 0.1 s, and would never be first."""
VARYING = ("item", "part", "part_id", "repetition")
"""By what the open cases of a run differ."""


def store(
    run: Run,
    cases: list[CaseRun],
    items: list[GoldItem],
    judge_prompts: Mapping[str, str],
    *,
    queue: bool,
    cloned_from: int | None = None,
) -> None:
    """Keep a new run with its cases, and what there is to answer of them.

    Many cases are stored a part at a time. Until all are there the run is a failed one, whose
    launch broke off, as it truly would be if this process ended now. It is a look at its test
    items from the first part on: no case is ever stored without it.
    """
    run.failure = steering.BROKEN_OFF if len(cases) > AT_ONCE else None
    keeper = _Keeper(run, items, judge_prompts)
    begin, size = 0, AT_ONCE
    while len(cases) - begin > size:
        started = perf_counter()
        with transaction.atomic():
            keeper.store(cases[begin : begin + size])
        begin, size = begin + size, _next_size(size, perf_counter() - started)
        let_others_write()
    with transaction.atomic():
        keeper.store(cases[begin:])
        run.failure = None
        Run.objects.filter(pk=run.pk).update(failure=None)
        details = {"pipeline": run.pipeline, "gold": str(run.release)}
        if cloned_from is not None:
            details["cloned_from"] = str(cloned_from)
        steering.record("run.launched", run, run.requested_by, **details)
        if queue:
            transaction.on_commit(lambda: steering.wake(run.pk))


def let_others_write() -> None:
    if connection.vendor == "sqlite":
        sleep(PAUSE_SECONDS)


def _next_size(size: int, seconds: float) -> int:
    """At most doubled, so that one quick part does not make the next a long one."""
    return max(1, min(2 * size, round(size * PART_SECONDS / max(seconds, 0.001))))


class _Keeper:
    """Stores the parts of one run, one after the other."""

    def __init__(self, run: Run, items: list[GoldItem], judge_prompts: Mapping[str, str]) -> None:
        self._run = run
        self._items = items
        self._judge_prompts = judge_prompts
        self._judging: Judging | None = None

    def store(self, part: list[CaseRun]) -> None:
        run = self._run
        if run.pk is None:
            run.save()
            looks.record_launch(run, self._items)
        if run.spec.answers is None and run.spec.predictions is None:
            part[0].run = run  # which had no key when they were made
            rows.insert(part, varying=VARYING)
            return
        stored = CaseRun.objects.bulk_create(part, batch_size=500)
        if run.spec.answers is None:
            return
        if run.spec.answers.elsewhere:
            answers.take_over(run, stored)
            return
        self._judging = self._judging or answers.prepare_judging(
            run, judge.prompts(self._judge_prompts), by=run.requested_by
        )
        answers.prepare(self._judging, stored)
