from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from labeling.domain.errors import RuleError
from labeling.domain.numbers import whole_number
from labeling.forms.rounds import RoundForm
from labeling.models import Project, Round
from labeling.services import rounds as service
from labeling.views import access
from labeling.views.gate import gates


@require_http_methods(["GET", "POST"])
def round_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Plan a round. ``preview`` in the POST only counts what would be handed out."""
    project = access.led(request.user, slug)
    gate_open = service.gate_is_open(project)
    form = RoundForm(project, request.POST or None, gate_open=gate_open)
    _propose(project, form, request)
    only_preview = "preview" in request.POST
    if request.method == "POST" and not only_preview and form.is_valid():
        try:
            opened = _open(project, form, request.user)
        except RuleError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"Round {opened.number} is open.")
            return redirect(project)
    context = {
        "project": project,
        "form": form,
        "gate": gates([project])[project.pk],
        "unplanned": service.unplanned(project).count(),
        "preview": form.preview() if form.is_bound and form.is_valid() else None,
    }
    if request.htmx and only_preview:  # type: ignore[attr-defined]
        return render(request, "labeling/_round_preview.html", context)
    return render(request, "labeling/round_new.html", context, status=_status(form))


@require_http_methods(["GET", "POST"])
def round_close(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Asks first; the answer comes back as a POST."""
    project = access.led(request.user, slug)
    found = get_object_or_404(project.rounds, number=number)
    if request.method == "GET":
        context = {"project": project, "round": found, "open": _open_assignments(found)}
        return render(request, "labeling/round_close.html", context)
    try:
        service.close(found, by=request.user)
    except RuleError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"Round {found.number} is closed.")
    return redirect(project)


def _propose(project: Project, form: RoundForm, request: HttpRequest) -> None:
    """What the page that led here asks for: a round like an earlier one."""
    for name, same_batch in (("same_as", True), ("fresh_after", False)):
        number = whole_number(request.GET.get(name, ""))
        if number is not None:
            earlier = get_object_or_404(project.rounds, number=number)
            form.follow(earlier, same_batch=same_batch)
            return
    if not project.rounds.exists():
        form.propose_few()


def _open(project: Project, form: RoundForm, by: Any) -> Round:
    asked = form.cleaned_data
    return service.open_round(
        project=project,
        kind=asked["kind"],
        by=by,
        conversations=form.chosen(),
        annotators=list(asked["annotators"]),
        overlap=asked["overlap"],
        seed=asked["seed"],
        pool=asked["pool"],
        override_reason=asked.get("override_reason", ""),
    )


def _open_assignments(found: Round) -> int:
    return found.assignments.exclude(annotation__status__in=["submitted", "skipped"]).count()


def _status(form: RoundForm) -> int:
    return 400 if form.errors else 200
