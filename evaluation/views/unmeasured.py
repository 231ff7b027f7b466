"""What there is of runs without gold alone: files, suggestions, and their end."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from evaluation.forms import BudgetForm
from evaluation.models import Run
from evaluation.services.unmeasured import adopting, files, launching
from evaluation.services.unmeasured.adopting import Adopted
from evaluation.views.opening import any_run, opened_unmeasured
from labeling.core import access
from labeling.core.views.access import person, refusals_told, said_by
from labeling.models import Membership, Project
from labeling.schema import LAYERS
from labeling.words import words
from labeling.work import suggestions


def adopting_project(user: Any, run: Run) -> Project | None:
    """That of the run, if the person leads it and labels of the run could go into it."""
    led = Project.objects.with_role(user, Membership.Role.LEAD)
    project = led.filter(pk=run.project_id or 0).first()
    return project if project and adopting.layers_for(run, project) else None


@require_POST
def run_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Before it expires; a run on gold stays."""
    run = any_run(request, pk)
    if run.is_measured or request.POST.get("confirm") != "yes":
        return redirect(run)
    run.delete()
    messages.success(request, _("The run and its results are deleted."))
    return redirect("runs")


@require_POST
def run_suggest(request: HttpRequest, pk: int) -> HttpResponse:
    run = opened_unmeasured(request, pk)
    project = access.led(request.user, request.POST.get("project", "").replace("\x00", ""))
    with refusals_told(request):
        _tell(request, adopting.adopt(run, project, by=request.user))
        return redirect("suggestions", project.slug)
    return redirect(run)


def _tell(request: HttpRequest, adopted: Adopted) -> None:
    made, known = adopted.made, adopted.known
    parts = [
        ngettext("{n} suggestion is new", "{n} suggestions are new", made).format(n=made),
        ngettext("{n} was there", "{n} were there", known).format(n=known),
    ]
    messages.success(request, "; ".join(parts) + ".")
    for id, why in list(adopted.left_out.items())[:5]:
        messages.warning(request, f"{id}: {words(why)}")


@require_GET
def run_outputs(request: HttpRequest, pk: int) -> HttpResponseBase:
    run = opened_unmeasured(request, pk)
    lines = map(files.prediction_line, launching.done_cases(run).iterator(chunk_size=20))
    return _attached(lines, "application/x-ndjson; charset=utf-8", f"run-{pk}.jsonl")


@require_GET
def run_labels(request: HttpRequest, pk: int) -> HttpResponseBase:
    run = opened_unmeasured(request, pk)
    lines = files.label_table(launching.done_cases(run).iterator(chunk_size=20), run.spec.layer)
    return _attached(lines, "text/csv; charset=utf-8", f"run-{pk}.csv")


def _attached(lines: Any, content_type: str, name: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(lines, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


# --- suggestions ----------------------------------------------------------------------------------


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
