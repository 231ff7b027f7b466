"""What changes on the page of a run while it runs: one light request brings all of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.timesince import timeuntil
from django.views.decorators.http import require_GET

from evaluation.models import Run
from evaluation.services import job_kinds
from evaluation.services.language_models import bills, budgets
from evaluation.services.run import baselines
from evaluation.services.run.pace import per_second
from evaluation.services.work import steering
from evaluation.templatetags import present
from evaluation.views.answers import answers_progress
from evaluation.views.opening import any_run, opened
from evaluation.views.run_cases import table_of
from labeling.core import clock
from labeling.operation import health
from labeling.templatetags.figures import percent
from pipelines.registry import PIPELINES

PATIENCE = timedelta(seconds=60)
ENDED = {Run.Status.FINISHED, Run.Status.CANCELLED, Run.Status.FAILED}


@require_GET
def run_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Header, progress and, if they are in sight, the rows of cases."""
    run = any_run(request, pk)
    context = progress_of(run)
    if request.GET.get("tab") == "cases":
        opened(request.user, run)
        context |= table_of(request, run, total=context["n_cases"]) | {"tab": "cases"}
    return render(request, "evaluation/_live.html", context)


def progress_of(run: Run) -> dict[str, Any]:
    """The state of a run, and while it runs what it is at. Needs ``with_progress()``."""
    counts: Any = run
    n_finished = counts.n_done + counts.n_failed
    is_over = run.status in ENDED
    context: dict[str, Any] = {
        **answers_progress(run),
        "run": run,
        "n_cases": counts.n_cases,
        "badge": present.color(run.status),
        "ended": is_over,
        "n_finished": n_finished,
        "percent": percent(n_finished, counts.n_cases),
        "can_rescore": run.is_measured and n_finished == counts.n_cases and not run.cancelled,
        "can_retry": bool(
            not run.cancelled
            and (
                run.failure or (counts.n_failed and _has_pipeline(run)) or _has_failed_answers(run)
            )
        ),
        "figures_before": run.scored_at is None and run.first_scored_at is not None,
        "can_repeat": run.is_measured and _has_pipeline(run),
        "is_baseline": is_over and run.is_measured and baselines.choice_of(run) is not None,
        "waits": not is_over and _waits_long(run),
        "has_no_worker": run.status == Run.Status.QUEUED and not health.has_worker(),
        "prepares": run.status == Run.Status.RUNNING and not n_finished and _prepares(run),
        "only_answers": n_finished == counts.n_cases and run.spec.has_answers,
    }
    if run.status != Run.Status.FINISHED:
        context |= _at_work(run, left=counts.n_cases - n_finished)
    return context


def _waits_long(run: Run) -> bool:
    """Workers that live look for waiting runs far more often."""
    since = job_kinds.waiting_since(run)
    return since is not None and clock.now() - since > PATIENCE


def _at_work(run: Run, *, left: int) -> dict[str, Any]:
    pace, now = per_second(run), timezone.now()
    rate = pace and number_format(f"{60 * pace:z.1f}", 1, force_grouping=True)
    ends = now + timedelta(seconds=left / pace) if pace else None
    return {
        "is_going": run.status == Run.Status.RUNNING,
        "rate": rate,
        "time_left": timeuntil(ends, now) if left and ends else "",
        **_spending(run),
    }


def _spending(run: Run) -> dict[str, Any]:
    """Nothing of a run that uses no language model."""
    if not run.spec.model:
        return {}
    return {"spending": bills.usage(budgets.spent(run.pk)), "spending_limit": bills.budget(run)}


def _has_pipeline(run: Run) -> bool:
    """Predictions from elsewhere, and outputs carried from another run, were not made here."""
    return run.spec.predictions is None and run.carried_from_id is None


def _has_failed_answers(run: Run) -> bool:
    return run.spec.has_answers and any(rows.exists() for rows in steering.failed_answers(run))


def _prepares(run: Run) -> bool:
    entry = PIPELINES.get(run.pipeline)
    return entry is not None and entry.prepares
