"""How background work stands: for the leads of a project, and for administrators of all of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from labeling.core import access, planner
from labeling.jobs import jobs
from labeling.jobs.jobs import Scope
from labeling.operation import health
from labeling.operation import status as service
from labeling.translation import lazy

TITLES: Mapping[str, str] = {
    "answers": lazy("Answers to compare and merge"),
    "freeze": lazy("Freeze of gold"),
    "checks": lazy("Hidden checks to score"),
    "webhooks": lazy("Messages to a webhook"),
    "run": lazy("Run"),
}
ADVICE: Mapping[str, str] = {
    "freeze": lazy("Change what the reason names, then freeze again on the page Gold."),
    "webhooks": lazy(
        "See that the receiver answers, then send what waits on the page of the webhook."
    ),
    "run": lazy("Open the run: its cases say what failed, and Try again repeats those."),
}
PARTS: Mapping[str, str] = {
    "database": lazy("Database"),
    "migrations": lazy("Migrations"),
    "broker": lazy("Messages to workers"),
    "workers": lazy("Workers"),
    "queue": lazy("Age of the queue"),
    "disk": lazy("Disk"),
}


@require_GET
@never_cache
def status(request: HttpRequest) -> HttpResponse:
    _require_administrator(request)
    parts = [(PARTS[name], part) for name, part in health.look().items()]
    context = {
        "parts": parts,
        "beyond_sqlite": planner.beyond_sqlite(),
    }
    return _page(request, None, context)


@require_GET
@never_cache
def project_status(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    return _page(request, [project.pk], {"project": project})


def _page(request: HttpRequest, scope: Scope, context: Mapping[str, Any]) -> HttpResponse:
    work = service.of(scope)
    shown = work.jobs[: jobs.MOST]
    rows = [(TITLES[job.kind], job) for job in shown]
    failures = [(TITLES[each.kind], each, ADVICE.get(each.kind, "")) for each in work.failures]
    return render(
        request,
        "labeling/status.html",
        {
            **context,
            "status": work,
            "rows": rows,
            "more": len(work.jobs) - len(shown),
            "failures": failures,
            "titles": TITLES,
        },
    )


def _require_administrator(request: HttpRequest) -> None:
    if not request.user.is_superuser:
        raise PermissionDenied(_("Only an administrator sees the work of all projects."))
