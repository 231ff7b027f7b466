"""Runs next to a baseline: what may be concluded, the differences as a plot, and the cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from evaluation.access import require_reader
from evaluation.layers import gold_layer
from evaluation.metrics.registry import METRICS, Metric
from evaluation.models import CaseRun, Run
from evaluation.services import looks
from evaluation.services.judging import certificates
from evaluation.services.run import baselines
from evaluation.services.run.compared_cases import OUTCOMES, compared_cases
from evaluation.services.run.comparisons import (
    MOST_RUNS,
    Compared,
    MetricComparison,
    compare_with,
    why_not,
)
from evaluation.services.run.conclusions import exposed
from evaluation.services.run.primary_metrics import sentences
from evaluation.views.compared_case import units_of
from evaluation.views.pairs import score_of
from evaluation.views.plots import forest
from labeling.domain.errors import RuleError
from labeling.domain.numbers import whole_number
from labeling.models import Conversation
from labeling.words import words
from labeling.work import blindness

PAGE_SIZE = 50


@require_GET
def run_compare(request: HttpRequest) -> HttpResponse:
    """Runs are ticked in the list of runs; of runs that cannot be compared the page says why."""
    require_reader(request.user)
    baseline, runs = _chosen(request)
    context: dict[str, Any] = {"baseline": baseline, "runs": runs, "most_runs": MOST_RUNS}
    context["of_gold"] = f"?release={quote(str(runs[0].release))}" if runs else ""
    if baseline and runs:
        looks.require_comparison(request.user, [baseline, *runs])
        context |= _compared(request, baseline, runs)
    return render(request, "evaluation/compare.html", context)


@require_GET
def run_compare_case(request: HttpRequest, baseline: int, run: int, pk: int) -> HttpResponse:
    """One case with both outputs and gold, as part of the page or as a page."""
    visible = Run.objects.visible_to(request.user).select_related("release__project")
    both = CaseRun.objects.filter(run__in=visible.values("pk"))
    related = both.select_related("item", "run__release__project")
    after = get_object_or_404(related, run__pk=run, pk=pk)
    blindness.refuse(request.user, Conversation.objects.filter(pk=after.item.conversation_id))
    if after.item.split == Conversation.Split.TEST:
        looks.require_comparison(request.user, [get_object_or_404(visible, pk=baseline), after.run])
    same = {"item": after.item_id, "part": after.part, "repetition": after.repetition}
    before = get_object_or_404(related, run__pk=baseline, **same)
    metric = _metric(request, after.run, METRICS[gold_layer(after.run.spec.layer).primary])
    cases = (before, after)
    context = {
        "columns": [(case, score_of(case, metric)) for case in cases],
        "before": before,
        "after": after,
        "metric": metric,
        "units": units_of(*cases),
    }
    part = request.headers.get("HX-Request") == "true"
    name = "_compared_case" if part else "compared_case"
    return render(request, f"evaluation/{name}.html", context)


# --- which runs -----------------------------------------------------------------------------------


def _chosen(request: HttpRequest) -> tuple[Run | None, list[Run]]:
    """What the address names. Without a baseline it is the one by rule of a single run, of several
    the chosen one or the oldest."""
    visible = Run.objects.visible_to(request.user).select_related("release__project")
    texts = [*request.GET.getlist("baseline")[:1], *request.GET.getlist("run")]
    numbers = dict.fromkeys(number for number in map(whole_number, texts) if number is not None)
    runs = [get_object_or_404(visible, pk=number) for number in [*numbers][:MOST_RUNS]]
    if "baseline" in request.GET:
        return (runs[0], runs[1:]) if runs else (None, [])
    if len(runs) == 1:
        rule = baselines.baseline_of(runs[0]) if runs[0].scored_at else None
        return rule.run if rule else None, runs
    chosen = {choice.run_id for run in runs if (choice := baselines.choice_of(run))}
    runs.sort(key=lambda run: (run.pk not in chosen, run.pk))
    return runs[0] if runs else None, runs[1:]


# --- what is concluded ----------------------------------------------------------------------------


def _compared(request: HttpRequest, baseline: Run, runs: list[Run]) -> dict[str, Any]:
    """Runs that cannot be compared are left out, each with its reason."""
    reasons = {run.pk: why_not(baseline, run) for run in runs}
    refused = [{"run": run, "why": words(why)} for run in runs if (why := reasons[run.pk])]
    able = [run for run in runs if not reasons[run.pk]]
    context: dict[str, Any] = {"refused": refused}
    if not able:
        return context
    try:
        compared = compare_with(baseline, able)
    except RuleError as error:
        return {"problem": words(error.fact)}
    marks = certificates.marks([run.pk for run in [baseline, *able]])
    seen_before = sorted({pk for each in compared for pk in each.declared_after})
    chosen = baselines.choice_of(baseline)
    tested, rest = _by_metric(compared, tested=True), _by_metric(compared, tested=False)
    return context | {
        "conclusions": compared,
        "deciding": [
            *sentences(compared[0].declared, seen_before),
            *(baselines.sentences(chosen, able) if chosen else []),
        ],
        "declared_late": bool(seen_before or (chosen and chosen.after(able))),
        "metrics_version": baseline.spec.metrics_version,
        "exposed": exposed([baseline, *able]),
        "several": len(compared) > 1,
        "tables": [_table(rows, marks) for rows in (tested, rest)],
        **_cases(request, baseline, compared),
    }


def _table(
    pairs: Sequence[tuple[MetricComparison, Compared]],
    marks: Mapping[certificates.Figure, str],
) -> dict[str, Any]:
    """The metrics of one kind as a plot, and in figures: each with the mark of the judge that is
    worth less; empty for what nobody has judged."""
    rows = [(row, each, _mark(row, each, marks)) for row, each in pairs]
    return {"forest": forest(pairs), "rows": rows}


def _by_metric(
    compared: Sequence[Compared], *, tested: bool
) -> list[tuple[MetricComparison, Compared]]:
    """Metric by metric, and of each metric the runs in the order that they were asked for."""
    names = dict.fromkeys(row.metric.id for each in compared for row in each.rows)
    by_run = [{row.metric.id: row for row in each.rows} for each in compared]
    return [
        (rows[name], each)
        for name in names
        for each, rows in zip(compared, by_run, strict=True)
        if name in rows and (rows[name].role != "exploratory") is tested
    ]


def _mark(
    row: MetricComparison, comparison: Compared, marks: Mapping[certificates.Figure, str]
) -> str:
    two = [
        marks.get(certificates.Figure(run.pk, row.metric.id))
        for run in (comparison.before, comparison.after)
    ]
    return max((mark for mark in two if mark), key=certificates.WORST_LAST.index, default="")


# --- the cases ------------------------------------------------------------------------------------


def _cases(request: HttpRequest, baseline: Run, compared: Sequence[Compared]) -> dict[str, Any]:
    """Those of one run at a time, by one metric."""
    number = whole_number(request.GET.get("cases", ""))
    shown = next((each for each in compared if each.after.pk == number), compared[0])
    metric = _metric(request, shown.after, shown.primary.metric)
    rows = compared_cases(baseline, shown.after, metric)
    counts = Counter(row.outcome for row in rows)
    failed = [row for row in rows if row.failed_before or row.failed_after]
    outcome = request.GET.get("outcome", "")
    if outcome == "failed":
        rows = failed
    elif outcome in OUTCOMES:
        rows = [row for row in rows if row.outcome == outcome]
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    return {
        "shown": shown.after,
        "case_metric": metric,
        "case_metrics": [row.metric for row in shown.rows],
        "outcome": outcome,
        "counts": {name: counts[name] for name in OUTCOMES},
        "n_failed": len(failed),
        "page": page,
    }


def _metric(request: HttpRequest, run: Run, otherwise: Metric) -> Metric:
    """The metric that the address names, if each case has a value of it."""
    known = {metric.id: metric for metric in run.spec.all_metrics() if metric.per_case}
    return known.get(request.GET.get("metric", ""), otherwise)
