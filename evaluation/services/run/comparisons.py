"""Runs next to a baseline, where that means something: the same gold, the same cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, NamedTuple

from evaluation.layers import gold_layer
from evaluation.metrics.comparison import (
    Comparison,
    Verdict,
    best_of,
    compare,
    conversations_needed,
    holm,
    level_for,
    levels_of,
    margin_of,
    verdict,
)
from evaluation.metrics.metric import Share
from evaluation.metrics.registry import OF_JUDGES, Metric, metrics_for
from evaluation.models import OPEN, Aggregate, CaseRun, Run, RunSpec, Score, of_split
from evaluation.services.run.changes import changed
from evaluation.services.run.primary_metrics import Primary, primary_of
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.uncertainty import LEVEL
from labeling.models import GoldItem
from pipelines.registry import FLOORS

CaseKey = tuple[int, str]
"""Gold item and part: the same in every run on a release."""


class NotComparable(RuleError, code="runs_not_comparable"):
    """The runs were not made on the same gold, or are not finished."""


MOST_RUNS = 6
"""The baseline included: more runs than these make every interval too wide to say anything."""

Role = Literal["primary", "main", "exploratory"]
"""The primary metric and the other main ones are tested together; the rest explain, no more."""


OF_TESTS = (
    *("ci_low", "ci_high", "p_value", "std_error", "df", "detectable"),
    *("here_low", "here_high", "here_p_value"),
)
"""What a comparison says beyond the figures of its cases."""


@dataclass(frozen=True, slots=True)
class MetricComparison:
    metric: Metric
    comparison: Comparison
    role: Role
    corrected_p: float | None
    """Corrected for what is tested with it; None for what is not tested."""
    margin: float
    """The smallest difference of interest, as a share of the metric's range."""
    level: float = LEVEL
    """Of the interval, which excludes 0 exactly where the corrected test does."""
    identical: bool = False
    """Every output of both runs is the same, so there is nothing to test."""

    @property
    def verdict(self) -> Verdict | Literal["exploratory"]:
        if self.role == "exploratory":
            return "exploratory"
        if self.identical:
            return "identical"
        p_value, margin = self.corrected_p, self.margin
        return verdict(self.comparison, self.metric, p_value=p_value, margin=margin)

    def of_identical(self) -> MetricComparison:
        """The same without what a test would say."""
        nothing = dict.fromkeys(OF_TESTS)
        comparison = replace(self.comparison, **nothing)  # type: ignore[arg-type]
        return replace(self, comparison=comparison, corrected_p=None, identical=True)

    @property
    def conversations_needed(self) -> int | None:
        """With how many conversations the difference seen, or that of interest, can be shown.

        The larger of the two: a true difference as large as the one seen, if it matters at all.
        Where no case differs, no spread was seen from which a number could follow.
        """
        result, least = self.comparison, margin_of(self.metric, self.margin)
        if result.difference is None or result.std_error is None or result.df is None:
            return None
        if not result.wins and not result.losses:
            return None
        effect = max(abs(result.difference), least or 0.0)
        if effect == 0:
            return None
        return conversations_needed(
            result.std_error, result.df, result.conversations, effect, level=self.level
        )


@dataclass(frozen=True, slots=True)
class Compared:
    before: Run
    after: Run
    declared: Primary
    """Which metric decides, since when and by whom."""
    declared_after: list[int]
    """The runs whose figures could be seen before it was declared."""
    rows: list[MetricComparison]
    """The primary metric first, then the other main ones, then what explains."""
    shared: int
    only_before: int
    only_after: int
    changed: dict[str, tuple[Any, Any]]
    """Settings that differ, with both values."""
    judges_differ: list[str]
    """Metrics that were judged by another model, setting, prompt or parser in each run."""
    together: int
    """How many runs are compared with the baseline at once, this one included."""
    tried: int
    """How many runs could have been chosen for their figure, this one included."""

    @property
    def total(self) -> int:
        """Cases of either run."""
        return self.shared + self.only_before + self.only_after

    @property
    def primary(self) -> MetricComparison:
        return self.rows[0]

    @property
    def telling(self) -> list[MetricComparison]:
        """The primary metric, and every other main one that became worse for certain."""
        return [self.primary, *(row for row in self.rows[1:] if row.verdict == "worse")]

    @property
    def verdict(self) -> Verdict | Literal["exploratory"]:
        """Of the whole comparison: a certain regression of any main metric is worse."""
        return self.telling[-1].verdict

    @property
    def selected_p(self) -> float | None:
        """The p value of the primary metric if this run was chosen because it came out best."""
        own, corrected = self.primary.comparison.p_value, self.primary.corrected_p
        if own is None or corrected is None:
            return None
        return max(corrected, best_of(own, self.tried))


def compare_runs(before: Run, after: Run, *, tested_only: bool = False) -> Compared:
    """Every metric with a value per case, over the cases that both runs were asked."""
    [compared] = compare_with(before, [after], tested_only=tested_only)
    return compared


def compare_with(
    baseline: Run, runs: Sequence[Run], *, tested_only: bool = False
) -> list[Compared]:
    """Each of up to five runs against the baseline, corrected together.

    Only the main metrics of the layer are tested: they were named before anybody saw a figure.
    Which of them leads is what the project declares now.
    """
    if not runs:
        raise NotComparable("compare.nothing")
    if len(runs) >= MOST_RUNS:
        raise NotComparable("compare.too_many", most=MOST_RUNS)
    if len({baseline.pk, *(run.pk for run in runs)}) <= len(runs):
        raise NotComparable("compare.twice")
    for run in runs:
        _check(baseline, run)
    primary = primary_of(baseline.release.project, baseline.spec.layer)
    tested = {primary.metric.id, *gold_layer(baseline.spec.layer).headline}
    pairs = []
    for run in runs:
        metrics = _shared_metrics(baseline, run)
        metrics.sort(key=lambda each: (each.id != primary.metric.id, each.id not in tested))
        wanted = [metric for metric in metrics if metric.id in tested or not tested_only]
        paired = _pairs(baseline, run, wanted)
        pairs.append({metric: [*of_metric.values()] for metric, of_metric in paired.items()})
    p_values = [
        [
            compare_pairs(of_metric, metric).p_value
            for metric, of_metric in of_run.items()
            if metric.id in tested
        ]
        for of_run in pairs
    ]
    every = [value for of_run in p_values for value in of_run]
    tests = iter(zip(holm(every), levels_of(every), strict=True))
    return [
        _compared(baseline, run, primary, of_run, [*islice(tests, len(own))], together=len(runs))
        for run, of_run, own in zip(runs, pairs, p_values, strict=True)
    ]


class Paired(NamedTuple):
    """One metric of two runs, and how many conversations both were asked about."""

    comparison: Comparison
    conversations: int


class Pair(NamedTuple):
    """What one case of both runs adds to the figure of each, and its conversation."""

    before: Share | None
    after: Share | None
    conversation: int


def pairs_of(before: Run, after: Run, metric: Metric, *, split: str = "") -> dict[CaseKey, Pair]:
    """The cases that both runs were asked, in the order of the first."""
    return _pairs(before, after, [metric], split)[metric]


def _pairs(
    before: Run, after: Run, metrics: list[Metric], split: str = ""
) -> dict[Metric, dict[CaseKey, Pair]]:
    old, new = shares_by_metric(before, metrics), shares_by_metric(after, metrics)
    owners = cases_of(after, split)
    shared = [key for key in cases_of(before, split) if key in owners]
    return {
        metric: {
            key: Pair(old[metric.id].get(key), new[metric.id].get(key), owners[key])
            for key in shared
        }
        for metric in metrics
    }


def compare_pairs(pairs: Sequence[Pair], metric: Metric, *, level: float = LEVEL) -> Comparison:
    befores, afters, conversations = zip(*pairs, strict=True) if pairs else ((), (), ())
    return compare(befores, afters, clusters=conversations, metric=metric, level=level)


def compare_metric(before: Run, after: Run, metric: Metric, *, split: str = "") -> Paired:
    """On the cases of the split, if there are two conversations of it, else on all but test."""
    pairs = list(pairs_of(before, after, metric, split=split).values())
    conversations = len({pair.conversation for pair in pairs})
    if split not in ("", OPEN) and conversations < 2:
        return compare_metric(before, after, metric, split=OPEN)
    return Paired(compare_pairs(pairs, metric), conversations)


def shares_of(run: Run, metric: Metric, *, split: str = "") -> tuple[list[Share | None], list[int]]:
    """What each case adds to a figure, and its conversation; of the split as above."""
    owners = cases_of(run, split)
    if split not in ("", OPEN) and len(set(owners.values())) < 2:
        return shares_of(run, metric, split=OPEN)
    shares = shares_by_metric(run, [metric])[metric.id]
    return [shares.get(key) for key in owners], list(owners.values())


def _compared(
    baseline: Run,
    run: Run,
    primary: Primary,
    pairs: Mapping[Metric, Sequence[Pair]],
    tests: Sequence[tuple[float | None, float]],
    *,
    together: int,
) -> Compared:
    """``tests`` holds corrected p value and level of the main metrics, which come first."""
    rows = []
    for place, (metric, of_metric) in enumerate(pairs.items()):
        is_tested = place < len(tests)
        corrected, level = tests[place] if is_tested else (None, level_for(together))
        role: Role = "primary" if place == 0 else "main" if is_tested else "exploratory"
        result = compare_pairs(of_metric, metric, level=level)
        rows.append(MetricComparison(metric, result, role, corrected, primary.margin, level))
    old, new = cases_of(baseline), cases_of(run)
    if not any(row.comparison.wins or row.comparison.losses for row in rows):
        rows = [row.of_identical() for row in rows] if _same_outputs(baseline, run) else rows
    return Compared(
        before=baseline,
        after=run,
        declared=primary,
        declared_after=primary.declared_after([baseline, run]),
        rows=rows,
        shared=len(old.keys() & new.keys()),
        only_before=len(old.keys() - new.keys()),
        only_after=len(new.keys() - old.keys()),
        changed=changed(baseline, run),
        judges_differ=_judges_differ(baseline, run),
        together=together,
        tried=candidates(run, baseline),
    )


def candidates(run: Run, baseline: Run | None = None) -> int:
    """Finished runs on the same cases that could be chosen for their figure, floors left out.

    This one counts in any case, the baseline does not: it is what the others are compared with.
    """
    others = Run.objects.beside(run).filter(failure=None).exclude(pipeline__in=FLOORS)
    return 1 + (others.exclude(pk=baseline.pk) if baseline else others).count()


def _same_outputs(before: Run, after: Run) -> bool:
    """On the cases of both, whatever it took to make them."""
    old, new = outputs_of(before), outputs_of(after)
    return all(old[key] == new[key] for key in old.keys() & new.keys())


def outputs_of(run: Run) -> dict[tuple[int, str, int], Any]:
    """By item, part and repetition: state, output but for who made it, and answer."""
    rows = CaseRun.objects.filter(run=run).order_by()
    fields = ("item", "part", "repetition", "state", "output", "answer__text")
    return {
        (item, part, repetition): (state, output and {**output, "model": None}, answer)
        for item, part, repetition, state, output, answer in rows.values_list(*fields).iterator()
    }


def why_not(baseline: Run, run: Run) -> Fact | None:
    """Why two runs cannot be compared; ``None`` if they can."""
    try:
        _check(baseline, run)
    except NotComparable as error:
        return error.fact
    return None


def case_values(run: Run, metric: Metric) -> dict[CaseKey, float | None]:
    """The value of each case by one metric, the mean of its repetitions; None is undefined."""
    shares = shares_by_metric(run, [metric])[metric.id]
    return {
        key: share.numerator / share.denominator
        if (share := shares.get(key)) and share.denominator > 0
        else None
        for key in cases_of(run)
    }


def _shared_metrics(before: Run, after: Run) -> list[Metric]:
    """What both runs have: only one of them may have answers, or metrics of a package."""
    others = {metric.id for metric in before.spec.all_metrics()}
    scored = before.spec.metrics.keys() & after.spec.metrics.keys()
    return [
        metric
        for metric in after.spec.all_metrics()
        if metric.per_case and metric.id in (scored if metric.compute else others)
    ]


def _judges_differ(before: Run, after: Run) -> list[str]:
    """The metrics whose figures are those of another judge in each run."""
    old, new = _judges(before), _judges(after)
    return [name for name in old if name in new and old[name] != new[name]]


def _judges(run: Run) -> dict[str, str]:
    rows = Aggregate.objects.filter(run=run, detail__has_key="judge").order_by("pk")
    return dict(rows.values_list("metric", "detail__judge__judge_sha256"))


def _check(before: Run, after: Run) -> None:
    for run in (before, after):
        if run.scored_at is None:
            raise NotComparable("compare.not_scored", pk=run.pk)
    if before.release_id != after.release_id:
        raise NotComparable(
            "compare.other_gold",
            pk=before.pk,
            release=str(before.release),
            pk2=after.pk,
            release2=str(after.release),
        )
    problem = _measured_otherwise(before, after)
    if problem:
        raise NotComparable(problem)
    if not cases_of(before).keys() & cases_of(after).keys():
        raise NotComparable("compare.no_shared_case", pk=before.pk, pk2=after.pk)


def _measured_otherwise(before: Run, after: Run) -> Fact | None:
    """Why figures on the same gold mean different things, if they do."""
    old, new = before.spec, after.spec
    if _differ_in_metrics(old, new):
        return Fact("compare.other_versions")
    if old.metrics_config != new.metrics_config:
        return Fact("compare.other_settings")
    if gold_layer(new.layer).matched and old.matching != new.matching:
        return Fact("compare.other_matching")
    if len({_basis(before), _basis(after)} - {None}) > 1:
        return Fact("compare.other_basis")
    return None


def _differ_in_metrics(before: RunSpec, after: RunSpec) -> bool:
    """Whether their versions do. Only one of the runs may have answers, or have been scored when
    the package of a metric was installed.
    """
    old, new = before.metrics, after.metrics
    of_one = {metric.id for metric in metrics_for(OF_JUDGES)}
    of_one |= before.metric_sources.keys() | after.metric_sources.keys()
    names = (old.keys() | new.keys()) - (of_one - (old.keys() & new.keys()))
    return any(old.get(name) != new.get(name) for name in names)


def _basis(run: Run) -> str | None:
    """Who judged what the run inferred; None if it inferred nothing, and in other layers."""
    rows = Aggregate.objects.filter(run=run, detail__micro__predicted__gt=0).order_by("-pk")
    return rows.values_list("detail__basis", flat=True).first()


def shares_by_metric(run: Run, metrics: list[Metric]) -> dict[str, dict[CaseKey, Share]]:
    """By metric, what each case adds to the run's figure: the mean over its repetitions."""
    versions = {metric.id: metric.version for metric in metrics}
    sums: dict[str, dict[CaseKey, Share]] = {metric.id: {} for metric in metrics}
    rows = Score.objects.filter(case__run=run, metric__in=versions, weight__isnull=False)
    fields = ("case__item", "case__part", "metric", "metric_version", "numerator", "weight")
    for item, part, metric, version, numerator, weight in rows.order_by("case").values_list(
        *fields
    ):
        if versions[metric] == version:
            top, bottom = sums[metric].get((item, part), (0.0, 0.0))
            share = Share(numerator / run.repetitions, weight / run.repetitions)
            sums[metric][item, part] = Share(top + share.numerator, bottom + share.denominator)
    return sums


def cases_of(run: Run, split: str = "") -> dict[CaseKey, int]:
    """The conversation of every case, or of those of one split."""
    cases = CaseRun.objects.filter(run=run).order_by("pk")
    if split:
        cases = cases.filter(
            item__in=of_split(GoldItem.objects.filter(release=run.release_id), split)
        )
    rows = cases.values_list("item_id", "part", "item__conversation_id")
    return {(item, part): conversation for item, part, conversation in rows}
