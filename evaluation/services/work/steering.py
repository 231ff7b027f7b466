"""Pausing, resuming, cancelling, retrying and waking runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from evaluation.models import Answer, CaseRun, Judgement, Judging, Run, Work
from evaluation.services.language_models import budgets, endpoints
from evaluation.services.work import calling_off, leases
from labeling.core import events
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact


class BudgetRefused(RuleError, code="budget_refused"):
    """The budget is used up, or can't be enforced."""


class RunRefused(RuleError, code="run_refused"):
    """The run cannot be repeated that often, or is not in a state for this."""


MOST_CONCURRENCY = endpoints.MOST

FORMER = ("launch.broken_off", "run.judge_off_scale")
"""What runs of old versions failed or paused by."""

UNSCORED: Mapping[str, Any] = {
    "scored_at": None,
    "failure": None,
    "scoring_owner": None,
    "scoring_expires_at": None,
    "scored_cases": 0,
}


def pause(run: Run, *, by: Any) -> None:
    """Workers stop before their next case."""
    problem = Fact("run.cannot_pause")
    _steer(run, by, "run.paused", problem, paused=True, pause_reason=None)


def halt(run: Run, reason: Fact) -> None:
    """Pause it because it can't continue as it is; ``reason`` says what a person can do."""
    wanted = Run.objects.filter(pk=run.pk, paused=False, scored_at=None, cancelled=False)
    if wanted.update(paused=True, pause_reason=reason):
        record("run.paused", run, None, reason=reason.as_json())


def resume(
    run: Run, *, by: Any, budget_cost: float | None = None, budget_tokens: int | None = None
) -> None:
    """Let it continue, perhaps with a new budget. A used-up budget must be replaced."""
    budget = {"budget_cost": budget_cost, "budget_tokens": budget_tokens}
    changed = {name: value for name, value in budget.items() if value is not None}
    problem = budgets.problem_with(budget_cost, budget_tokens)
    if problem:
        raise BudgetRefused(problem, details={"run": run.pk})
    with transaction.atomic():
        wrong = Fact("run.cannot_resume")
        _steer(run, by, "run.resumed", wrong, paused=False, pause_reason=None, **changed)
        if budgets.used_up(run):
            raise BudgetRefused("run.budget_used_up", details={"run": run.pk})


@transaction.atomic
def cancel(run: Run, *, by: Any) -> None:
    """Workers stop before their next case and never continue; results so far are kept.

    When only answers and judgements are left, those are called off, and the run is scored. So is
    a run that has had figures before: what was to be tried again has failed as it had.
    """
    stored = (
        Run.objects.select_for_update(of=("self",))
        .select_related("release__project", "project")
        .get(pk=run.pk)
    )
    is_open = stored.scored_at is None and stored.failure is None and not stored.cancelled
    is_again = stored.first_scored_at is not None
    if is_open and (is_again or not stored.cases.unfinished().exists()):
        n_cases = calling_off.give_up_cases(stored)
        if calling_off.call_off(stored) or n_cases:
            Run.objects.filter(pk=run.pk).update(paused=False, pause_reason=None)
            record("run.retry_called_off" if n_cases else "run.answers_called_off", run, by)
            transaction.on_commit(lambda: wake(run.pk))
            return
        if is_again:
            raise RunRefused("run.nothing_to_cancel", details={"run": run.pk})
    problem = Fact("run.cannot_cancel")
    _steer(run, by, "run.cancelled", problem, cancelled=True)


@transaction.atomic
def rescore(run: Run, *, by: Any) -> None:
    """Compute all scores again from the stored outputs, without running the pipeline."""
    if leases.has_open_work(run.pk) or run.cancelled:
        raise RunRefused("run.cannot_rescore", details={"run": run.pk})
    Run.objects.filter(pk=run.pk).update(**UNSCORED)
    record("run.rescored", run, by)
    transaction.on_commit(lambda: wake(run.pk))


def reopen(run: Run, **fields: Any) -> None:
    """There is something more to do for a finished run; until it is done, it has no end again."""
    finished = Run.objects.filter(pk=run.pk, scored_at__isnull=False)
    going_on = {"paused": False, "pause_reason": None}  # it may have ended while it was paused
    if not finished.update(**UNSCORED, **going_on, **fields):
        raise RunRefused("run.unfinished", pk=run.pk, details={"run": run.pk})


@transaction.atomic
def retry(run: Run, *, by: Any) -> None:
    """Try again what failed, in the same run, and score it again when that is done.

    Nothing that is done is done again. Why a case had failed stays with it, and the run's history
    says how often somebody asked. A run that could not be executed at all begins where it stopped.
    """
    has_pipeline = run.spec.predictions is None and run.carried_from_id is None
    stored = Run.objects.select_for_update().only("failure", "cancelled").get(pk=run.pk)
    if stored.cancelled:
        raise RunRefused("run.cannot_retry", details={"run": run.pk})
    answers, judgements = failed_answers(run)
    counts = {
        "cases": _try_cases_again(run) if has_pipeline else 0,
        "answers": _try_again(answers),
        "judgements": _try_again(judgements),
    }
    calling_off.close_earlier(run, newest_judging(run))
    if not any(counts.values()) and stored.failure is None:
        problem = "run.nothing_failed" if has_pipeline else "run.no_pipeline_to_retry"
        raise RunRefused(problem, details={"run": run.pk})
    going_on = {"paused": False, "pause_reason": None}
    Run.objects.filter(pk=run.pk).update(**UNSCORED, **going_on)
    why = stored.failure.as_json() if stored.failure else None
    record("run.retried", run, by, **counts, failure=why)
    transaction.on_commit(lambda: wake(run.pk))


def failed_answers(run: Run) -> tuple[QuerySet[Answer], QuerySet[Judgement]]:
    """Answers and judgements that a retry takes up: what was called off stays so."""
    answers = Answer.objects.filter(case__run=run, state=Work.State.FAILED)
    judgements = Judgement.objects.filter(judging=newest_judging(run), state=Work.State.FAILED)
    return answers.exclude(error=calling_off.CALLED_OFF), judgements


def newest_judging(run: Run) -> Judging | None:
    return Judging.objects.filter(run=run, cancelled=False).order_by("-pk").first()


def _try_cases_again(run: Run) -> int:
    failed = run.cases.filter(state=Work.State.FAILED)
    rows = list(failed.defer("output", "usage").select_for_update(of=("self",)))
    for row in rows:
        row.earlier_failures = [
            *row.earlier_failures,
            {
                "error": row.error.as_json() if row.error else None,
                "error_class": row.error_class,
                "attempts": row.attempts,
                "at": row.finished_at.isoformat() if row.finished_at else None,
            },
        ]
    CaseRun.objects.bulk_update(rows, ["earlier_failures"], batch_size=500)
    return _try_again(run.cases.filter(pk__in=[row.pk for row in rows]))


def _try_again(rows: QuerySet[Any]) -> int:
    return rows.filter(state=Work.State.FAILED).update(
        state=Work.State.QUEUED,
        attempts=0,
        owner=None,
        lease_expires_at=None,
        error=None,
        error_class="",
        finished_at=None,
    )


CONTROLS: Mapping[str, Callable[..., None]] = {
    "pause": pause,
    "resume": resume,
    "cancel": cancel,
    "retry": retry,
    "rescore": rescore,
}


def control(run: Run, action: str, *, by: Any, **budget: Any) -> None:
    """One of ``CONTROLS``; only to resume takes a budget."""
    CONTROLS[action](run, by=by, **(budget if action == "resume" else {}))


def wake(run_id: int) -> None:
    """Workers may take it up; they look for runs by themselves, every second."""
    Run.objects.filter(pk=run_id).update(woken_at=timezone.now())


@transaction.atomic
def _steer(run: Run, by: Any, verb: str, problem: Fact, **fields: Any) -> None:
    open_runs = Run.objects.filter(pk=run.pk, scored_at=None, failure=None, cancelled=False)
    if not open_runs.update(**fields):
        raise RunRefused(problem, details={"run": run.pk})
    record(verb, run, by)
    if verb == "run.resumed":
        transaction.on_commit(lambda: wake(run.pk))


def record(verb: str, run: Run, actor: Any, **data: Any) -> None:
    events.record(verb, run, project=run.of_project, actor=actor, **data)
