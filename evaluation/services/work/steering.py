"""Pausing, resuming, cancelling and waking runs that are under way."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from evaluation.models import Answer, Judgement, Judging, Run
from evaluation.services.language_models import budgets
from evaluation.services.work import attendance, leases
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.services import events, wakeups

RESEND_SECONDS = 30  # a message may be on its way that long before another is sent


class BudgetRefused(RuleError):
    """The budget is used up, or can't be enforced."""

    code = "budget_refused"


class RunRefused(RuleError):
    """The run cannot be repeated that often, or is not in a state for this."""

    code = "run_refused"


UNSCORED: Mapping[str, None] = {
    "scored_at": None,
    "failure": None,
    "scoring_owner": None,
    "scoring_expires_at": None,
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


def cancel(run: Run, *, by: Any) -> None:
    """Workers stop before their next case and never continue; results so far are kept.

    When only answers and judgements are left, those are called off, and the run is scored.
    """
    if not run.cases.unfinished().exists() and run.scored_at is None:
        with transaction.atomic():
            if call_off(run):
                Run.objects.filter(pk=run.pk).update(paused=False, pause_reason=None)
                record("run.answers_called_off", run, by)
                transaction.on_commit(lambda: wake(run.pk))
                return
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


CONTROLS = {"pause": pause, "resume": resume, "cancel": cancel, "rescore": rescore}


def wake(run_id: int) -> None:
    """Tell a worker that there is work. A lost message does no harm: the sweep sends another."""
    Run.objects.filter(pk=run_id).update(woken_at=timezone.now())
    wakeups.wake("evaluation.tasks.work_on", run_id)


def wake_unattended() -> list[int]:
    """Tell workers of every run that has work to do and that nobody holds."""
    return [run_id for run_id in attendance.unattended() if _wake_once(run_id)]


def _wake_once(run_id: int) -> bool:
    """False if it was done a moment ago, perhaps by the sweep of another worker."""
    before = timezone.now() - timedelta(seconds=RESEND_SECONDS)
    recently = Run.objects.filter(pk=run_id, woken_at__gt=before)
    if recently.exists():
        return False
    wake(run_id)
    return True


@transaction.atomic
def _steer(run: Run, by: Any, verb: str, problem: Fact, **fields: Any) -> None:
    open_runs = Run.objects.filter(pk=run.pk, scored_at=None, failure=None, cancelled=False)
    if not open_runs.update(**fields):
        raise RunRefused(problem, details={"run": run.pk})
    record(verb, run, by)
    if verb == "run.resumed":
        transaction.on_commit(lambda: wake(run.pk))


def record(verb: str, run: Run, actor: Any, **data: Any) -> None:
    events.record(verb, run, project=run.release.project, actor=actor, **data)


def call_off(run: Run) -> bool:
    """Give up what is not written or judged yet; True if there was anything."""
    left = Answer.objects.wanted().filter(case__run=run)
    wanted = Judgement.objects.wanted().filter(judging__run=run)
    judged = Judging.objects.filter(pk__in=list(wanted.values_list("judging", flat=True)))
    n_judgings = judged.update(cancelled=True)
    n_answers = left.update(
        state=Answer.State.FAILED,
        error=Fact("answer.called_off"),
        error_class=Answer.ErrorClass.PERMANENT,
        owner=None,
        lease_expires_at=None,
        finished_at=timezone.now(),
    )
    return bool(n_judgings or n_answers)
