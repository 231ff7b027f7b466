"""A layer that nobody used in a calibration round: what a lead can do about it."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from labeling.domain.errors import RuleError
from labeling.domain.schema import LAYERS
from labeling.models import Project, Round
from labeling.services import access
from labeling.services.agreement import unused
from labeling.templatetags.words import within
from labeling.words import words


@require_http_methods(["GET", "POST"])
def layer_empty(request: HttpRequest, slug: str, number: int, layer: str) -> HttpResponse:
    """Nothing was to be found on the layer. Asks first; the answer comes back as a POST."""
    project, closed = _closed(request, slug, number, layer)
    if request.method == "GET":
        return _ask(request, project, closed, layer, "empty")
    try:
        unused.state_empty(closed, layer, by=cast(User, request.user))
    except RuleError as error:
        messages.error(request, words(error.fact))
    else:
        messages.success(request, _("Noted: nothing was to be found there."))
    return redirect("calibration", project.slug)


@require_http_methods(["GET", "POST"])
def layer_off(request: HttpRequest, slug: str, number: int, layer: str) -> HttpResponse:
    """The layer is off from the next round on. Asks first; the answer comes back as a POST."""
    project, closed = _closed(request, slug, number, layer)
    if request.method == "GET":
        return _ask(request, project, closed, layer, "off")
    try:
        unused.take_off(closed, layer, by=cast(User, request.user))
    except RuleError as error:
        messages.error(request, words(error.fact))
    else:
        title = within(LAYERS[layer].title)
        messages.success(request, _("The project no longer labels {title}.").format(title=title))
    return redirect("calibration", project.slug)


@require_POST
def layer_empty_withdraw(request: HttpRequest, slug: str, number: int, layer: str) -> HttpResponse:
    project, closed = _closed(request, slug, number, layer)
    unused.withdraw(closed, layer, by=cast(User, request.user))
    messages.success(request, _("Taken back."))
    return redirect("calibration", project.slug)


def _closed(request: HttpRequest, slug: str, number: int, layer: str) -> tuple[Project, Round]:
    project = access.led(request.user, slug)
    rounds = project.rounds.select_related("project")
    closed = get_object_or_404(rounds, number=number)
    if layer not in LAYERS:
        raise Http404
    return project, closed


def _ask(
    request: HttpRequest, project: Project, closed: Round, layer: str, action: str
) -> HttpResponse:
    is_unused = layer in unused.unused_in(closed)
    refusal = unused.why_it_stays(project, layer) if action == "off" else None
    context = {
        "project": project,
        "round": closed,
        "layer": LAYERS[layer],
        "action": action,
        "is_unused": is_unused,
        "is_off": layer not in project.layers,
        "refusal": refusal,
    }
    return render(request, "labeling/layer_unused.html", context)
