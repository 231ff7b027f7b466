"""Launching runs. A worker does the work: see ``execution``."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from evaluation import adapters
from evaluation.layers import gold_layer
from evaluation.models import CaseRun, Run, SplitAccess
from evaluation.services.judging import answers
from evaluation.services.language_models import budgets, endpoints
from evaluation.services.launch import spec
from evaluation.services.work import steering
from labeling.domain.errors import RuleError
from labeling.domain.reasons import reason_in
from labeling.domain.sentences import say
from labeling.models import Conversation, GoldItem, GoldRelease
from pipelines.errors import PipelineError
from pipelines.registry import PIPELINES, Entry, check_config, entry_for

MAX_SEED = 2**31 - 1  # what the column holds
LONGEST_NAME = 200


class PipelineRefused(RuleError):
    """The pipeline does not exist, does not serve the layer, or a setting is wrong."""

    code = "pipeline_refused"


class SplitRefused(RuleError):
    """The split does not exist, is empty, or was asked for without a reason."""

    code = "split_refused"


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
    steering.record(
        "run.launched", run, run.requested_by, pipeline=run.pipeline, gold=str(run.release)
    )
    if queue:
        transaction.on_commit(lambda: steering.wake(run.pk))


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
        raise steering.RunRefused("A run is repeated at least once and at most 100 times.")
    if not 0 <= run.seed <= MAX_SEED:
        raise steering.RunRefused(
            say("The seed is a whole number between 0 and {most}.", most=MAX_SEED)
        )
    if len(run.name) > LONGEST_NAME:
        raise steering.RunRefused(
            say("The name of a run has at most {most} characters.", most=LONGEST_NAME)
        )


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
        raise steering.BudgetRefused(
            say(
                "Pipeline “{pipeline}” with these settings uses no language model: leave the "
                "budget empty.",
                pipeline=entry.name,
            )
        )
    problem = budgets.problem_with(budget_cost, budget_tokens, judging=judging)
    if problem:
        raise steering.BudgetRefused(problem)


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
