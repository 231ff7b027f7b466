"""Launching and steering runs. A worker does the work: see ``execution``."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from evaluation import adapters
from evaluation.layers import gold_layer
from evaluation.models import CaseRun, Run, SplitAccess
from evaluation.services import attendance
from evaluation.services.judging import answers
from evaluation.services.language_models import budgets, endpoints
from evaluation.services.launch import spec
from evaluation.services.run import leases
from labeling.domain.errors import RuleError
from labeling.domain.reasons import reason_in
from labeling.domain.sentences import noted, say
from labeling.models import Conversation, GoldItem, GoldRelease
from labeling.services import events, wakeups
from pipelines.errors import PipelineError
from pipelines.registry import PIPELINES, Entry, check_config, entry_for

MAX_SEED = 2**31 - 1  # what the column holds
LONGEST_NAME = 200
RESEND_SECONDS = 30  # a message may be on its way that long before another is sent


class PipelineRefused(RuleError):
    """The pipeline does not exist, does not serve the layer, or a setting is wrong."""

    code = "pipeline_refused"


class SplitRefused(RuleError):
    """The split does not exist, is empty, or was asked for without a reason."""

    code = "split_refused"


class BudgetRefused(RuleError):
    """The budget is used up, or cannot be held to."""

    code = "budget_refused"


class RunRefused(RuleError):
    """The run cannot be repeated that often, or is not in a state for this."""

    code = "run_refused"


UNSCORED: dict[str, Any] = {
    "scored_at": None,
    "failure": "",
    "scoring_owner": None,
    "scoring_expires_at": None,
}


def launch(
    release: GoldRelease,
    *,
    pipeline: str,
    config: dict[str, Any] | None = None,
    split: str = "",
    reason: str = "",
    repetitions: int = 1,
    seed: int = 0,
    name: str = "",
    metrics: dict[str, Any] | None = None,
    thresholds: dict[str, float] | None = None,
    size: int | None = None,
    described: dict[str, Any] | None = None,
    evaluate_answers: bool = False,
    budget_cost: float | None = None,
    budget_tokens: int | None = None,
    requested_by: Any = None,
    queue: bool = True,
) -> Run:
    """Create the run with all its cases, and tell a worker (unless the caller works itself).

    ``size`` takes only the first so many items, ``thresholds`` stand in its gate above the
    project's, and ``described`` says in its specification how it came to be launched.
    """
    entry, config = checked_pipeline(pipeline, config or {}, release.layer)
    run = Run(
        release=release,
        pipeline=entry.name,
        config=config,
        split=split,
        reason=reason_in(reason),
        repetitions=repetitions,
        seed=seed,
        name=name.strip(),
        budget_cost=budget_cost,
        budget_tokens=budget_tokens,
        requested_by=requested_by,
    )
    asked = _asked_models(run, entry, with_answers=evaluate_answers)
    check_fields(run)
    items = selected_items(run)[:size]
    told = spec.describe(run, metrics) | asked | _given(thresholds=thresholds, size=size)
    run.spec, run.config_sha256 = (described or {}) | told, told["config_sha256"]
    store(run, open_cases(run, items), items, queue=queue)
    return run


def _asked_models(run: Run, entry: Entry, *, with_answers: bool) -> dict[str, Any]:
    """What the run writes down of language models, where it may ask those that it needs."""
    if with_answers:
        answers.check(run.release.layer)
    with_model = with_answers or endpoints.uses_model(entry, run.config)
    check_model(entry, with_model, run.budget_cost, run.budget_tokens, judging=with_answers)
    model = {"model": endpoints.describe() if with_model else None}
    return model | ({"answers": answers.describe()} if with_answers else {})


def _given(**options: Any) -> dict[str, Any]:
    """Those that were not left out."""
    return {name: value for name, value in options.items() if value is not None}


@transaction.atomic
def store(run: Run, cases: list[CaseRun], items: list[GoldItem], *, queue: bool) -> None:
    """Keep a new run with its cases, and what there is to answer of them."""
    run.save()
    stored = CaseRun.objects.bulk_create(cases, batch_size=500)
    if "answers" in run.spec:
        answers.prepare(run, stored)
    _note_test_access(run, items)
    _record("run.launched", run, run.requested_by, pipeline=run.pipeline, gold=str(run.release))
    if queue:
        transaction.on_commit(lambda: wake(run.pk))


def estimate(
    release: GoldRelease,
    *,
    pipeline: str,
    config: dict[str, Any] | None = None,
    split: str = "",
    repetitions: int = 1,
    evaluate_answers: bool = False,
    size: int | None = None,
) -> budgets.Estimate | None:
    """What language models will probably cost; None if the pipeline, so set, asks none."""
    entry, config = checked_pipeline(pipeline, config or {}, release.layer)
    found = None
    if endpoints.uses_model(entry, config):
        endpoints.require(say("Pipeline “{name}” with these settings", name=entry.name))
        found = budgets.estimate(
            release,
            pipeline=entry.name,
            config=config,
            split=split,
            repetitions=repetitions,
            size=size,
        )
    if not evaluate_answers:
        return found
    answers.check(release.layer)
    asked = budgets.estimate_answers(release, split=split, repetitions=repetitions, size=size)
    return asked + found if found else asked


def pause(run: Run, *, by: Any) -> None:
    """Workers stop before their next case."""
    problem = noted("Only a run that is not finished can be paused.")
    _steer(run, by, "run.paused", problem, paused=True, pause_reason="")


def halt(run: Run, reason: str) -> None:
    """Pause it because it cannot go on as it is; ``reason`` says what a person can do."""
    wanted = Run.objects.filter(pk=run.pk, paused=False, scored_at=None, cancelled=False)
    if wanted.update(paused=True, pause_reason=reason):
        _record("run.paused", run, None, reason=reason)


def resume(
    run: Run, *, by: Any, budget_cost: float | None = None, budget_tokens: int | None = None
) -> None:
    """Let it go on, perhaps with a new budget. One that is used up has to be replaced."""
    changed = _given(budget_cost=budget_cost, budget_tokens=budget_tokens)
    problem = budgets.problem_with(budget_cost, budget_tokens)
    if problem:
        raise BudgetRefused(problem, details={"run": run.pk})
    with transaction.atomic():
        wrong = noted("Only a run that is not finished can go on.")
        _steer(run, by, "run.resumed", wrong, paused=False, pause_reason="", **changed)
        if budgets.used_up(run):
            raise BudgetRefused("The budget is used up: give a larger one.", run=run.pk)


def cancel(run: Run, *, by: Any) -> None:
    """Workers stop before their next case, for good; results so far are kept.

    When only answers and judgements are left, those are called off, and the run is scored.
    """
    if not run.cases.unfinished().exists() and run.scored_at is None:
        with transaction.atomic():
            if answers.call_off(run):
                Run.objects.filter(pk=run.pk).update(paused=False, pause_reason="")
                _record("run.answers_called_off", run, by)
                transaction.on_commit(lambda: wake(run.pk))
                return
    problem = noted("Only a run that is not finished can be cancelled.")
    _steer(run, by, "run.cancelled", problem, cancelled=True)


@transaction.atomic
def rescore(run: Run, *, by: Any) -> None:
    """Compute all scores anew from the stored outputs, without running the pipeline."""
    if leases.has_open_work(run.pk) or run.cancelled:
        raise RunRefused("Only a run whose cases are all done can be scored again.", run=run.pk)
    Run.objects.filter(pk=run.pk).update(**UNSCORED)
    _record("run.rescored", run, by)
    transaction.on_commit(lambda: wake(run.pk))


def reopen(run: Run, **fields: Any) -> None:
    """There is something more to do for a finished run; until it is done, it has no end again."""
    finished = Run.objects.filter(pk=run.pk, scored_at__isnull=False)
    going_on = {"paused": False, "pause_reason": ""}  # it may have ended while it was paused
    if not finished.update(**UNSCORED, **going_on, **fields):
        raise RunRefused(
            say("Run {pk} is not finished: wait until it is, or cancel it.", pk=run.pk), run=run.pk
        )


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


def checked_pipeline(name: str, config: dict[str, Any], layer: str) -> tuple[Entry, dict[str, Any]]:
    try:
        entry = entry_for(name)
        full = check_config(entry, config).model_dump(mode="json")
    except PipelineError as error:
        raise PipelineRefused(
            adapters.fact_of(error), details=adapters.details_of(error)
        ) from error
    if layer not in entry.layers:
        raise PipelineRefused(
            say(
                "Pipeline “{pipeline}” does not produce the layer “{layer}”; these do: {able}.",
                pipeline=name,
                layer=layer,
                able=", ".join(
                    sorted(name for name, one in PIPELINES.items() if layer in one.layers)
                ),
            ),
            pipeline=name,
            layer=layer,
        )
    return entry, full


def check_fields(run: Run) -> None:
    if not 1 <= run.repetitions <= 100:
        raise RunRefused("A run is repeated at least once and at most 100 times.")
    if not 0 <= run.seed <= MAX_SEED:
        raise RunRefused(say("The seed is a whole number between 0 and {most}.", most=MAX_SEED))
    if len(run.name) > LONGEST_NAME:
        raise RunRefused(say("The name of a run has at most {most} characters.", most=LONGEST_NAME))


def check_model(
    entry: Entry,
    with_model: bool,
    budget_cost: float | None,
    budget_tokens: int | None,
    *,
    judging: bool = False,
) -> None:
    if with_model:
        endpoints.require(say("Pipeline “{name}” with these settings", name=entry.name))
    elif budget_cost is not None or budget_tokens is not None:
        raise BudgetRefused(
            say(
                "Pipeline “{pipeline}” with these settings uses no language model: leave the "
                "budget empty.",
                pipeline=entry.name,
            )
        )
    problem = budgets.problem_with(budget_cost, budget_tokens, judging=judging)
    if problem:
        raise BudgetRefused(problem)


def selected_items(run: Run) -> list[GoldItem]:
    release, split = run.release, run.split
    if split not in ("", *Conversation.Split.values):
        known = ", ".join(Conversation.Split.values)
        said = say("There is no split “{split}”. Known are: {known}.", split=split, known=known)
        raise SplitRefused(said, split=split)
    if split == Conversation.Split.TEST and not run.reason:
        raise SplitRefused("Say why the test split is looked at: it is kept for final figures.")
    items = GoldItem.objects.filter(release=release)
    if split:
        items = items.filter(split=split)
    selected = list(items.order_by("position"))
    if not selected:
        raise SplitRefused(
            say(
                "There is nothing to measure: the split “{split}” of {release} is empty.",
                split=split,
                release=str(release),
            )
            if split
            else say("There is nothing to measure: {release} is empty.", release=str(release))
        )
    return selected


def open_cases(run: Run, items: list[GoldItem]) -> list[CaseRun]:
    """One for each item, or for each label of it in the layers that ask one at a time."""
    layer = gold_layer(run.release.layer)
    asked = [(item, part) for item in items for part in layer.parts(item.content)]
    cases = [
        CaseRun(run=run, item=item, part=part.uid, part_id=part.id, repetition=repetition)
        for repetition in range(1, run.repetitions + 1)
        for item, part in asked
    ]
    if not cases:
        raise SplitRefused(
            say(
                "There is nothing to measure: {release} holds no label to ask for.",
                release=str(run.release),
            )
        )
    return cases


def _note_test_access(run: Run, items: list[GoldItem]) -> None:
    """Every look at the test split is counted, whichever way it was asked for."""
    tested = sum(item.split == Conversation.Split.TEST for item in items)
    if tested:
        SplitAccess.objects.create(
            release=run.release,
            run=run,
            user=run.requested_by,
            reason=run.reason,
            n_items=tested,
        )


def test_look(run: Run) -> dict[str, int] | None:
    """Which look at the test split of its release this run was; None if it saw no test item."""
    look = SplitAccess.objects.filter(run=run).first()
    if look is None:
        return None
    number = SplitAccess.objects.filter(release=look.release_id, pk__lte=look.pk).count()
    return {"number": number, "n_items": look.n_items}


@transaction.atomic
def _steer(run: Run, by: Any, verb: str, problem: str, **fields: Any) -> None:
    open_runs = Run.objects.filter(pk=run.pk, scored_at=None, failure="", cancelled=False)
    if not open_runs.update(**fields):
        raise RunRefused(problem, run=run.pk)
    _record(verb, run, by)
    if verb == "run.resumed":
        transaction.on_commit(lambda: wake(run.pk))


def _record(verb: str, run: Run, actor: Any, **data: Any) -> None:
    events.record(verb, run, project=run.release.project, actor=actor, **data)
