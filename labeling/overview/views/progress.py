"""How far a project is: states, people, targets."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from labeling.core import access
from labeling.core.forms.targets import TargetsForm
from labeling.core.views.access import form_page, person
from labeling.overview import progress as service
from labeling.screening import check_scores, check_turns, checks


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
        "targets": service.targets(project),
        "blind": service.is_blind(project),
        "enough": check_scores.ENOUGH,
        "bar": checks.bar_of(check_turns.plan_of(project)),
    }
    return render(request, "labeling/progress.html", context)


@require_http_methods(["GET", "POST"])
def targets(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.led(request.user, slug)
    form = TargetsForm(project, request.POST or None)
    if request.method == "POST" and form.is_valid():
        service.set_targets(project, targets=form.targets(), by=person(request))
        messages.success(request, _("The targets are set."))
        return redirect("progress", slug)
    return form_page(request, "targets", form, project=project)
