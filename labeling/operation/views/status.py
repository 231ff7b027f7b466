"""How background work stands, for administrators: other pages say what waits for a worker."""

from __future__ import annotations

from collections.abc import Mapping

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from labeling.core import planner
from labeling.jobs import jobs
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
    if not request.user.is_superuser:
        raise PermissionDenied(_("Only an administrator sees the work of all projects."))
    work = service.now()
    shown = work.jobs[: jobs.MOST]
    context = {
        "parts": [(PARTS[name], part) for name, part in health.look().items()],
        "beyond_sqlite": planner.beyond_sqlite(),
        "status": work,
        "rows": [(TITLES[job.kind], job) for job in shown],
        "more": len(work.jobs) - len(shown),
        "failures": [
            (TITLES[each.kind], each, ADVICE.get(each.kind, "")) for each in work.failures
        ],
    }
    return render(request, "labeling/status.html", context)
