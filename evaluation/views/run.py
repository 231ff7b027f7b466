"""One run: live progress, summary, plots, its cases, and what can be done with it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from evaluation.forms import BudgetForm
from evaluation.models import Aggregate, Run
from evaluation.services import looks
from evaluation.services.language_models import bills, budgets, endpoints
from evaluation.services.launch import carrying, spec
from evaluation.services.run import exposures, notes, results
from evaluation.services.run.baselines import baseline_of
from evaluation.services.run.comparisons import compare_runs
from evaluation.services.run.primary_metrics import primary_of
from evaluation.services.work import steering
from evaluation.templatetags.present import told
from evaluation.views import run_tabs
from evaluation.views.answers import called_off
from evaluation.views.live import progress_of
from evaluation.views.opening import any_run, get_run, opened, opened_run
from evaluation.views.plots import picture_of
from labeling.core.views.access import refusals_told, said_by
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.gold import gold
from labeling.models import GoldRelease
from labeling.words import words


@require_GET
def run_page(request: HttpRequest, pk: int) -> HttpResponse:
    """What came out, in one picture and one sentence, above the tabs that explain it. Of a run
    without gold there are its cases and how it was run."""
    run = opened(request.user, any_run(request, pk))
    progress = progress_of(run)
    aggregates = run_tabs.aggregates_of(run)
    tabs = run_tabs.tabs_of(run, aggregates, n_cases=progress["n_cases"])
    tab = run_tabs.open_tab(request, tabs)
    context = {
        **progress,
        "tabs": tabs,
        "tab": tab,
        **(_measured(run, aggregates) if run.is_measured else {}),
        **_model(run, shown=tab == "provenance" or run.status != Run.Status.FINISHED),
        **run_tabs.content_of(
            tab, request, run, aggregates=aggregates, n_cases=progress["n_cases"]
        ),
    }
    return render(request, "evaluation/run.html", context)


def _measured(run: Run, aggregates: run_tabs.Aggregates) -> dict[str, Any]:
    primary = primary_of(run.release.project, run.spec.layer).metric
    return {
        **_answer(run, aggregates.get(primary.id)),
        "predictions": run.spec.predictions,
        "synthetic": results.synthetic_cases(run),
        "exposure": (counts := exposures.of_run(run.pk)),
        "exposed": exposures.warning(counts),
        "test_look": looks.test_look(run),
        "left_out": looks.left_out(run.release, run.split),
        "retried": Fact("report.retried", n=n) if (n := results.retried_cases(run)) else None,
        "carried": run.spec.carried,
        "newer_gold": _newer_gold(run),
    }


def _answer(run: Run, row: Aggregate | None) -> dict[str, Any]:
    """The primary figure between its floor and what people reach, and the baseline."""
    if row is None:
        return {}
    baseline = baseline_of(run) if run.status == Run.Status.FINISHED else None
    return {
        "headline": row,
        "picture": picture_of(row),
        "baseline": baseline,
        "baseline_sealed": bool(baseline and looks.tested([baseline.run, run])),
    }


@require_GET
def run_verdict(request: HttpRequest, pk: int) -> HttpResponse:
    """What the primary figure says next to the baseline. A part of the page: many cases take
    longer to compare than a page should."""
    run = opened_run(request, pk)
    baseline = baseline_of(run) if run.scored_at else None
    if baseline is None:
        return HttpResponse()
    looks.require_comparison(request.user, [baseline.run, run])
    context: dict[str, Any] = {"run": run, "baseline": baseline}
    try:
        compared = compare_runs(baseline.run, run, tested_only=True)
    except RuleError as error:
        context["problem"] = words(error.fact)
    else:
        context["told"] = told(compared)
    return render(request, "evaluation/_verdict.html", context)


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
    except looks.ReasonMissing:
        context = {"run": run, "gold": str(release)}
        return render(request, "evaluation/run_carry.html", context)
    except RuleError as error:
        messages.error(request, words(error.fact))
        return redirect(run)
    return redirect(carried)


@require_POST
def run_control(request: HttpRequest, pk: int) -> HttpResponse:
    run = any_run(request, pk)
    action = request.POST.get("action", "")
    if action not in steering.CONTROLS:
        messages.error(request, _("There is no such action."))
        return redirect(run)
    if action == "cancel" and request.POST.get("confirm") != "yes":
        return render(request, "evaluation/run_cancel.html", progress_of(run))
    budget = BudgetForm(request.POST)
    if action == "resume" and not budget.is_valid():
        messages.error(request, said_by(budget))
        return redirect(run)
    values = budget.cleaned_data if action == "resume" else {}
    with refusals_told(request):
        steering.control(run, action, by=request.user, **values)
        done = {
            "pause": _("The run pauses before its next case."),
            "resume": _("The run continues."),
            "cancel": _("The run is canceled; what it has found is kept."),
            "rescore": _("The scores are being computed again."),
            "retry": _("What failed is tried again."),
            "call off": _("What was left of answers and judgments is called off."),
            "call off retry": _("What was left is called off; the run is scored again."),
        }
        messages.success(request, done[called_off(run, action) or action])
    return redirect(run)


@require_POST
def run_note(request: HttpRequest, pk: int) -> HttpResponse:
    """Earlier texts stay in the log of the project."""
    run = get_run(request, pk)
    with refusals_told(request):
        notes.write(run, request.POST.get("note", ""), by=request.user)
        messages.success(request, _("Saved."))
    return redirect(run)


def _model(run: Run, *, shown: bool) -> dict[str, Any]:
    """What the run asked of a language model; nothing for a run that needs none."""
    model = run.spec.model
    if not model or not shown:
        return {}
    return {
        "model": model,
        "parameters": endpoints.parameters(model),
        "prompts": spec.prompts_asked(run),
        "usage": bills.usage(budgets.spent(run.pk), with_models=True),
        "budget": bills.budget(run),
        "budget_form": BudgetForm() if run.paused else None,
    }
