"""Labels that follow a superseded version of the guidelines, to be checked again."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from labeling.core import access
from labeling.core.views.access import person, refusals_told
from labeling.core.views.paging import page_of, query_of
from labeling.models import Guideline, GuidelineCheck, Project
from labeling.work import guidelines as service
from labeling.work import locking
from labeling.work.forms.guidelines import CheckForm, WorklistFilter


@require_GET
def guideline_worklist(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    newest = project.guidelines.defer("body").first()
    context: dict[str, Any] = {
        "project": project,
        "newest": newest,
        "may_write": access.leads(request.user, project),
        "query": query_of(request),
    }
    if newest:
        context |= _worklist(request, project, newest)
    return render(request, "labeling/guideline_worklist.html", context)


@require_POST
def guideline_check(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.led(request.user, slug)
    newest = get_object_or_404(project.guidelines.all()[:1])
    form = CheckForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Say whether the labels still stand."))
        return _back(request, slug)
    asked = form.cleaned_data
    answers = service.superseded(project, newest).select_related(
        "assignment__round", "assignment__conversation", "assignment__annotator"
    )
    annotation = get_object_or_404(answers, pk=asked["annotation"])
    stands, note = asked["stands"] == "1", asked["note"]
    with refusals_told(request):
        service.check(annotation, newest, stands=stands, note=note, by=person(request))
    return _back(request, slug)


def open_checks(project: Project) -> int:
    """How many answers wait to be checked against the newest version."""
    newest = project.guidelines.defer("body").first()
    if newest is None:
        return 0
    return WorklistFilter({}).narrow(service.superseded(project, newest), newest).count()


def _worklist(request: HttpRequest, project: Project, newest: Guideline) -> dict[str, Any]:
    form = WorklistFilter(request.GET)
    everything = service.superseded(project, newest)
    checks = GuidelineCheck.objects.filter(guideline=newest).select_related("checked_by")
    rows = (
        form.narrow(everything, newest)
        .defer("payload")
        .select_related(
            "guideline", "assignment__round", "assignment__conversation", "assignment__annotator"
        )
        .defer("payload", "guideline__body", "assignment__round__agreement")
        .prefetch_related(Prefetch("guideline_checks", checks, to_attr="checks"))
    )
    page = page_of(rows, order=["pk"], after=request.GET.get("after"), anchors=everything)
    for row in page.rows:
        row.locked = locking.why_locked(row, row.assignment.round)
    unchecked = [row for row in page.rows if not row.checks]
    return {
        "form": form,
        "may_return": any(not row.locked for row in unchecked),
        "has_locked": any(row.locked for row in unchecked),
        "page": page,
        "total": everything.count(),
        "to_check": open_checks(project),
    }


def _back(request: HttpRequest, slug: str) -> HttpResponse:
    """To the list, filtered as it was."""
    return redirect(f"{reverse('guideline-worklist', args=[slug])}?{query_of(request)}")
