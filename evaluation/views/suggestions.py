"""Where a lead asks a pipeline for suggestions, and switches them off."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from evaluation.forms import BudgetForm
from evaluation.services.language_models import bills, budgets
from evaluation.services.launch import suggestions as service
from labeling.core import access
from labeling.domain.errors import RuleError
from labeling.jobs import queue
from labeling.models import Project, SuggestionRequest
from labeling.schema import LAYERS
from labeling.words import words, words_of
from labeling.work import suggestion_requests as requests
from labeling.work import suggestions

SHOWN = 20


class Row(NamedTuple):
    """One request with how far it has come, and why some conversations got nothing."""

    asked: SuggestionRequest
    is_at_work: bool
    layer: str
    progress: requests.Progress
    reasons: list[str]
    budget: str
    usage: str
    """What language models were asked and cost; empty if none was asked."""


@require_GET
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    at_work = queue.at_work(requests.KIND)
    rows = [_row(asked, asked.pk in at_work) for asked in _requests(project)]
    is_running = any(row.asked.finished_at is None for row in rows)
    made = [] if is_running else suggestions.made(project)
    context = {
        "project": project,
        "may_write": access.leads(request.user, project),
        "pipelines": service.offered(project),
        "budget": BudgetForm(),
        "layers": [LAYERS[name] for name in service.layers_for(project)],
        "wanted": requests.wanted(project).count(),
        "rows": rows,
        "is_running": is_running,
        "made": [(each, LAYERS[each.layer].title) for each in made],
    }
    return render(request, "evaluation/suggestions.html", context)


@require_POST
def ask(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.led(request.user, slug)
    pipeline, layer = request.POST.get("pipeline", ""), request.POST.get("layer", "")
    budget = BudgetForm(request.POST)
    if not budget.is_valid():
        messages.error(request, _("A budget is a number above nothing, or left empty."))
        return redirect("suggestions", project.slug)
    try:
        service.ask(project, pipeline=pipeline, layer=layer, by=request.user, **budget.cleaned_data)
    except RuleError as error:
        messages.error(request, words(error.fact))
    else:
        messages.success(
            request, _("A worker asks {pipeline} for suggestions now.").format(pipeline=pipeline)
        )
    return redirect("suggestions", project.slug)


@require_POST
def switch(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.led(request.user, slug)
    on = request.POST.get("suggestions") == "on"
    suggestions.switch(project, on=on, by=request.user)  # type: ignore[arg-type]
    messages.success(
        request, _("Suggestions are {value} in this project.").format(value="on" if on else "off")
    )
    return redirect("suggestions", project.slug)


def _requests(project: Project) -> Any:
    return project.suggestion_requests.select_related("project", "requested_by")[:SHOWN]


def _row(asked: SuggestionRequest, is_at_work: bool) -> Row:
    reasons = sorted(set(map(words_of, asked.failures.values())))
    budget = bills.budget(asked) if service.asks_model(asked) else ""
    usage = bills.usage_line(budgets.spent_in(asked.usage)) if asked.usage else ""
    layer = LAYERS[asked.layer].title
    return Row(asked, is_at_work, layer, requests.progress(asked), reasons[:3], budget, usage)
