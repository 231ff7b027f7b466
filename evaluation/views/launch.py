"""One page launches runs: on gold, on conversations without it, on predictions made elsewhere."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from evaluation.access import require_reader
from evaluation.forms import ConversationsForm, LaunchForm, PredictionsForm
from evaluation.metrics.registry import METRICS
from evaluation.models import Run, selected
from evaluation.services.language_models import bills
from evaluation.services.launch import cloning
from evaluation.services.run import planning
from evaluation.services.run.planning import Foreseen
from labeling.core.views.errors import expects_files
from labeling.domain.errors import FileFault, RuleError
from labeling.gold.views.gold import release_of
from labeling.translation import translated
from labeling.words import words
from pipelines.registry import PIPELINES

FORMS: dict[str, type[LaunchForm | PredictionsForm | ConversationsForm]] = {
    "gold": LaunchForm,
    "conversations": ConversationsForm,
    "predictions": PredictionsForm,
}
"""By what a run is launched on."""


@expects_files
@require_http_methods(["GET", "POST"])
def run_new(request: HttpRequest, on: str) -> HttpResponse:
    require_reader(request.user)
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    start = FORMS[on].start(request.GET, request.user)
    form = FORMS[on](*sent, reader=request.user, initial=start)
    if not sent and (like := getattr(form, "begins_with", None)):
        _say_gone(request, like)
    run = form.launch(by=request.user) if sent and form.is_valid() else None
    if run is not None:
        messages.success(request, _("Run {number} is queued.").format(number=run.pk))
        return redirect(run)
    context = {
        "form": form,
        "query": f"?{request.GET.urlencode()}" if request.GET else "",  # stays on another tab
        "plugin_faults": [*PIPELINES.faults, *METRICS.faults],
        **_foreseen(form, on),
    }
    return render(request, "evaluation/run_new.html", context, status=422 if form.errors else 200)


def _say_gone(request: HttpRequest, run: Run) -> None:
    if names := cloning.gone(run):
        said = _("Left out, because {pipeline} has no such setting any more: {names}.")
        messages.warning(request, said.format(pipeline=run.pipeline, names=", ".join(names)))


@expects_files
@require_http_methods(["GET", "POST"])
def run_planning(request: HttpRequest) -> HttpResponse:
    """What the run on the form would take and could show: asked for at each choice."""
    require_reader(request.user)
    asked = request.GET.get("on", "")
    on = asked if asked in FORMS else "gold"
    form = FORMS[on](request.POST or request.GET, request.FILES, reader=request.user)
    context = {**_foreseen(form, on), "is_part": True}
    return render(request, "evaluation/_launch_planning.html", context)


@require_GET
def release_planning(request: HttpRequest, slug: str, name: str, version: int) -> HttpResponse:
    """A part of the pages of gold."""
    release = release_of(request.user, slug, name, version)
    plan = planning.plan(release, split=selected(request.GET.get("split", "")))
    context = {
        "release": release,
        "plan": plan,
        "said": planning.sentences(plan) if plan else [],
    }
    return render(request, "evaluation/_gold_planning.html", context)


def _foreseen(form: Any, on: str) -> dict[str, Any]:
    try:
        foreseen: Foreseen | None = form.foreseen()
    except (RuleError, FileFault) as error:
        return {"on": on, "faults": [words(error.fact)]}
    if foreseen is None:
        return {"on": on}
    plan, cost = foreseen.plan, foreseen.cost
    effect = plan.effect if plan else None
    return {
        "on": on,
        "foreseen": foreseen,
        "standing": foreseen.standing,
        "known_reason": foreseen.known_reason,
        "price": (bills.price(cost) if cost else _("nothing")) if foreseen.cost_known else "",
        "price_basis": bills.estimate(cost) if cost else "",
        "faults": [words(fault) for fault in foreseen.faults],
        "effect": planning.figure(effect) if effect is not None else "",
        "metric": translated(plan.primary.metric.title) if plan else "",
        "said": planning.sentences(plan) if plan else [],
    }
