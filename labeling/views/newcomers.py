"""Calibrating as a newcomer, and how a lead lets somebody in without it."""

from __future__ import annotations

from typing import NamedTuple, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from labeling.domain.errors import RuleError
from labeling.domain.schema import LAYERS
from labeling.forms.members import LetInForm
from labeling.models import GoldCheck, Project
from labeling.services import access, blindness
from labeling.services.quality import newcomers as service
from labeling.services.quality.newcomers import LayerResult, Standing
from labeling.services.work import admission, assignments, check_turns
from labeling.views.checks import named
from labeling.words import words, words_of


class ShownResult(NamedTuple):
    """What the gate said of a newcomer on one layer."""

    title: str
    figures: LayerResult
    reason: str


def results_of(standing: Standing) -> list[ShownResult]:
    return [
        ShownResult(LAYERS[layer].title, figures, words_of(figures["reason"]))
        for layer, figures in standing.results.items()
        if layer in LAYERS
    ]


@require_http_methods(["GET", "POST"])
def calibrate(request: HttpRequest, slug: str) -> HttpResponse:
    """The own calibration. A POST begins it, or goes on with it."""
    project = access.any_role(request.user, slug)
    user = cast(User, request.user)
    if request.method == "POST":
        return _begin(request, project, user)
    standing = service.in_project(project, user)
    if standing is None:
        raise Http404
    over = standing.state not in ("", "trying")
    context = {
        "project": project,
        "standing": standing,
        "results": results_of(standing),
        "checks": _checks(project, user) if over else [],
        "wanted": check_turns.plan_of(project).calibrate_on,
        "leads": admission.leads_of(project),
        "tries_left": tries_left(standing),
    }
    return render(request, "labeling/calibrate.html", context)


def _begin(request: HttpRequest, project: Project, user: User) -> HttpResponse:
    try:
        service.begin(project, user)
    except RuleError as error:
        messages.error(request, words(error.fact))
        return redirect("home")
    first = service.parts_of(user, project).exclude(service.DONE).first()
    return redirect("workspace", first.pk) if first else redirect("calibrate", project.slug)


def tries_left(standing: Standing) -> int:
    return max(check_turns.plan_of(standing.project).tries - standing.tries, 0)


def _checks(project: Project, user: User) -> list[GoldCheck]:
    """Each conversation, with what was missed: nothing of what is labelled blind again."""
    rows = GoldCheck.objects.filter(assignment__in=service.parts_of(user, project))
    rows = rows.exclude(assignment__conversation__in=blindness.again(user))
    rows = rows.select_related("assignment__conversation").order_by("assignment__position")
    return [named(row) for row in rows]


@require_http_methods(["GET", "POST"])
def let_in(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Full labeling without calibration. Asks for the reason; the answer comes back as a POST."""
    project = access.led(request.user, slug)
    person = get_object_or_404(assignments.annotators(project), pk=pk)
    form = LetInForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        by = cast(User, request.user)
        try:
            service.let_in(project, person, by=by, reason=form.cleaned_data["reason"])
        except RuleError as error:
            form.add_error(None, words(error.fact))
        else:
            text = _("{user} may do full labeling.").format(user=person.get_username())
            messages.success(request, text)
            return redirect("members", slug)
    standing = service.in_project(project, person)
    context = {
        "project": project,
        "person": person,
        "standing": standing,
        "layers": [LAYERS[layer].title for layer in standing.missing] if standing else [],
        "results": results_of(standing) if standing else [],
        "form": form,
    }
    status = 400 if form.errors else 200
    return render(request, "labeling/let_in.html", context, status=status)


@require_POST
def another_try(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = access.led(request.user, slug)
    person = get_object_or_404(assignments.annotators(project), pk=pk)
    if service.allow_another_try(project, person, by=cast(User, request.user)):
        text = _("{user} may try again.").format(user=person.get_username())
        messages.success(request, text)
    return redirect("members", slug)
