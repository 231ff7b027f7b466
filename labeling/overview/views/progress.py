"""How far a project is: states and people."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from labeling.core import access
from labeling.overview import progress as service
from labeling.screening import check_scores, check_turns


@require_GET
def progress(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    people = service.people(project)
    context = {
        "project": project,
        "may_write": access.leads(request.user, project),
        "states": service.by_state(project),
        "work": service.work_by_status(people),
        "people": people,
        "enough": check_scores.ENOUGH,
        "bar": check_turns.plan_of(project).bar,
    }
    return render(request, "labeling/progress.html", context)
