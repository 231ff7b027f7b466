"""A layer that nobody used in a calibration round: what a lead can do about it."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from labeling.agreement import unused
from labeling.core import access
from labeling.core.views.access import person, refusals_told
from labeling.models import Project, Round
from labeling.schema import LAYERS
from labeling.templatetags.words import within


@require_http_methods(["GET", "POST"])
def layer_unused(
    request: HttpRequest, slug: str, number: int, layer: str, action: str
) -> HttpResponse:
    """Nothing was to be found on it (``empty``), or it is off from the next round on (``off``).

    Asks first; the answer comes back as a POST.
    """
    project, closed = _closed(request, slug, number, layer)
    if request.method == "GET":
        context = {
            "project": project,
            "round": closed,
            "layer": LAYERS[layer],
            "action": action,
            "is_unused": layer in unused.unused_in(closed),
            "is_off": layer not in project.layers,
            "refusal": unused.why_it_stays(project, layer) if action == "off" else None,
        }
        return render(request, "labeling/layer_unused.html", context)
    with refusals_told(request):
        if action == "empty":
            unused.state_empty(closed, layer, by=person(request))
            text = _("Noted: nothing was to be found there.")
        else:
            unused.take_off(closed, layer, by=person(request))
            text = _("The project no longer labels {title}.")
        messages.success(request, text.format(title=within(LAYERS[layer].title)))
    return redirect("calibration", project.slug)


@require_POST
def layer_empty_withdraw(request: HttpRequest, slug: str, number: int, layer: str) -> HttpResponse:
    project, closed = _closed(request, slug, number, layer)
    unused.withdraw(closed, layer, by=person(request))
    messages.success(request, _("Taken back."))
    return redirect("calibration", project.slug)


def _closed(request: HttpRequest, slug: str, number: int, layer: str) -> tuple[Project, Round]:
    project = access.led(request.user, slug)
    closed = get_object_or_404(project.rounds.select_related("project"), number=number)
    if layer not in LAYERS:
        raise Http404
    return project, closed
