"""Asking the gate about a run: every threshold, and the drift against a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from django.db import transaction

from evaluation.metrics.gate import (
    JUDGED,
    MAX_DROP,
    Change,
    Check,
    check_drift,
    check_threshold,
    uncertified,
)
from evaluation.metrics.registry import METRICS, Metric, metrics_for
from evaluation.metrics.summary import by_cluster
from evaluation.models import GateResult, Run
from evaluation.services.judging import certificates
from evaluation.services.launch import thresholds
from evaluation.services.run import comparisons, results
from labeling.core import acting, events
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.stored import Stored, read
from labeling.domain.stored import as_json as stored_of
from labeling.domain.uncertainty import chance_of_ratio_above
from labeling.words import worded_in_english

NOT_MEASURED = Fact("gate.not_measured")
NOT_INSTALLED = Fact("gate.metric_not_installed")


class GateImpossible(RuleError, code="gate_impossible"):
    """The run did not finish, or there is nothing to check: neither passed nor failed."""


def settings_of(run: Run) -> tuple[dict[str, float], float]:
    """Thresholds and largest drop: those of the launch, with what was said for this run alone.

    Those of answers hold for runs that have answers, and those of judges where one was asked.
    """
    spec = run.spec
    gate = spec.gate or thresholds.describe(run.release)
    without = set() if spec.has_answers else {metric.id for metric in metrics_for("answers")}
    if not spec.asks_for_answers and not run.judgings.exists():
        without |= JUDGED
    asked = {name: limit for name, limit in gate.thresholds.items() if name not in without}
    return {**asked, **spec.thresholds}, MAX_DROP if gate.max_drop is None else gate.max_drop


def ask(
    run: Run,
    *,
    baseline: Run | None = None,
    strict: bool = False,
    by: Any = None,
) -> GateResult:
    """Look at everything and keep the answer. Needs ``with_progress()`` of both runs.

    If ``strict``, a drop beyond its limit that is undecided fails.
    """
    _check(run, baseline)
    limits, max_drop = settings_of(run)
    checks = _thresholds(run, limits)
    if baseline is not None:
        checks += _drifts(run, baseline, max_drop, strict=strict)
    if not checks:
        raise GateImpossible("gate.nothing_to_check", details={"run": run.pk})
    if all(check.passed for check in checks) and _is_open(checks):
        raise GateImpossible("gate.one_conversation", details={"run": run.pk})
    return _store(run, baseline, checks, by)


@transaction.atomic
def _store(run: Run, baseline: Run | None, checks: list[Check], by: Any) -> GateResult:
    """With its events, or not at all. What test items said is in no log: many may read it."""
    result = GateResult.objects.create(
        run=run,
        baseline=baseline,
        passed=all(check.passed for check in checks),
        checks=[check.as_json() for check in checks],
        asked_by=by or acting.person(),
    )
    outcome = "passed" if result.passed else "failed"
    project, is_sealed = run.release.project, run.look_id is not None
    logged = "sealed" if is_sealed else outcome
    events.record("gate.asked", run, project=project, actor=by, run=run.pk, result=logged)
    if not result.passed and not is_sealed:
        events.record("gate.failed", run, project=project, actor=by, run=run.pk)
    return result


def newest(run: Run) -> GateResult | None:
    return GateResult.objects.filter(run=run).select_related("asked_by").first()


def last_of(run: Run) -> GateResult | None:
    """The newest result, if it is about the figures that the run has now."""
    result = newest(run)
    return result if result is not None and is_current(result, run) else None


def is_current(result: GateResult, run: Run) -> bool:
    """Figures may have been computed again since, after a retry for instance."""
    return run.scored_at is not None and result.at >= run.scored_at


def checks_of(result: GateResult) -> list[Check]:
    return [read(Check, stored) for stored in result.checks]


def failed(result: GateResult) -> list[Check]:
    return [check for check in checks_of(result) if not check.passed]


def is_strict(result: GateResult) -> bool:
    """Whether an undecided drop beyond its limit failed."""
    return any(check.strict for check in checks_of(result))


@dataclass(frozen=True)
class ShownCheck(Check):
    """A check with what follows from it."""

    change: Annotated[Change | None, "Of a drift: gain, drop or same"] = None
    code: Annotated[str, "Of the reason"] = ""


@dataclass(frozen=True)
class Gate:
    """A result, as files, commands and the API have it."""

    run: int
    baseline: int | None
    strict: Annotated[bool, "Whether an undecided drop beyond its limit failed"]
    passed: bool
    failed: Annotated[list[str], "The metrics"]
    checks: list[ShownCheck]
    at: str


def as_json(result: GateResult) -> Stored:
    """With English sentences, and the code of each beside it."""
    gate = Gate(
        run=result.run_id,
        baseline=result.baseline_id,
        strict=is_strict(result),
        passed=result.passed,
        failed=sorted({check.metric for check in failed(result)}),
        checks=[_shown(check) for check in checks_of(result)],
        at=result.at.isoformat(),
    )
    stored: Stored = worded_in_english(stored_of(gate))
    for check in stored["checks"]:
        check["reason"] = check["reason"] or ""
    return stored


def _shown(check: Check) -> ShownCheck:
    code = check.reason.code if check.reason else ""
    return read(ShownCheck, {**stored_of(check), "change": check.change, "code": code})


def _check(run: Run, baseline: Run | None) -> None:
    if baseline is not None and baseline.pk == run.pk:
        raise GateImpossible("gate.own_baseline", pk=run.pk, details={"run": run.pk})
    for each in (run, baseline):
        if each is not None and each.status != Run.Status.FINISHED:
            why = Fact("gate.run_unfinished", pk=each.pk)
            if each.failure:
                why = Fact("gate.run_failed", pk=each.pk, failure=each.failure)
            raise GateImpossible(why, details={"run": each.pk})


def _thresholds(run: Run, limits: dict[str, float]) -> list[Check]:
    rows = {row.metric: row for row in results.aggregates_of(run)}
    checks = []
    for name, limit in limits.items():
        metric, row = METRICS.get(name), rows.get(name)
        if metric is None:
            unknown = Metric(name, 1, frozenset(), name, "")
            checks.append(check_threshold(unknown, None, limit, why_undefined=NOT_INSTALLED))
            continue
        value = row.mean if row else None
        standing = certificates.standing_of(run, name) if name in JUDGED else None
        if standing is not None and standing.why is not None:
            checks.append(uncertified(metric, value, limit, why=standing.why))
        else:
            why = row.reason if row else NOT_MEASURED
            checks.append(
                check_threshold(
                    metric,
                    value,
                    limit,
                    why_undefined=why,
                    interval=(row.ci_low, row.ci_high) if row else (None, None),
                    chance=_chance(run, metric, limit) if row else None,
                )
            )
    return checks


def _chance(run: Run, metric: Metric, limit: float) -> float | None:
    """How probable it is that the true figure passes; None for what no case has a value of."""
    if not metric.per_case:
        return None
    totals = by_cluster(*comparisons.shares_of(run, metric))
    above = chance_of_ratio_above(totals, limit, lower=metric.lower, upper=metric.upper)
    return 1 - above if above is not None and metric.direction == "lower" else above


def _drifts(run: Run, baseline: Run, max_drop: float, *, strict: bool) -> list[Check]:
    """The metrics that a comparison tests, by its verdicts."""
    floors = {row.metric: row.yardsticks.get("floors", {}) for row in results.aggregates_of(run)}
    return [
        check_drift(
            row.metric,
            row.comparison,
            row.verdict,
            max_drop,
            strict=strict,
            floor=(floors.get(row.metric.id, {}).get("nothing") or {}).get("mean"),
        )
        for row in comparisons.compare_runs(baseline, run, tested_only=True).rows
        if row.verdict != "exploratory" and row.metric.id not in JUDGED
    ]


def _is_open(checks: list[Check]) -> bool:
    """Whether no drift could be decided: one conversation never decides one."""
    drifts = [check for check in checks if check.kind == "drift"]
    return bool(drifts) and all(
        check.ci_low is None and check.verdict != "identical" for check in drifts
    )
