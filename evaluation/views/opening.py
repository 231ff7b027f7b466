"""The run, or the case of one, that an address names, for readers who may see it."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from evaluation.models import CaseRun, Run
from evaluation.models.runs import RunQuerySet
from evaluation.services import looks
from evaluation.services.unmeasured import launching
from evaluation.services.unmeasured.predicting import TrialRefused
from labeling.models import Conversation
from labeling.words import words
from labeling.work import blindness


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


def opened(user: Any, run: Run) -> Run:
    """The same run, for who may read what came out of it. Without gold: what has become blind or a
    test item since is closed."""
    if run.is_measured:
        looks.require(user, run)
        return run
    try:
        launching.refuse_hidden(user, run)
    except TrialRefused as error:
        raise PermissionDenied(words(error.fact)) from error
    return run


def opened_unmeasured(request: HttpRequest, pk: int) -> Run:
    run = _found(Run.objects.with_unmeasured(request.user).filter(release__isnull=True), pk)
    return opened(request.user, run)


def opened_case(request: HttpRequest, run_pk: int, pk: int) -> CaseRun:
    """Of conversations that the reader labels blind, and of test items without a reason, nothing
    is shown."""
    cases = CaseRun.objects.filter(run__in=Run.objects.with_unmeasured(request.user).values("pk"))
    related = ("item", "talk__conversation__transcript", "run__release__project", "run__project")
    case = get_object_or_404(cases.select_related(*related), run__pk=run_pk, pk=pk)
    if case.item is None:
        opened(request.user, case.run)
    else:
        blindness.refuse(request.user, Conversation.objects.filter(pk=case.item.conversation_id))
        looks.require_case(request.user, case)
    return case


def _found(runs: RunQuerySet, pk: int) -> Run:
    related = ("release__project", "release__guideline", "requested_by", "look", "project")
    return get_object_or_404(runs.with_progress().select_related(*related), pk=pk)
