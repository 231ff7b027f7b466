from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from labeling.agreement.views.gate import gate_of, lowest_pair
from labeling.core import access, project_settings
from labeling.core import projects as service
from labeling.core.forms.project_settings import SettingsForm
from labeling.core.forms.projects import ProjectForm
from labeling.core.views import once
from labeling.core.views.access import form_page, person, refusals_in
from labeling.core.views.members import members_of
from labeling.models import GoldRelease, Project
from labeling.overview import needs
from labeling.overview.needs import Standing
from labeling.overview.views import activity
from labeling.overview.views.home import project_cards
from labeling.overview.views.needs import of_project
from labeling.overview.views.project_start import start_context
from labeling.schema import LAYERS
from labeling.words import words
from labeling.work.round_counts import counted

RECENT_EVENTS = 12


@require_GET
def project_list(request: HttpRequest) -> HttpResponse:
    context = {
        "projects": project_cards(request.user),
        "may_create": service.may_create(person(request)),
    }
    return render(request, "labeling/projects.html", context)


@require_http_methods(["GET", "POST"])
def project_new(request: HttpRequest) -> HttpResponse:
    if not service.may_create(person(request)):
        raise PermissionDenied(_("Only staff and leads of a project create projects here."))
    form = ProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            created = service.create(by=person(request), **form.cleaned_data)
            messages.success(request, _("Project created."))
            return redirect(created)
    return form_page(request, "project_new", form)


@require_GET
def project(request: HttpRequest, slug: str) -> HttpResponse:
    """The lead's dashboard: the project's progress and who does what."""
    project = access.readable(request.user, slug)
    rounds = rounds_of(project)
    context = {
        "project": project,
        "in_place": bool(request.htmx),  # type: ignore[attr-defined]
        "may_write": access.leads(request.user, project),
        "gate": gate_of(project, rounds),
        "rounds": rounds,
        "flow": _flow(project, rounds),
        "members": members_of(project),
        "labels": [LAYERS[name] for name in project.layers],
        "guideline": project.guidelines.only("version", "created_at").first(),
        "events": [
            (event, activity.words(event))
            for event in project.events.select_related("actor")[:RECENT_EVENTS]
        ],
        **start_context(project, rounds),
        **(once.take(request, f"people-{project.pk}") or {}),
    }
    (standing,) = needs.standings([project])
    context["standing"] = standing
    if "start" not in context and context["may_write"]:
        context |= _next(standing)
    return render(request, "labeling/project.html", context)


def _next(standing: Standing) -> dict[str, Any]:
    """What a lead should do first, and what comes then."""
    lines = of_project(standing)
    return {"next": lines[0], "then": lines[1:]} if lines else {}


@require_GET
@never_cache
def project_start(request: HttpRequest, slug: str) -> HttpResponse:
    """The checklist alone, for a page that waits for people or their first answer."""
    project = access.readable(request.user, slug)
    context = start_context(project, rounds_of(project))
    if not context:
        whole = {"target": "#main", "select": "#main", "swap": "outerHTML", "push": "false"}
        to = json.dumps({"path": project.get_absolute_url(), **whole})
        return HttpResponse(headers={"HX-Location": to})
    context |= {"project": project, "may_write": access.leads(request.user, project)}
    return render(request, "labeling/_checklist.html", context)


def rounds_of(project: Project) -> list[Any]:
    """Newest first, with what the table and the gate show of each."""
    rounds = counted(project.rounds.order_by("-number"))
    for round_ in rounds:
        round_.lowest = lowest_pair(round_.agreement or {})
    return rounds


def _flow(project: Project, rounds: list[Any]) -> dict[str, Any]:
    """The stages from conversations to gold with a figure each."""
    measured = next((round_ for round_ in rounds if round_.agreement), None)
    all_gold = GoldRelease.objects.filter(project=project).with_size().order_by("-pk")
    releases = all_gold.defer("header", "left_out", "agreement")
    return {
        "missing": sum(round_.n_assigned - round_.n_done for round_ in rounds),
        "measured": measured,
        "label_f1": _label_f1(measured.agreement or {}) if measured else None,
        "gold": releases.labeled().first() or releases.first(),
    }


def _label_f1(figures: Mapping[str, Any]) -> float | None:
    """How well the labels themselves match, of the first layer that the gate looked at."""
    first: Mapping[str, Any] = next(iter(figures.get("layers", {}).values()), figures)
    content = first.get("content") or {}
    value: float | None = content.get("value")
    return value


# --- settings -------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
def settings_page(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.led(request.user, slug)
    form = SettingsForm(project, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            fields = project_settings.change(project, settings=form.settings(), by=person(request))
        except project_settings.SettingsRefused as error:
            form.add_error(error.details["field"], words(error.fact))
        else:
            message = _("The settings are changed.") if fields else _("Nothing was changed.")
            messages.success(request, message)
            return redirect("project-settings", slug)
    return form_page(request, "project_settings", form, project=project)
