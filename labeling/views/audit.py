"""The audit log of a project: who did what, when, and to what."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from labeling.forms.audit import AuditFilter
from labeling.views import access, activity
from labeling.views.paging import page_of, query_of


@require_GET
def audit(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    form = AuditFilter(request.GET, verbs=sorted(activity.WORDS))
    rows = form.narrow(project.events.select_related("actor"))
    page = page_of(
        rows, order=["-pk"], after=request.GET.get("after"), anchors=project.events.all()
    )
    context = {
        "project": project,
        "form": form,
        "page": page,
        "entries": [(event, activity.words(event)) for event in page.rows],
        "query": query_of(request),
    }
    return render(request, "labeling/audit.html", context)
