"""What a report says of a run, before it has a form: facts and figures, no words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import Count

from evaluation.layers import GoldLayer, gold_layer
from evaluation.layers.breakdown import Breakdown, tables_in
from evaluation.metrics.gate import JUDGED
from evaluation.metrics.registry import METRICS, Metric
from evaluation.models import Aggregate, GateResult, Run, Score
from evaluation.report.cases import MOST_CASES, WorstCases, worst_cases
from evaluation.services import looks
from evaluation.services.judging import certificates
from evaluation.services.run import (
    comparisons,
    exposures,
    gates,
    planning,
    primary_metrics,
    repetitions,
    results,
)
from evaluation.services.run.baselines import baseline_of
from evaluation.services.run.comparisons import Compared, candidates, compare_runs
from evaluation.services.run.primary_metrics import Primary
from evaluation.services.run.repetitions import Repetitions
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.gold import looks as gold_looks
from labeling.gold.rules.lint import TITLES
from labeling.models import Conversation, Look
from labeling.work import blindness

CASES = 5
"""Worst cases of a report that does not say how many."""


class ReportRefused(RuleError, code="report_refused"):
    """The run has no figures yet, or the report is asked for in a way that makes no sense."""


class Undefined(NamedTuple):
    """How many cases have no value of a main metric, for one reason."""

    metric: Metric
    reason: Fact | None
    n: int


@dataclass(frozen=True)
class Report:
    """A run as the reader may see it; what no form shows is never looked up.

    ``user`` is None at the command line, where test items were asked for by ``--reason``. Needs
    ``with_progress()`` of the run.
    """

    run: Run
    user: Any = None
    named: Run | None = None
    """The baseline that was asked for."""
    most_cases: int = CASES
    repetition: int = 1
    """Of the predictions: a file of them has each case once."""

    def check(self) -> None:
        run = self.run
        if run.scored_at is None:
            why = Fact("report.run_unfinished", pk=run.pk)
            if run.failure:
                why = Fact("report.run_failed", pk=run.pk, failure=run.failure)
            raise ReportRefused(why, details={"run": run.pk})
        if not 0 <= self.most_cases <= MOST_CASES:
            raise ReportRefused(
                msgid("A report shows at least 0 and at most {most} cases."), most=MOST_CASES
            )

    def refuse_blind(self) -> None:
        """For files that say where gold is, and what others would label."""
        if self.user is not None:
            shown = Conversation.objects.filter(gold_items__case_runs__run=self.run)
            blindness.refuse(self.user, shown)

    @property
    def layer(self) -> GoldLayer:
        return gold_layer(self.run.spec.layer)

    @cached_property
    def primary(self) -> Primary:
        return primary_metrics.primary_of(self.run.release.project, self.layer.name)

    @cached_property
    def rows(self) -> list[Aggregate]:
        return results.aggregates_of(self.run)

    @property
    def headline(self) -> Aggregate | None:
        """The figure of the primary metric."""
        return next((row for row in self.rows if row.metric == self.primary.metric.id), None)

    @cached_property
    def against(self) -> Run | Fact:
        """The run that was named, else the one by rule; or why there is no verdict."""
        if self.named is not None:
            why = comparisons.why_not(self.named, self.run)
            if why:
                raise ReportRefused(why, details={"run": self.named.pk})
            if self.user is not None:
                looks.require_comparison(self.user, [self.named, self.run])
            return self.named
        other = baseline_of(self.run)
        if other is None or comparisons.why_not(other.run, self.run):
            return Fact("report.no_baseline")
        tested = [release.pk for release in looks.tested([other.run, self.run])]
        sealed = gold_looks.sealed(self.user, Look.Purpose.COMPARE, tested)
        if tested and sealed.exists():
            return Fact("report.comparison_sealed", baseline=other.run.pk)
        return other.run

    @cached_property
    def compared(self) -> Compared | None:
        return None if isinstance(self.against, Fact) else compare_runs(self.against, self.run)

    @cached_property
    def planned(self) -> list[str]:
        """What the gold can show; where two runs are compared, the comparison says it itself."""
        if self.compared and self.compared.primary.comparison.detectable is not None:
            return []
        return planning.said(self.run.release, split=self.run.split, size=self.run.spec.size)

    @cached_property
    def limits(self) -> list[Fact]:
        """What the figures do not say."""
        return [*_detectable(self.compared), *_limits(self)]

    @cached_property
    def undefined(self) -> list[Undefined]:
        """Of the main metrics, the most frequent reason first."""
        main = dict.fromkeys([self.primary.metric.id, *self.layer.headline])
        versions = {name: METRICS[name].version for name in main}
        rows = Score.objects.filter(case__run=self.run, value=None, metric__in=versions).order_by()
        counted = rows.values_list("metric", "metric_version", "reason").annotate(n=Count("pk"))
        known = [
            Undefined(METRICS[metric], reason, n)
            for metric, version, reason, n in counted
            if versions[metric] == version
        ]
        order = list(versions)
        return sorted(known, key=lambda row: (order.index(row.metric.id), -row.n, str(row.reason)))

    @property
    def slices(self) -> list[Breakdown]:
        return [table for row in self.rows for table in tables_in(row.detail)]

    @cached_property
    def repetitions(self) -> Repetitions | None:
        """What k tries of a case reach, where each was tried more than once."""
        is_repeated = self.run.repetitions > 1
        return repetitions.of_run(self.run, self.primary.metric) if is_repeated else None

    @cached_property
    def worst(self) -> WorstCases:
        """None of a conversation whose gold the reader must not see now."""
        none = Conversation.objects.none()
        blind = none if self.user is None else blindness.again(self.user)
        return worst_cases(self.run, self.primary.metric, self.most_cases, blind=blind)

    @cached_property
    def gate(self) -> GateResult | None:
        return gates.last_of(self.run)


def _detectable(compared: Compared | None) -> Iterator[Fact]:
    if compared is None:
        return
    result, metric = compared.primary.comparison, _title(compared.primary.metric)
    if result.detectable is not None:
        n, least = result.conversations, result.detectable
        yield Fact("report.detectable", conversations=n, value=least, metric=metric)


def _limits(report: Report) -> Iterator[Fact]:
    run, primary, rows = report.run, report.primary, report.rows
    if report.headline is not None:
        yield from _coverage(report.headline)
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
