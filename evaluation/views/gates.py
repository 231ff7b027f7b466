"""The thresholds of a run, and what a project asks of its runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from evaluation.layers import GOLD_LAYERS
from evaluation.metrics.comparison import MARGIN
from evaluation.metrics.gate import DEFAULTS, MAX_DROP
from evaluation.metrics.registry import Metric
from evaluation.models import Run
from evaluation.services.launch import thresholds
from evaluation.services.run import baselines, gates, primary_metrics
from evaluation.views.opening import get_run, opened_run
from labeling.core import access
from labeling.core.views.access import refusals_told
from labeling.domain.errors import RuleError
from labeling.domain.msgids import msgid
from labeling.domain.numbers import whole_number
from labeling.models import GoldRelease, Project
from labeling.schema.targets import target_layers, title_of
from labeling.translation import translated
from labeling.words import words


@require_POST
def run_gate(request: HttpRequest, pk: int) -> HttpResponse:
    run = opened_run(request, pk)
    number = whole_number(request.POST.get("baseline", ""))
    baseline = None
    if number is not None:
        visible = Run.objects.visible_to(request.user).with_progress()
        baseline = visible.select_related("release").filter(pk=number).first()
    with refusals_told(request):
        if request.POST.get("baseline") and baseline is None:
            raise gates.GateImpossible(msgid("There is no such baseline run."))
        strict = "strict" in request.POST
        if gates.ask(run, baseline=baseline, strict=strict, by=request.user).passed:
            messages.success(request, _("The run reaches its thresholds."))
        else:
            messages.warning(request, _("The run does not reach its thresholds."))
    return redirect(run.get_absolute_url() + "#gate")


@require_POST
def run_baseline(request: HttpRequest, pk: int) -> HttpResponse:
    """From now on runs on the same gold and split are measured against this one, or no longer."""
    run = get_run(request, pk)
    if request.POST.get("action") == "take back":
        baselines.take_back(run, by=request.user)
        said = _("Run {number} is no longer the baseline of this gold and split.")
        messages.success(request, said.format(number=run.pk))
        return redirect(run)
    with refusals_told(request):
        baselines.choose(run, by=request.user)
        said = _("Run {number} is the baseline of this gold and split from now on.")
        messages.success(request, said.format(number=run.pk))
    return redirect(run)


@require_GET
def gate_thresholds(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    return render(request, "evaluation/gate_thresholds.html", _context(request, project, {}))


@require_POST
def gate_thresholds_store(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.led(request.user, slug)
    entered = {name: request.POST.get(name, "").strip() for name in _names(project)}
    try:
        values = {name: _number(text) for name, text in entered.items()}
        drop = _number(request.POST.get("max_drop", "").strip())
        kept = {
            name: value for name, value in values.items() if value is not None or name in DEFAULTS
        }
        thresholds.store(project, kept, drop, by=request.user)
    except RuleError as error:
        messages.error(request, words(error.fact))
        more = {"max_drop": request.POST.get("max_drop")}
        context = _context(request, project, entered | more)
        return render(request, "evaluation/gate_thresholds.html", context, status=400)
    messages.success(request, _("The thresholds hold for runs that are launched from now on."))
    return redirect("gate-thresholds", slug)


@require_POST
def primary_metric_store(request: HttpRequest, slug: str) -> HttpResponse:
    """Of one layer: comparisons that are looked at from now on are by it, and say so."""
    project = access.led(request.user, slug)
    entered = {name: request.POST.get(name, "").strip() for name in ("layer", "metric", "margin")}
    try:
        margin = _number(entered["margin"])
        declared = primary_metrics.declare(
            project,
            entered["layer"],
            entered["metric"],
            MARGIN if margin is None else margin,
            by=request.user,
        )
    except RuleError as error:
        messages.error(request, words(error.fact))
        context = _context(request, project, {"primary": entered})
        return render(request, "evaluation/gate_thresholds.html", context, status=400)
    messages.success(
        request,
        _("{metric} decides from now on.").format(metric=translated(declared.metric.title)),
    )
    return redirect("gate-thresholds", slug)


def _number(text: str) -> float | None:
    """Empty means no threshold; a decimal comma is accepted like a point."""
    if not text:
        return None
    try:
        return float(text.replace(",", "."))
    except ValueError as error:
        raise thresholds.ThresholdRefused(
            msgid("A threshold is a number, such as 0.85.")
        ) from error


def _layers(project: Project) -> list[str]:
    """Those that runs can be measured on; gold may be of layers that are not labeled here."""
    frozen = GoldRelease.objects.filter(project=project).values_list("layer", flat=True)
    known = {*target_layers(project.layers), *frozen}
    return [name for name in GOLD_LAYERS if name in known]


def _names(project: Project) -> list[str]:
    return [metric.id for metric in thresholds.metrics_of(_layers(project))]


def _context(request: HttpRequest, project: Project, entered: dict[str, Any]) -> dict[str, Any]:
    own = thresholds.own_of(project)
    gate = thresholds.in_force(own)
    return {
        "project": project,
        "own": own,
        "primaries": _primaries(project, entered.get("primary", {})),
        "default_margin": MARGIN,
        "groups": list(_groups(_layers(project), gate.thresholds, entered)),
        "max_drop": entered.get("max_drop") or _exact(gate.max_drop),
        "default_drop": MAX_DROP,
        "may_write": access.leads(request.user, project),
    }


def _exact(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def _primaries(project: Project, entered: dict[str, str]) -> list[dict[str, Any]]:
    """Of each layer what decides comparisons, and what else could."""
    rows = []
    for layer in _layers(project):
        now = primary_metrics.primary_of(project, layer)
        own = entered if entered.get("layer") == layer else {}
        rows.append(
            {
                "layer": layer,
                "title": title_of(layer),
                "said": primary_metrics.sentences(now, []),
                "metrics": primary_metrics.choices(layer),
                "chosen": own.get("metric", now.metric.id),
                "margin": own.get("margin", _exact(now.margin)),
            }
        )
    return rows


def _groups(
    layers: list[str], now: dict[str, float], entered: dict[str, Any]
) -> Iterator[tuple[str, list[tuple[Metric, str, float | None]], bool]]:
    """The metrics of each layer, and of answers; what several share is in the first group. Each
    metric has the threshold that the form shows, and the default."""
    left = thresholds.metrics_of(layers)
    for name in [*layers, "answers"]:
        rows = [
            (
                metric,
                entered.get(metric.id, _exact(now.get(metric.id))),
                DEFAULTS.get(metric.id),
            )
            for metric in left
            if name in metric.layers
        ]
        left = [metric for metric in left if name not in metric.layers]
        title = _("Answers") if name == "answers" else title_of(name)
        if rows:
            yield title, rows, any(asked for _metric, asked, _default in rows)
