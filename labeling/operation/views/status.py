"""How background work stands: for the leads of a project, and for administrators of all of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from labeling.core import access, planner
from labeling.core.views.access import refused
from labeling.domain.numbers import whole_number
from labeling.jobs import jobs
from labeling.jobs.jobs import Job, NothingToFree, Scope
from labeling.operation import health
from labeling.operation import status as service
from labeling.translation import lazy

TITLES: Mapping[str, str] = {
    "answers": lazy("Answers to compare and merge"),
    "freeze": lazy("Freeze of gold"),
    "checks": lazy("Hidden checks to score"),
    "webhooks": lazy("Messages to a webhook"),
    "run": lazy("Run"),
    "layers": lazy("Memory layers"),
}
ADVICE: Mapping[str, str] = {
    "freeze": lazy("Change what the reason names, then freeze again on the page Gold."),
    "webhooks": lazy(
        "See that the receiver answers, then send what waits on the page of the webhook."
    ),
    "run": lazy("Open the run: its cases say what failed, and Try again repeats those."),
    "layers": lazy("Ask for the layers again on the page of the conversation."),
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
        "free_url": reverse("status-free"),
        "may_free": True,
    }
    return _page(request, None, context)


@require_POST
def status_free(request: HttpRequest) -> HttpResponse:
    _require_administrator(request)
    return _free(request, None, reverse("status"))


@require_GET
@never_cache
def project_status(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    context = {
        "project": project,
        "free_url": reverse("project-status-free", args=[slug]),
        "may_free": access.leads(request.user, project),
    }
    return _page(request, [project.pk], context)


@require_POST
def project_status_free(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.led(request.user, slug)
    return _free(request, [project.pk], reverse("project-status", args=[slug]))


def _page(request: HttpRequest, scope: Scope, context: Mapping[str, Any]) -> HttpResponse:
    work = service.of(scope)
    shown = work.jobs[: jobs.MOST]
    rows = [(TITLES[job.kind], job, jobs.can_be_freed(job)) for job in shown]
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


def _free(request: HttpRequest, scope: Scope, back_to: str) -> HttpResponse:
    kind, key = request.POST.get("kind", ""), whole_number(request.POST.get("key", ""))
    try:
        job = service.free(kind, key or 0, scope=scope, by=request.user)
    except NothingToFree as refusal:
        return refused(request, refusal, back_to)
    messages.success(request, _freed(job))
    return redirect(back_to)


def _freed(job: Job) -> str:
    text = _("{what} is free: the next worker takes it up.")
    return text.format(what=f"{TITLES[job.kind]} {job.title}".strip())


def _require_administrator(request: HttpRequest) -> None:
    if not request.user.is_superuser:
        raise PermissionDenied(_("Only an administrator sees the work of all projects."))
