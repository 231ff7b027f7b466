"""Reports at their addresses: one for each form."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET

from evaluation.models import Run
from evaluation.report.content import CASES, Report
from evaluation.report.reading import BY_ENDING
from evaluation.views.opening import opened_run
from labeling.domain.errors import RuleError
from labeling.domain.numbers import whole_number
from labeling.gold.looks import ReasonNeeded
from labeling.words import words


@require_GET
def run_report(request: HttpRequest, pk: int, ending: str) -> HttpResponseBase:
    """The HTML form is opened in the browser, under its own policy; the others are files."""
    run = opened_run(request, pk)
    form = BY_ENDING.get(ending)
    if form is None:
        raise Http404
    numbers = _number(request, "cases", CASES), _number(request, "repetition", 1)
    report = Report(run, request.user, _baseline(request), *numbers)
    shown = ending == "html" and "download" not in request.GET
    address = request.build_absolute_uri(run.get_absolute_url())
    try:
        return form.response(report, address, is_shown=shown)
    except ReasonNeeded:
        raise  # the page that asks for it
    except RuleError as error:
        messages.error(request, words(error.fact))
        return redirect(run)


def _baseline(request: HttpRequest) -> Run | None:
    text = request.GET.get("baseline", "")
    if not text:
        return None
    visible = Run.objects.visible_to(request.user).select_related("release__project")
    return get_object_or_404(visible, pk=whole_number(text) or 0)


def _number(request: HttpRequest, name: str, default: int) -> int:
    number = whole_number(request.GET.get(name, ""))
    return default if number is None else number
