"""Launching a run: the request, whether it makes sense, and its first row in the database.

The page, the admin, the API, the command and configuration files all build a ``LaunchRequest``,
and show each fault at the field that it names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

from django.conf import settings
from django.db import transaction

from evaluation import adapters, judge
from evaluation.layers import GOLD_LAYERS, gold_layer
from evaluation.layers.base import WHOLE
from evaluation.models import OPEN, SELECTIONS, CaseRun, Run, of_split, selected
from evaluation.models.spec import PredictionsSpec
from evaluation.services import looks
from evaluation.services.judging import answers
from evaluation.services.language_models import budgets, endpoints
from evaluation.services.launch import measuring, predictions, spec, thresholds
from evaluation.services.launch.predictions import (
    PredictionsRefused,
    Source,
)
from evaluation.services.work import steering
from evaluation.services.work.steering import BudgetRefused, RunRefused
from labeling.core import acting
from labeling.core.rules.reasons import reason_in
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.models import GoldItem, GoldRelease
from pipelines.chat.endpoint import DEFAULT
from pipelines.errors import PipelineError
from pipelines.registry import PIPELINES, Entry, check_config, entry_for

MOST_REPETITIONS = 100
MAX_SEED = 2**31 - 1  # what the column holds
LONGEST_NAME = 200


class PipelineRefused(RuleError, code="pipeline_refused"):
    """The pipeline does not exist, does not serve the layer, or a setting is wrong."""


class SplitRefused(RuleError, code="split_refused"):
    """The split does not exist, or is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRequest:
    """What somebody wants to have measured. The names of its fields are those of the faults."""

    release: GoldRelease
    pipeline: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    predictions: Source | None = None
    """Made elsewhere: no pipeline is run."""
    split: Annotated[str, "open or empty: all but test; all: every one; or train, dev, test"] = ""
    reason: Annotated[str, "Why test items are looked at; empty: as was said before"] = ""
    size: Annotated[int | None, "Only the first n items"] = None
    repetitions: Annotated[int, f"1 to {MOST_REPETITIONS}"] = 1
    seed: Annotated[int, f"0 to {MAX_SEED}"] = 0
    name: Annotated[str, "For the log of experiments"] = ""
    metrics: Annotated[Mapping[str, Any], "Settings of the metrics"] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    """Of the gate for this run alone, above those of the project."""
    evaluate_answers: Annotated[bool, "Have answers written from what was found, and judged"] = (
        False
    )
    judge_prompts: Annotated[
        Mapping[str, str], "By kind of judgment the prompt in place of the shipped one"
    ] = field(default_factory=dict)
    model: Annotated[str, "Which of the declared language models is asked"] = DEFAULT
    budget_cost: Annotated[float | None, "Money that a language model may cost"] = None
    budget_tokens: int | None = None
    concurrency: Annotated[int | None, "Cases at a time; null: as the settings say"] = None
    cloned_from: int | None = None
    """The run that this one repeats, with changes."""
    configuration: Mapping[str, str] | None = None
    """The configuration file that asked for it."""
    requested_by: Any = field(default_factory=acting.person)

    @property
    def selection(self) -> str:
        """The split as the run stores it."""
        return selected(self.split)


LAUNCHED: dict[str, Any] = {each.name: each.default for each in fields(LaunchRequest)}
"""What a launch takes where nobody says anything; at every door."""


@dataclass(frozen=True, slots=True)
class FieldFault:
    """What is wrong with one field: ``config.NAME`` is a setting of the pipeline."""

    field: str
    error: RuleError

    @property
    def fact(self) -> Fact:
        return self.error.fact


class LaunchRefused(RunRefused):
    """Something in the request is wrong, so nothing was launched; ``code`` is that of the first."""

    def __init__(self, faults: list[FieldFault]) -> None:
        first = faults[0].error
        fields: dict[str, list[Any]] = {}
        for fault in faults:
            fields.setdefault(fault.field, []).append(fault.fact.as_json())
        super().__init__(first.fact, details={**first.details, "fields": fields})
        self.code = first.code
        self.faults = faults


@dataclass(slots=True)
class _Examined:
    """A request that was looked through: its faults, and what would be stored without any."""

    run: Run
    entry: Entry | None = None
    asks_model: bool = False
    items: list[GoldItem] = field(default_factory=list)
    cases: list[CaseRun] = field(default_factory=list)
    measures: dict[str, Any] = field(default_factory=dict)
    report: PredictionsSpec | None = None
    """What the file of predictions contained."""
    faults: list[FieldFault] = field(default_factory=list)

    @contextmanager
    def at(self, name: str) -> Iterator[None]:
        """What is refused in the block is a fault of this field, or of a setting that it names."""
        try:
            yield
        except RuleError as error:
            setting = error.details.get("setting") if name == "pipeline" else None
            own = setting is not None and isinstance(error, PipelineRefused)
            self.faults.append(FieldFault(f"config.{setting}" if own else name, error))

    def faults_at(self, name: str) -> bool:
        return any(fault.field == name for fault in self.faults)


def check(request: LaunchRequest) -> list[FieldFault]:
    """Everything that is wrong with the request; empty if it can be launched."""
    return _examined(request).faults


def launch(request: LaunchRequest, *, queue: bool = True) -> Run:
    """Create the run with all its cases, and wake a worker (unless the caller works itself)."""
    examined = _examined(request)
    if examined.faults:
        raise LaunchRefused(examined.faults)
    run = examined.run
    run.spec = spec.describe(run, examined.measures, _asked(request, examined))
    run.config_sha256 = run.spec.config_sha256
    _store(request, examined, queue=queue)
    return run


@transaction.atomic
def _store(request: LaunchRequest, examined: _Examined, *, queue: bool) -> None:
    """The run with its cases, and what there is to answer of them."""
    run = examined.run
    run.save()
    looks.record_launch(run, examined.items)
    cases = CaseRun.objects.bulk_create(examined.cases, batch_size=500)
    if run.spec.answers is not None and run.spec.answers.elsewhere:
        answers.take_over(run, cases)
    elif run.spec.answers is not None:
        prompts = judge.prompts(request.judge_prompts)
        answers.prepare(answers.prepare_judging(run, prompts, by=run.requested_by), cases)
    details = {"pipeline": run.pipeline, "gold": str(run.release)}
    if request.cloned_from is not None:
        details["cloned_from"] = str(request.cloned_from)
    steering.record("run.launched", run, run.requested_by, **details)
    if queue:
        transaction.on_commit(lambda: steering.wake(run.pk))


def estimate(request: LaunchRequest) -> budgets.Estimate | None:
    """What language models will probably cost; None if none is asked."""
    examined = _examined(request)
    if faults := [fault for fault in examined.faults if fault.field != "reason"]:
        raise LaunchRefused(faults)
    return _cost(request, examined)


def price(request: LaunchRequest) -> budgets.Estimate | None:
    """The same of a request that is still being written, without a look at the items."""
    examined = _Examined(_run_of(request))
    _check_numbers(request, examined)
    _check_pipeline(request, examined)
    if examined.faults:
        raise LaunchRefused(examined.faults)
    return _cost(request, examined)


def _cost(request: LaunchRequest, examined: _Examined) -> budgets.Estimate | None:
    release, run, model = request.release, examined.run, request.model
    if not (examined.asks_model or request.evaluate_answers):
        return None
    sizes, of_cases = budgets.case_sizes(release, run.split, request.size), None
    if examined.asks_model:
        asked = {"pipeline": run.pipeline, "config": run.config}
        of_cases = budgets.estimate(release, sizes * run.repetitions, **asked, model=model)
    if not request.evaluate_answers:
        return of_cases
    of_answers = budgets.estimate_answers(release, len(sizes), run.repetitions, model=model)
    return of_answers + of_cases if of_cases else of_answers


def checked_pipeline(name: str, config: Mapping[str, Any], layer: str) -> tuple[Entry, Any]:
    """The pipeline and its full configuration."""
    try:
        entry = entry_for(name)
        full = check_config(entry, dict(config)).model_dump(mode="json")
    except PipelineError as error:
        details = {name: each for name, each in error.values.items() if not isinstance(each, dict)}
        raise PipelineRefused(adapters.fact_of(error), details=details) from error
    if layer not in entry.layers:
        able = sorted(entry.name for entry in PIPELINES.values() if layer in entry.layers)
        raise PipelineRefused(
            "launch.layer_not_made",
            pipeline=name,
            layer=layer,
            able=able,
            details={"pipeline": name, "layer": layer},
        )
    return entry, full


def check_model(entry: Entry, model: str = DEFAULT, *, asks_model: bool) -> None:
    """Refuse before anything runs what needs a language model, where none is set up."""
    if asks_model:
        endpoints.require(Fact("task.pipeline", name=entry.name), model)


def check_budget(
    entry: Entry | None,
    cost: float | None,
    tokens: int | None,
    *,
    asks_model: bool,
    model: str = DEFAULT,
    judging: bool = False,
) -> None:
    """Refuse a budget that can't be enforced, or from which nothing would be paid."""
    if not asks_model and entry and (cost is not None or tokens is not None):
        raise BudgetRefused("launch.budget_without_model", pipeline=entry.name)
    problem = budgets.problem_with(cost, tokens, model=model, judging=judging)
    if problem:
        raise BudgetRefused(problem)


def _examined(request: LaunchRequest) -> _Examined:
    examined = _Examined(_run_of(request))
    _check_numbers(request, examined)
    _select(request, examined)
    if request.predictions is None:
        _check_pipeline(request, examined)
    else:
        _check_beside_predictions(request, examined)
    with examined.at("metrics"):
        examined.measures = measuring.describe(request.release, request.metrics)
    for name, value in request.thresholds.items():
        with examined.at("thresholds"):
            thresholds.check(name, value)
    if not examined.faults:
        with examined.at("release"):
            examined.cases = _open_cases(examined.run, examined.items)
    if request.predictions is not None and not examined.faults:
        with examined.at("predictions"):
            examined.report = predictions.fill(examined.cases, request.predictions, request.release)
    return examined


def _run_of(request: LaunchRequest) -> Run:
    run = Run(
        release=request.release,
        pipeline=request.pipeline,
        config=dict(request.config),
        split=request.selection,
        reason=reason_in(request.reason),
        repetitions=request.repetitions,
        seed=request.seed,
        name=request.name.strip(),
        budget_cost=request.budget_cost,
        budget_tokens=request.budget_tokens,
        concurrency=(
            settings.RUN_CONCURRENCY if request.concurrency is None else request.concurrency
        ),
        requested_by=request.requested_by,
    )
    if source := request.predictions:
        run.pipeline, run.pipeline_version = predictions.NAME, source.sha256[:12]
        run.config = {"file": source.name, "sha256": source.sha256}
    return run


def _check_numbers(request: LaunchRequest, examined: _Examined) -> None:
    run = examined.run
    with examined.at("repetitions"):
        if not 1 <= request.repetitions <= MOST_REPETITIONS:
            raise RunRefused("launch.repetitions", most=MOST_REPETITIONS)
    with examined.at("concurrency"):
        if not 1 <= run.concurrency <= steering.MOST_CONCURRENCY:
            raise RunRefused("run.concurrency", most=steering.MOST_CONCURRENCY)
    with examined.at("seed"):
        if not 0 <= request.seed <= MAX_SEED:
            raise RunRefused("launch.seed", most=MAX_SEED)
    with examined.at("name"):
        if len(examined.run.name) > LONGEST_NAME:
            raise RunRefused("launch.name_too_long", most=LONGEST_NAME)
    with examined.at("size"):
        if request.size is not None and request.size < 1:
            raise RunRefused("launch.size")


def _check_pipeline(request: LaunchRequest, examined: _Examined) -> None:
    run, layer = examined.run, request.release.layer
    with examined.at("model"):
        endpoints.check_name(request.model)
    with examined.at("pipeline"):
        examined.entry, run.config = checked_pipeline(request.pipeline, request.config, layer)
        examined.asks_model = examined.entry.asks_model(run.config)
        if not examined.faults_at("model"):
            check_model(examined.entry, request.model, asks_model=examined.asks_model)
    if request.concurrency is None and (examined.asks_model or request.evaluate_answers):
        run.concurrency = endpoints.at_once(request.model)
    with examined.at("model"):
        _check_use_of_model(request, examined)
    if request.evaluate_answers:
        with examined.at("evaluate_answers"):
            answers.check(layer, request.model if not examined.faults_at("model") else DEFAULT)
    for kind, text in request.judge_prompts.items():
        with examined.at(f"judge_prompts.{kind}"):
            judge.prompts({kind: text})
            if not request.evaluate_answers:
                raise judge.PromptRefused("prompt.without_answers", details={"kind": kind})
    with examined.at("budget_cost" if request.budget_cost is not None else "budget_tokens"):
        check_budget(
            examined.entry,
            request.budget_cost,
            request.budget_tokens,
            asks_model=examined.asks_model or request.evaluate_answers,
            model=request.model,
            judging=request.evaluate_answers,
        )


def _check_use_of_model(request: LaunchRequest, examined: _Examined) -> None:
    """A name where no model is asked is a misunderstanding."""
    asks = examined.asks_model or request.evaluate_answers
    if request.model != DEFAULT and examined.entry and not asks:
        raise RunRefused("launch.model_without_need", pipeline=examined.entry.name)


def _check_beside_predictions(request: LaunchRequest, examined: _Examined) -> None:
    """What only a pipeline can use is a misunderstanding."""
    needless = {
        "pipeline": request.pipeline,
        "config": request.config,
        "repetitions": request.repetitions != 1,
        "evaluate_answers": request.evaluate_answers,
        "judge_prompts": request.judge_prompts,
        "model": request.model != DEFAULT,
        "budget_cost": request.budget_cost is not None,
        "budget_tokens": request.budget_tokens is not None,
    }
    for name, is_asked in needless.items():
        if is_asked:
            with examined.at(name):
                raise PredictionsRefused("launch.not_with_predictions")
    with examined.at("release"):
        if request.release.layer not in GOLD_LAYERS:
            raise PredictionsRefused("launch.layer_not_measured", layer=request.release.layer)


def _select(request: LaunchRequest, examined: _Examined) -> None:
    """The items of the split, in the order of the release."""
    release, split = request.release, request.selection
    items = GoldItem.objects.filter(release=release).order_by("position")
    if request.predictions is None and not _has_many_cases(release):
        items = items.defer("canonical")  # nothing is read of the texts
    known = split in ("", *SELECTIONS)
    chosen = list(of_split(items, split)) if known else []
    examined.items = chosen[: request.size]
    with examined.at("reason"):
        examined.run.reason = looks.check_launch(examined.run, examined.items)
    with examined.at("split"):
        if not known:
            said: dict[str, Any] = {"split": split, "known": list(SELECTIONS)}
            raise SplitRefused("launch.no_such_split", details={"split": split}, **said)
        if not chosen and split == OPEN and looks.has_test(release):
            raise SplitRefused("launch.only_test_items", release=str(release))
        if not chosen and split:
            raise SplitRefused("launch.split_empty", split=split, release=str(release))
        if not chosen:
            raise SplitRefused("launch.release_empty", release=str(release))
    if split == OPEN and not looks.has_test(release):
        examined.run.split = ""  # the same items as those of every split


def _has_many_cases(release: GoldRelease) -> bool:
    """Whether an item is a case for each of its labels."""
    return release.layer in GOLD_LAYERS and gold_layer(release.layer).asks_one_by_one


def _open_cases(run: Run, items: list[GoldItem]) -> list[CaseRun]:
    """One for each item, or for each label of it in the layers that ask one at a time."""
    if _has_many_cases(run.release):
        layer = gold_layer(run.release.layer)
        parts = [(item, part) for item in items for part in layer.parts(item.content)]
    else:
        parts = [(item, WHOLE) for item in items]
    cases = [
        CaseRun(run=run, item=item, part=part.uid, part_id=part.id, repetition=repetition)
        for repetition in range(1, run.repetitions + 1)
        for item, part in parts
    ]
    if not cases:
        raise SplitRefused("launch.no_labels", release=str(run.release))
    return cases


def _asked(request: LaunchRequest, examined: _Examined) -> dict[str, Any]:
    """What the run writes down of its launch, where it has it: parts of its ``RunSpec``."""
    asked: dict[str, Any] = {}
    if request.predictions is not None:
        with_answers = answers.elsewhere(examined.cases, request.release.layer)
        asked["predictions"] = examined.report
        return asked | {"answers": with_answers} if with_answers else asked
    needs_model = examined.asks_model or request.evaluate_answers
    asked["model"] = endpoints.describe(request.model) if needs_model else None
    if request.evaluate_answers:
        asked["answers"] = answers.describe(request.judge_prompts)
    if request.thresholds:
        asked["thresholds"] = dict(request.thresholds)
    if request.size is not None:
        asked["size"] = request.size
    if request.configuration is not None:
        asked["configuration"] = dict(request.configuration)
    return asked
