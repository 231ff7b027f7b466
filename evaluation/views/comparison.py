"""Two runs side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.formats import number_format
from django.views.decorators.http import require_GET

from evaluation.access import require_reader
from evaluation.metrics.registry import METRICS, Metric
from evaluation.models import Run
from evaluation.services.judging import judge_marks
from evaluation.services.run.comparisons import Compared, MetricComparison, compare_runs
from evaluation.services.run.primary_metrics import sentences
from evaluation.views.present import figure
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.numbers import whole_number
from labeling.words import words

CHOICES = 50
COLOURS = {"better": "ok", "worse": "bad", "undecided": "warn", "not_measurable": "warn"}


class MetricRow(NamedTuple):
    """One metric of both runs, as texts."""

    metric: Metric
    before: str
    after: str
    difference: str
    interval: str
    p_value: str
    corrected_p: str
    detectable: str
    counts: str
    n: int
    n_undefined: int
    verdict: str
    badge: str
    mark: str
    """Of the judge that is worth less; empty for what nobody has judged."""


@require_GET
def run_compare(request: HttpRequest) -> HttpResponse:
    """Without two runs the page asks for them; of runs that cannot be compared it says why."""
    require_reader(request.user)
    before, after = _asked(request, "before"), _asked(request, "after")
    search = request.GET.get("q", "").strip()
    chosen = [run for run in (before, after) if run]
    matching = _matching(request, chosen, search)
    offered = {run.pk: run for run in [*chosen, *matching[:CHOICES]]}
    context: dict[str, Any] = {
        "before": before,
        "after": after,
        "runs": [offered[pk] for pk in sorted(offered, reverse=True)],
        "search": search,
        "none_fits": bool(search) and not matching,
        "most": CHOICES if len(matching) > CHOICES else None,
    }
    if before and after:
        try:
            context |= _shown(compare_runs(before, after))
        except RuleError as error:
            context["problem"] = words(error.fact)
    return render(request, "evaluation/compare.html", context)


def _asked(request: HttpRequest, name: str) -> Run | None:
    number = whole_number(request.GET.get(name, ""))
    if number is None:
        return None
    visible = Run.objects.visible_to(request.user).select_related("release__project")
    return get_object_or_404(visible, pk=number)


def _matching(request: HttpRequest, chosen: list[Run], search: str) -> list[Run]:
    """The newest finished runs that fit, and one more than are offered if there are more.

    Only those on the same gold once one is chosen. The run with the number searched for is first.
    """
    runs = Run.objects.visible_to(request.user).filter(scored_at__isnull=False)
    if chosen:
        runs = runs.filter(release=chosen[-1].release_id)
    light = runs.select_related("release").defer("spec", "config", "release__header")
    number = whole_number(search)
    numbered = [] if number is None else list(light.filter(pk=number))
    fitting = light.filter(Q(name__icontains=search) | Q(pipeline__icontains=search))
    others = fitting.exclude(pk__in=[run.pk for run in numbered])
    return [*numbered, *others[: CHOICES + 1 - len(numbered)]]


def _shown(comparison: Compared) -> dict[str, Any]:
    marks = judge_marks.of_runs([comparison.before.pk, comparison.after.pk])
    return {
        "rows": [_row(row, _mark(row, comparison, marks)) for row in comparison.rows],
        "deciding": sentences(comparison.declared, comparison.declared_after),
        "declared_late": bool(comparison.declared_after),
        "changed": comparison.changed,
        "judges_differ": [METRICS[name].title for name in comparison.judges_differ],
        "only_before": comparison.only_before,
        "only_after": comparison.only_after,
        "same": not comparison.changed,
    }


def _mark(
    row: MetricComparison, comparison: Compared, marks: Mapping[judge_marks.Figure, str]
) -> str:
    two = [
        marks.get(judge_marks.Figure(run.pk, row.metric.id))
        for run in (comparison.before, comparison.after)
    ]
    return max((mark for mark in two if mark), key=judge_marks.WORST_LAST.index, default="")


def _row(row: MetricComparison, mark: str) -> MetricRow:
    result = row.comparison
    return MetricRow(
        metric=row.metric,
        before=figure(result.before),
        after=figure(result.after),
        difference=_signed(result.difference),
        interval="–"
        if result.ci_low is None
        else f"{_signed(result.ci_low)} – {_signed(result.ci_high)}",
        p_value=_p(result.p_value),
        corrected_p=_p(row.corrected_p),
        detectable=figure(result.detectable),
        counts=f"{result.wins} / {result.losses} / {result.ties}",
        n=result.n,
        n_undefined=result.n_undefined,
        verdict=words(Fact(f"comparison.{row.verdict}")),
        badge=COLOURS.get(row.verdict, ""),
        mark=mark,
    )


def _signed(value: float | None) -> str:
    return "–" if value is None else number_format(f"{value:+z.3f}", 3)


def _p(value: float | None) -> str:
    return "–" if value is None else number_format(f"{value:.4f}", 4)
