"""What a report says of a run, before it has a form: facts and figures, no words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, QuerySet
from django.utils import timezone

from evaluation.layers import GoldLayer, gold_layer
from evaluation.layers.breakdown import Breakdown, tables_in
from evaluation.metrics.gate import JUDGED
from evaluation.metrics.registry import METRICS, Metric
from evaluation.models import Aggregate, GateResult, Run, Score
from evaluation.report.cases import MOST_CASES, WorstCases, worst_cases
from evaluation.services import looks
from evaluation.services.judging import certificates
from evaluation.services.run import (
    exposures,
    gates,
    planning,
    primary_metrics,
    repetitions,
    results,
)
from evaluation.services.run.comparisons import Compared, candidates, compare_runs
from evaluation.services.run.planning import Plan
from evaluation.services.run.primary_metrics import Primary
from evaluation.services.run.repetitions import Repetitions
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.gold.rules.lint import TITLES
from labeling.models import Conversation

CASES = 5
"""Worst cases of a report that does not say how many."""


class ReportRefused(RuleError):
    """The run has no figures yet, or the report is asked for in a way that makes no sense."""

    code = "report_refused"


class Undefined(NamedTuple):
    """How many cases have no value of a main metric, for one reason."""

    metric: Metric
    reason: Fact | None
    n: int


@dataclass(frozen=True, slots=True)
class Report:
    run: Run
    layer: GoldLayer
    primary: Primary
    rows: list[Aggregate]
    compared: Compared | None
    """With the baseline; None: there is none, or ``no_verdict`` says why."""
    no_verdict: Fact
    limits: list[Fact]
    """What the figures do not say."""
    planned: Plan | None
    """What the gold can show; where two runs are compared, the comparison says it itself."""
    undefined: list[Undefined]
    slices: list[Breakdown]
    repetitions: Repetitions | None
    """What k tries of a case reach, where each was tried more than once."""
    worst: WorstCases
    gate: GateResult | None
    n_cases: int
    written_at: datetime

    @property
    def headline(self) -> Aggregate | None:
        """The figure of the primary metric."""
        return next((row for row in self.rows if row.metric == self.primary.metric.id), None)


def collect(
    run: Run,
    *,
    baseline: Run | None,
    no_verdict: Fact,
    blind: QuerySet[Conversation],
    n_cases: int = CASES,
) -> Report:
    """Everything that a report of the run says. Needs ``with_progress()``.

    ``blind`` are the conversations whose gold the reader must not see now: no case of theirs is
    shown.
    """
    if run.scored_at is None:
        raise ReportRefused(why_without_figures(run), details={"run": run.pk})
    if not 0 <= n_cases <= MOST_CASES:
        raise ReportRefused(
            msgid("A report shows at least 0 and at most {most} cases."), most=MOST_CASES
        )
    layer = gold_layer(run.spec.layer)
    primary = primary_metrics.primary_of(run.release.project, layer.name)
    rows = results.aggregates_of(run)
    compared = compare_runs(baseline, run) if baseline else None
    shows = compared is not None and compared.primary.comparison.detectable is not None
    return Report(
        run=run,
        layer=layer,
        primary=primary,
        rows=rows,
        compared=compared,
        no_verdict=no_verdict,
        limits=[*_detectable(compared), *_limits(run, primary, rows)],
        planned=None if shows else planning.plan(run.release, split=run.split, size=run.spec.size),
        undefined=_undefined(run, layer, primary),
        slices=[table for row in rows for table in tables_in(row.detail)],
        repetitions=repetitions.of_run(run, primary.metric) if run.repetitions > 1 else None,
        worst=worst_cases(run, primary.metric, n_cases, blind=blind),
        gate=gates.last_of(run),
        n_cases=run.n_cases,  # type: ignore[attr-defined]
        written_at=timezone.now(),
    )


def why_without_figures(run: Run) -> Fact:
    if run.failure:
        return Fact("report.run_failed", pk=run.pk, failure=run.failure)
    return Fact("report.run_unfinished", pk=run.pk)


def _detectable(compared: Compared | None) -> Iterator[Fact]:
    if compared is None:
        return
    result = compared.primary.comparison
    if result.detectable is not None:
        n, least = result.conversations, result.detectable
        yield Fact(
            "report.detectable",
            conversations=n,
            value=least,
            metric=_title(compared.primary.metric),
        )


def _limits(run: Run, primary: Primary, rows: list[Aggregate]) -> Iterator[Fact]:
    headline = next((row for row in rows if row.metric == primary.metric.id), None)
    if headline is not None:
        yield from _coverage(headline)
    if look := looks.test_look(run):
        seen = {"number": look["number"], "looks": look["looks"], "items": look["n_items"]}
        yield Fact("report.looks", **seen)
    else:
        yield Fact("report.no_look")
    if left_out := looks.left_out(run.release, run.split):
        yield left_out
    if (number := candidates(run)) > 1:
        yield Fact("report.best_of", runs=number)
    if late := primary.declared_after([run]):
        yield Fact("report.declared_late", metric=_title(primary.metric), runs=late)
    if retried := results.retried_cases(run):
        yield Fact("report.retried", n=retried)
    if warning := exposures.warning(exposures.of_run(run.pk)):
        yield warning
    if synthetic := results.synthetic_cases(run):
        yield Fact("report.synthetic", n=synthetic)
    yield from _of_gold(run)
    yield from results.remarks(run, rows)
    yield from _judges(run, rows)
    if run.spec.git is not None and run.spec.git.dirty:
        yield Fact("report.local_changes")


def _coverage(headline: Aggregate) -> Iterator[Fact]:
    total = headline.n + headline.n_undefined
    yield Fact(
        "report.coverage",
        metric=_title(METRICS[headline.metric]),
        defined=headline.n,
        total=total,
        percent=100 * headline.n // total if total else 0,
    )
    if headline.n_failed:
        yield Fact("report.failed", n=headline.n_failed)
    if headline.conversations is not None and headline.conversations < 2:
        yield Fact("report.one_conversation")


def _of_gold(run: Run) -> Iterator[Fact]:
    """What was let pass when the gold was frozen. Names of people are left out."""
    for override in run.release.overrides:
        yield Fact("report.gate_override", round=override["round"], reason=override["reason"])
    for waiver in run.release.waivers:
        kind, number = waiver["kind"], waiver["findings"]
        title = Fact(f"lint_kind.{kind}") if kind in TITLES else kind
        if waiver["reason"]:
            yield Fact("report.waiver", n=number, kind=title, reason=waiver["reason"])
        else:
            yield Fact("report.as_published", n=number, kind=title)


def _judges(run: Run, rows: list[Aggregate]) -> Iterator[Fact]:
    """What each judged figure is worth."""
    for row in rows:
        if row.metric not in JUDGED or "judge" not in row.detail:
            continue
        title = _title(METRICS[row.metric])
        why = certificates.standing_of(run, row.metric).why
        if why is None:
            yield Fact("report.judge_certified", metric=title)
        else:
            yield Fact("report.judge_not_certified", metric=title, why=why)


def _title(metric: Metric) -> Fact:
    return Fact(f"metric_title.{metric.id}")


def _undefined(run: Run, layer: GoldLayer, primary: Primary) -> list[Undefined]:
    """Of the main metrics, the most frequent reason first."""
    metrics = [METRICS[name] for name in {primary.metric.id: 0, **dict.fromkeys(layer.headline)}]
    versions = {metric.id: metric.version for metric in metrics}
    rows = Score.objects.filter(case__run=run, value=None, metric__in=versions).order_by()
    counted = rows.values_list("metric", "metric_version", "reason").annotate(n=Count("pk"))
    known = [
        Undefined(METRICS[metric], reason, n)
        for metric, version, reason, n in counted
        if versions[metric] == version
    ]
    order = list(versions)
    return sorted(known, key=lambda row: (order.index(row.metric.id), -row.n, str(row.reason)))
