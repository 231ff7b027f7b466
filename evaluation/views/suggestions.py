"""Where a lead asks a pipeline for suggestions, takes them over, and switches them off."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from evaluation.forms import BudgetForm
from evaluation.models import Run
from evaluation.services.unmeasured import adopting
from labeling.core import access
from labeling.core.views.access import person, refusals_told, said_by
from labeling.schema import LAYERS
from labeling.work import suggestions

SHOWN = 20
ENDED = ("finished", "failed", "cancelled")


@require_GET
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    unmeasured = Run.objects.with_progress().filter(project=project, release=None)
    runs = unmeasured.select_related("requested_by").order_by("-pk")[:SHOWN]
    context = {
        "project": project,
        "may_write": access.leads(request.user, project),
        "pipelines": adopting.offered(project),
        "budget": BudgetForm(),
        "wanted": suggestions.wanted(project).count(),
        "most": adopting.MOST_AT_ONCE,
        "runs": [(run, run.status in ENDED) for run in runs if adopting.layers_for(run, project)],
        "made": [(each, LAYERS[each.layer].title) for each in suggestions.made(project)],
    }
    return render(request, "evaluation/suggestions.html", context)


@require_POST
def ask(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.led(request.user, slug)
    budget = BudgetForm(request.POST)
    if not budget.is_valid():
        messages.error(request, said_by(budget))
        return redirect("suggestions", slug)
    pipeline = request.POST.get("pipeline", "")
    with refusals_told(request):
        run = adopting.ask(project, pipeline, by=person(request), **budget.cleaned_data)
        return redirect(run)
    return redirect("suggestions", slug)


@require_POST
def switch(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.led(request.user, slug)
    on = request.POST.get("suggestions") == "on"
    suggestions.switch(project, on=on, by=person(request))
    messages.success(
        request, _("Suggestions are {value} in this project.").format(value="on" if on else "off")
    )
    return redirect("suggestions", slug)
