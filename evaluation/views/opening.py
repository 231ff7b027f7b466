"""The run that an address names, for readers who may see it."""

from __future__ import annotations

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from evaluation.models import Run
from evaluation.services import looks


def opened_run(request: HttpRequest, pk: int) -> Run:
    """For pages with figures or cases: of a run on test items, only for a reason."""
    run = get_run(request, pk)
    looks.require(request.user, run)
    return run


def get_run(request: HttpRequest, pk: int) -> Run:
    visible = Run.objects.visible_to(request.user).with_progress()
    related = ("release__project", "release__guideline", "requested_by", "look")
    loaded = visible.select_related(*related)
    return get_object_or_404(loaded, pk=pk)
