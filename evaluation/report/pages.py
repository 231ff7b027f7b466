"""Reports at their addresses: one for each form."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET

from evaluation.models import Run
from evaluation.report import html
from evaluation.report.content import CASES
from evaluation.report.reading import BY_ENDING, STREAMED, Reading, file_name
from evaluation.views.opening import opened_run
from labeling.domain.errors import RuleError
from labeling.domain.numbers import whole_number
from labeling.services.gold.looks import ReasonNeeded
from labeling.words import words


@require_GET
def run_report(request: HttpRequest, pk: int, ending: str) -> HttpResponseBase:
    """The HTML form is opened in the browser, under its own policy; the others are files."""
    run = opened_run(request, pk)
    form = BY_ENDING.get(ending)
    if form is None:
        raise Http404
    reading = Reading(
        run=run,
        user=request.user,
        baseline=_baseline(request),
        n_cases=_number(request, "cases", CASES),
        repetition=_number(request, "repetition", 1),
    )
    try:
        text = reading.text(form, address=request.build_absolute_uri(run.get_absolute_url()))
    except ReasonNeeded:
        raise  # the page that asks for it
    except RuleError as error:
        messages.error(request, words(error.fact))
        return redirect(run)
    if form.name in STREAMED:
        response: HttpResponseBase = StreamingHttpResponse(text, content_type=form.content_type)
    else:
        response = HttpResponse("".join(text), content_type=form.content_type)
    response["Content-Disposition"] = _disposition(request, file_name(run, form), ending)
    if form.name == "html":
        response._csp_replace = html.policy()  # type: ignore[attr-defined]
    return response


def _disposition(request: HttpRequest, name: str, ending: str) -> str:
    shown = ending == "html" and "download" not in request.GET
    return f'{"inline" if shown else "attachment"}; filename="{name}"'


def _baseline(request: HttpRequest) -> Run | None:
    text = request.GET.get("baseline", "")
    if not text:
        return None
    visible = Run.objects.visible_to(request.user).select_related("release__project")
    return get_object_or_404(visible, pk=whole_number(text) or 0)


def _number(request: HttpRequest, name: str, default: int) -> int:
    number = whole_number(request.GET.get(name, ""))
    return default if number is None else number
