from __future__ import annotations

from collections import Counter
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from labeling.agreement.views.gate import gates
from labeling.core import access
from labeling.core.forms.members import MoveForm
from labeling.core.views.access import form_page, person, refusals_in, refusals_told
from labeling.core.views.members import where_it_went
from labeling.domain.numbers import whole_number
from labeling.models import Assignment, Project, Round
from labeling.work import handovers
from labeling.work import rounds as service
from labeling.work.forms.rounds import RoundForm


@require_http_methods(["GET", "POST"])
def round_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Plan a round. ``preview`` in the POST only counts what would be handed out."""
    project = access.led(request.user, slug)
    gate_open = service.gate_is_open(project)
    form = RoundForm(project, request.POST or None, gate_open=gate_open)
    _propose(project, form, request)
    only_preview = "preview" in request.POST
    if request.method == "POST" and not only_preview and form.is_valid():
        with refusals_in(form):
            opened = _open(project, form, person(request))
            messages.success(request, _("Round {number} is open.").format(number=opened.number))
            return redirect(project)
    context: dict[str, Any] = {
        "project": project,
        "gate": gates([project])[project.pk],
        "unplanned": service.unplanned(project).count(),
        "preview": form.preview() if form.is_bound and form.is_valid() else None,
    }
    is_part = request.htmx and only_preview  # type: ignore[attr-defined]
    if is_part:
        return render(request, "labeling/_round_preview.html", context)
    return form_page(request, "round_new", form, **context)


@require_http_methods(["GET", "POST"])
def round_close(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Asks first; the answer comes back as a POST."""
    project = access.led(request.user, slug)
    round_ = get_object_or_404(project.rounds.all(), number=number)
    if request.method == "GET":
        answered = Q(annotation__status__in=["submitted", "skipped"])
        left = round_.assignments.exclude(answered).count()
        context = {"project": project, "round": round_, "open": left}
        return render(request, "labeling/round_close.html", context)
    with refusals_told(request):
        service.close(round_, by=request.user)
        messages.success(request, _("Round {number} is closed.").format(number=round_.number))
    return redirect(project)


def _propose(project: Project, form: RoundForm, request: HttpRequest) -> None:
    """What the page that led here asks for: a round like an earlier one."""
    for name, same_batch in (("same_as", True), ("fresh_after", False)):
        number = whole_number(request.GET.get(name, ""))
        if number is not None:
            earlier = get_object_or_404(project.rounds.all(), number=number)
            form.follow(earlier, same_batch=same_batch)
            return
    if not project.rounds.exists():
        form.propose_few()


@require_http_methods(["GET", "POST"])
def work_move(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Move one person's open work to another; they may have left the project already."""
    project = access.led(request.user, slug)
    assigned = Assignment.objects.filter(round__project=project).order_by().values("annotator")
    worker = get_object_or_404(
        User.objects.filter(Q(pk__in=assigned) | Q(memberships__project=project)).distinct(), pk=pk
    )
    form = MoveForm(project, worker, request.POST or None)
    if request.method == "POST" and form.is_valid():
        to = form.cleaned_data["to"]
        with refusals_in(form):
            moved = handovers.hand_on(project=project, person=worker, by=person(request), to=to)
            messages.success(request, where_it_went(worker, moved))
            return redirect(project)
    work = handovers.open_work(project, worker).select_related("round")
    by_round = Counter(assignment.round.number for assignment in work.only("round__number"))
    context: dict[str, Any] = {
        "project": project,
        "person": worker,
        "open": sum(by_round.values()),
        "by_round": sorted(by_round.items()),
    }
    return form_page(request, "work_move", form, **context)


def _open(project: Project, form: RoundForm, by: Any) -> Round:
    names = ("kind", "annotators", "overlap", "seed", "pool")
    asked = {name: form.cleaned_data[name] for name in names}
    reason = form.cleaned_data.get("override_reason", "")
    return service.open_round(
        project=project, by=by, conversations=form.chosen(), override_reason=reason, **asked
    )
