"""How far a project is: states and people; with people's work and the audit log as CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from labeling.core import access
from labeling.core.csv_files import csv_file
from labeling.core.forms.audit import AuditFilter
from labeling.models import Project
from labeling.overview import progress as service
from labeling.overview.views import activity
from labeling.screening import check_scores, check_turns

Rows = Iterator[Sequence[Any]]
CHUNK = 2000


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


@require_GET
def table(request: HttpRequest, slug: str, name: str) -> StreamingHttpResponse:
    project = access.readable(request.user, slug)
    if name not in TABLES:
        raise Http404
    return csv_file(f"{project.slug}-{name}", TABLES[name](project, request))


def _people(project: Project, request: HttpRequest) -> Rows:
    work = ["assigned", "pending", "draft", "submitted", "skipped", "returned"]
    checked = ["checks_f1", "checks_n"]
    yield ["annotator", *work, "median_minutes", "last_active", *checked]
    for person in service.people(project):
        checks = person.checked
        yield [
            person.username,
            *(getattr(person, name) for name in work),
            person.minutes,
            person.last_active.isoformat() if person.last_active else None,
            *((checks.value, checks.n) if checks else (None, None)),
        ]


def _audit(project: Project, request: HttpRequest) -> Rows:
    """With the filters of the page, and all of it, newest first."""
    form = AuditFilter(request.GET)
    yield ["at", "actor", "event", "object", "number", "words"]
    events = form.narrow(project.events.select_related("actor"))
    for event in events.iterator(chunk_size=CHUNK):
        actor = event.actor.get_username() if event.actor else None
        what = [event.object_type, event.object_id]
        yield [event.at.isoformat(), actor, event.verb, *what, activity.words(event)]


TABLES: dict[str, Callable[[Project, HttpRequest], Rows]] = {
    "people": _people,
    "audit": _audit,
}
