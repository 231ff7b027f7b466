"""The run that an address names, for readers who may see it."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from evaluation.access import require_reader
from evaluation.models import Run
from evaluation.models.runs import RunQuerySet
from evaluation.services import looks
from evaluation.services.unmeasured import launching
from evaluation.services.unmeasured.predicting import TrialRefused
from labeling.words import words


def opened_run(request: HttpRequest, pk: int) -> Run:
    """For pages with figures or cases: of a run on test items, only for a reason."""
    run = get_run(request, pk)
    looks.require(request.user, run)
    return run


def get_run(request: HttpRequest, pk: int) -> Run:
    """One on gold: what is measured of a run exists of no other."""
    return _found(Run.objects.visible_to(request.user), pk)


def any_run(request: HttpRequest, pk: int) -> Run:
    """Also one without gold (``is_measured``)."""
    return _found(Run.objects.with_unmeasured(request.user), pk)


def opened_unmeasured(user: Any, pk: int, *, reading: bool = True) -> Run:
    """``reading``: what has become blind or a test item since is closed."""
    require_reader(user)
    run = _found(Run.objects.with_unmeasured(user).filter(release__isnull=True), pk)
    if reading:
        try:
            launching.refuse_hidden(user, run)
        except TrialRefused as error:
            raise PermissionDenied(words(error.fact)) from error
    return run


def _found(runs: RunQuerySet, pk: int) -> Run:
    related = ("release__project", "release__guideline", "requested_by", "look", "project")
    return get_object_or_404(runs.with_progress().select_related(*related), pk=pk)
