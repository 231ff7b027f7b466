"""The run or trial that an address names, for readers who may see it."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from evaluation.access import require_reader
from evaluation.models import Run, Trial
from evaluation.services import looks
from evaluation.services.trials import trials
from evaluation.services.trials.predicting import TrialRefused
from labeling.words import words


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


def opened_trial(user: Any, pk: int, *, reading: bool = True) -> Trial:
    """``reading``: what has become blind or a test item since is closed."""
    require_reader(user)
    trial = trials.opened(user, pk)
    if trial is None:
        raise Http404
    if reading:
        try:
            trials.refuse_hidden(user, trial)
        except TrialRefused as error:
            raise PermissionDenied(words(error.fact)) from error
    return trial
