"""One run: live progress, summary, plots, its cases, and what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import F, OuterRef, Subquery
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from evaluation.forms import BudgetForm
from evaluation.layers import GoldLayer, gold_layer
from evaluation.metrics.gate import Change, StoredCheck, change_of
from evaluation.metrics.registry import METRICS, Metric
from evaluation.models import Aggregate, CaseRun, GateResult, RatingPanel, Run, Score
from evaluation.services import looks
from evaluation.services.language_models import bills, budgets
from evaluation.services.launch import carrying
from evaluation.services.run import exposures, gates, results
from evaluation.services.run.primary_metrics import primary_of
from evaluation.services.work import attendance, steering
from evaluation.views import present
from evaluation.views.answers import (
    answers_context,
    answers_progress,
    called_off,
    over_runs,
)
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.models import Conversation, GoldRelease
from labeling.services import blindness, health
from labeling.services.gold import gold
from labeling.words import words
from pipelines.registry import PIPELINES

PAGE_SIZE = 50
ENDED = {Run.Status.FINISHED, Run.Status.CANCELLED, Run.Status.FAILED}
STOP_POLLING = 286


class Column(NamedTuple):
    """A metric of the table of cases: how it sorts now, and what the next click asks for."""

    metric: Metric
    sorted: str | None
    next: str


class CaseRow(NamedTuple):
    case: CaseRun
    failed: bool
    cells: list[present.Cell]


class GateCheck(NamedTuple):
    """One check of the gate, as texts."""

    metric: Metric | None
    kind: str
    change: Change | None
    verdict: str
    passed: bool
    value: str
    limit: str
    reason: str


@require_GET
def run_page(request: HttpRequest, pk: int) -> HttpResponse:
    run = opened_run(request, pk)
    layer = gold_layer(run.release.layer)
    answered = run.spec.has_answers
    metrics = present.case_columns(layer, answered=answered)
    aggregates = {row.metric: row for row in results.aggregates_of(run)}
    shown = [present.summary_row(row) for row in aggregates.values()]
    summary = [line for line in shown if not line.metric.diagnostic]
    context = {
        **_progress(run),
        **_summary(run, layer, summary),
        "diagnostics": [line for line in shown if line.metric.diagnostic],
        "predictions": run.spec.predictions,
        "synthetic": results.synthetic_cases(run),
        "exposure": (counts := exposures.of_run(run.pk)),
        "exposed": exposures.warning(counts),
        "test_look": looks.test_look(run),
        "carried": run.spec.carried,
        "newer_gold": _newer_gold(run),
        **_details(run, aggregates),
        **_evidence(layer, aggregates),
        **_standing(run),
        **_model(run),
        **(answers_context(run, aggregates) if answered else {}),
        "over_runs": over_runs(run),
        **_cases(request, run, metrics),
    }
    return render(request, "evaluation/run.html", context)


def _newer_gold(run: Run) -> GoldRelease | None:
    """The newest version of the run's gold, if this run was not carried to it yet."""
    newer = GoldRelease.objects.filter(
        name=run.release.name, version__gt=run.release.version
    ).light()
    newest = newer.order_by("-version").first()
    if newest is None or run.status != Run.Status.FINISHED:
        return None
    return None if carrying.carried_to(run, newest.pk) else newest


@require_POST
def run_carry(request: HttpRequest, pk: int) -> HttpResponse:
    """Score the outputs of a run on other gold, without running its pipeline."""
    run = opened_run(request, pk)
    visible = GoldRelease.objects.visible_to(request.user).select_related("project")
    reason = request.POST.get("reason", "")
    try:
        release = gold.find(request.POST.get("gold", ""), among=visible)
        carried = carrying.carry(run, release, reason=reason, by=request.user)
    except RuleError as error:
        messages.error(request, words(error.fact))
        return redirect(run)
    return redirect(carried)


@require_GET
def run_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """The part that polls. When the run ends the page is loaded again, with its results."""
    run = get_run(request, pk)
    response = render(request, "evaluation/_progress.html", _progress(run))
    if run.status in ENDED:
        response.status_code = STOP_POLLING
        response["HX-Refresh"] = "true"
    return response


@require_POST
def run_control(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_run(request, pk)
    action = request.POST.get("action", "")
    if action not in steering.CONTROLS:
        messages.error(request, _("There is no such action."))
        return redirect(run)
    if action == "cancel" and request.POST.get("confirm") != "yes":
        return render(request, "evaluation/run_cancel.html", _progress(run))
    budget = BudgetForm(request.POST)
    if action == "resume" and not budget.is_valid():
        messages.error(
            request, " ".join(str(error) for errors in budget.errors.values() for error in errors)
        )
        return redirect(run)
    budgets_raised = budget.cleaned_data if action == "resume" else {}
    try:
        steering.CONTROLS[action](run, by=request.user, **budgets_raised)
    except RuleError as error:
        messages.error(request, words(error.fact))
    else:
        done = {
            "pause": _("The run pauses before its next case."),
            "resume": _("The run continues."),
            "cancel": _("The run is cancelled; what it has found is kept."),
            "rescore": _("The scores are being computed again."),
            "call off": _("What was left of answers and judgements is called off."),
        }
        messages.success(request, done[called_off(run, action) or action])
    return redirect(run)


@require_GET
def run_results(request: HttpRequest, pk: int) -> HttpResponse:
    run = opened_run(request, pk)
    response = JsonResponse(
        results.results_document(run), json_dumps_params={"indent": 2, "ensure_ascii": False}
    )
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-results.json"'
    return response


@require_GET
def run_cases_csv(request: HttpRequest, pk: int) -> HttpResponseBase:
    run = opened_run(request, pk)
    shown = Conversation.objects.filter(gold_items__case_runs__run=run)
    blindness.refuse(request.user, shown)  # where gold stands is in the table
    response = StreamingHttpResponse(results.case_table(run), content_type="text/csv")
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-cases.csv"'
    return response


def opened_run(request: HttpRequest, pk: int) -> Run:
    """For pages with figures or cases: of a run on test items, only for a reason."""
    run = get_run(request, pk)
    looks.require(request.user, run)
    return run


def get_run(request: HttpRequest, pk: int) -> Run:
    visible = Run.objects.visible_to(request.user).with_progress()
    related = ("release__project", "release__guideline", "requested_by", "look")
    loaded = visible.select_related(*related)
    return get_object_or_404(loaded, pk=pk)


def _progress(run: Run) -> dict[str, Any]:
    counts: Any = run  # annotated by with_progress()
    finished = counts.n_done + counts.n_failed
    return {
        **answers_progress(run),
        "run": run,
        "badge": present.BADGES[run.status],
        "ended": run.status in ENDED,
        "n_finished": finished,
        "percent": round(100 * finished / counts.n_cases) if counts.n_cases else 0,
        "can_rescore": finished == counts.n_cases and not run.cancelled,
        "silence": attendance.silence(run),
        "has_no_worker": run.status == Run.Status.QUEUED and not health.has_worker(),
        "prepares": run.status == Run.Status.RUNNING and not finished and _prepares(run),
        "only_answers": finished == counts.n_cases and run.spec.has_answers,
    }


def _prepares(run: Run) -> bool:
    entry = PIPELINES.get(run.pipeline)
    return entry is not None and entry.prepares


def _model(run: Run) -> dict[str, Any]:
    """What the run asked of a language model; nothing for a run that needs none."""
    model = run.spec.model
    if not model:
        return {}
    return {
        "model": model,
        "usage": bills.usage(budgets.spent(run.pk), budgets.served(run.pk)),
        "budget": bills.budget(run),
        "budget_form": BudgetForm() if run.paused else None,
    }


def _details(run: Run, aggregates: dict[str, Aggregate]) -> dict[str, Any]:
    """What the metrics tell next to their figures."""
    micro = (row.detail["micro"] for row in aggregates.values() if "micro" in row.detail)
    curve = _detail(aggregates, "requirement_f1").get("curve", [])
    relevance = _detail(aggregates, "inference_relevance")
    return {
        "micro": next(micro, None),
        "reliability": present.reliability_plot(aggregates),
        "curve": present.threshold_plot(curve, run.spec.matching.threshold),
        "basis": relevance.get("basis"),
        "nothing": relevance.get("nothing"),
        "groups": _groups(aggregates),
    }


def _detail(aggregates: dict[str, Aggregate], metric: str) -> dict[str, Any]:
    return aggregates[metric].detail if metric in aggregates else {}


def _evidence(layer: GoldLayer, aggregates: dict[str, Aggregate]) -> dict[str, Any]:
    """Where evidence was lost, and which questions are hard, in the layers that cite messages."""
    detail = _detail(aggregates, layer.headline[0])
    if "funnel" not in detail:
        return {}
    reranking = detail.get("reranking")
    known = "reranking" in detail  # runs that were scored before have none
    groups = {_("Expected messages"): detail["by_evidence"], _("Category"): detail["by_category"]}
    return {
        "funnel": present.funnel_rows(
            detail["funnel"], drops=not known or bool(reranking and reranking["dropped"])
        ),
        "reranking": reranking,
        "lost_ranks": present.band_rows(detail.get("lost_ranks", [])),
        "untraced": detail.get("untraced", {}),  # runs that were scored before have none
        "unscorable": detail["unscorable"],
        "returned_mean": present.figure(detail["returned_mean"]),
        "breakdowns": [
            {"title": title, "rows": [row | {"mean": present.figure(row["mean"])} for row in rows]}
            for title, rows in groups.items()
            if len(rows) > 1
        ],
    }


def _groups(aggregates: dict[str, Aggregate]) -> list[dict[str, Any]]:
    """The main figure by difficulty, domain and type; a single group is left out."""
    breakdowns = [
        group for row in aggregates.values() for group in row.detail.get("breakdowns", [])
    ]
    return [
        group | {"rows": [row | {"mean": present.figure(row["mean"])} for row in group["rows"]]}
        for group in breakdowns
        if len(group["rows"]) > 1
    ]


def _summary(run: Run, layer: GoldLayer, rows: Sequence[present.SummaryRow]) -> dict[str, Any]:
    """The primary figure first, then all of them in groups, with the columns that they need."""
    if not rows:
        return {}
    primary = primary_of(run.release.project, layer.name).metric
    headline = next((line for line in rows if line.metric.id == primary.id), None)
    return {
        "summary": rows,
        "headline": headline,
        "groups_of_metrics": present.grouped(layer, rows),
        "floor_names": list(dict.fromkeys(floor.name for line in rows for floor in line.floors)),
        "by_chance": any(line.row.chance is not None for line in rows),
        "by_people": any(line.people for line in rows),
        "by_empty": any(line.n_empty for line in rows),
        "without_people": [line for line in rows if line.no_people],
    }


def _cases(request: HttpRequest, run: Run, metrics: list[Metric]) -> dict[str, Any]:
    order = request.GET.get("sort", "")
    cases = CaseRun.objects.filter(run=run).select_related("item")
    cases = cases.defer("output", "usage", "item__canonical")
    page = Paginator(_sorted(cases, order), PAGE_SIZE).get_page(request.GET.get("page"))
    return {
        "columns": [_column(metric, order) for metric in metrics],
        "order": order,
        "page": page,
        "cases": _rows(list(page.object_list), metrics),
        "repeats": run.repetitions > 1,
    }


def _sorted(cases: Any, order: str) -> Any:
    """By a metric (``-`` for descending), undefined ones last; else in the order of the gold."""
    metric = METRICS.get(order.removeprefix("-"))
    if metric is None:
        return cases.order_by("pk")
    scores = Score.objects.filter(
        case=OuterRef("pk"), metric=metric.id, metric_version=metric.version
    )
    cases = cases.annotate(by=Subquery(scores.values("value")[:1]))
    by = F("by").desc(nulls_last=True) if order.startswith("-") else F("by").asc(nulls_last=True)
    return cases.order_by(by, "pk")


def _column(metric: Metric, order: str) -> Column:
    """Sorted upwards first: the worst cases are of most interest."""
    directions = {metric.id: "ascending", f"-{metric.id}": "descending"}
    following = f"-{metric.id}" if order == metric.id else metric.id
    return Column(metric, directions.get(order), following)


def _rows(cases: list[CaseRun], metrics: list[Metric]) -> list[CaseRow]:
    scores = Score.objects.filter(case__in=cases).defer("detail", "by_person")
    by_case: dict[int, dict[tuple[str, int], Score]] = {case.pk: {} for case in cases}
    for score in scores:
        by_case[score.case_id][score.metric, score.metric_version] = score
    return [
        CaseRow(
            case=case,
            failed=case.state == CaseRun.State.FAILED,
            cells=[
                present.score_cell(
                    by_case[case.pk].get((metric.id, metric.version)),
                    failed=case.state == CaseRun.State.FAILED,
                )
                for metric in metrics
            ],
        )
        for case in cases
    ]


# --- gates and judges -------------------------------------------------------------


BASELINES = 20


def _standing(run: Run) -> dict[str, Any]:
    """Nothing while the run has no figures."""
    if run.scored_at is None:
        return {}
    layer = gold_layer(run.release.layer)
    return {
        "gate": _gate(run),
        "rated": layer.rated,
        "panel": RatingPanel.objects.filter(run=run).first() if layer.rated else None,
    }


def _gate(run: Run) -> dict[str, Any]:
    limits, max_drop = gates.settings_of(run)
    last = GateResult.objects.filter(run=run).select_related("asked_by").first()
    others = Run.objects.beside(run).defer("spec", "config", "release__header")
    return {
        "limits": [(METRICS[name], limit) for name, limit in limits.items() if name in METRICS],
        "max_drop": max_drop,
        "last": last,
        "checks": [_check(check) for check in last.checks] if last else [],
        "failed": len(gates.failed(last)) if last else 0,
        "baselines": others[:BASELINES],
    }


def _check(check: StoredCheck) -> GateCheck:
    change, verdict = change_of(check), check.get("verdict")
    size = check["value"] if change is None else abs(check["value"] or 0.0)
    value, limit = present.compared(size, check["limit"])
    at_least = check["kind"] == "threshold" and check["direction"] == "higher"
    return GateCheck(
        metric=METRICS.get(check["metric"]),
        kind=check["kind"],
        change=change,
        verdict=words(Fact(f"comparison.{verdict}")) if verdict else "",
        passed=check["passed"],
        value=value,
        limit="–" if change in ("gain", "same") else f"{'≥' if at_least else '≤'} {limit}",
        reason=words(why) if (why := gates.reason_of(check)) else "",
    )
