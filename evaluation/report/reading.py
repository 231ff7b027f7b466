"""The forms of a report: how each is written, and how its file is called."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import NamedTuple

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET

from evaluation.models import Run
from evaluation.report import html, junit, markdown
from evaluation.report.content import CASES, Report
from evaluation.services.run import results
from evaluation.views.opening import opened_run
from labeling.domain.errors import RuleError
from labeling.domain.numbers import whole_number
from labeling.gold.looks import ReasonNeeded
from labeling.words import words


class Form(NamedTuple):
    """One form of a report; ``ending`` is that of its address and of its file."""

    name: str
    ending: str
    content_type: str
    write: Callable[[Report, str], Iterable[str]]
    """In pieces; the second argument is the address of the run's page."""
    file: str = "report"
    is_streamed: bool = False
    """A line for each case, however many there are; it says where gold is."""

    def text(self, report: Report, address: str = "") -> Iterable[str]:
        """Refused for a run without figures."""
        if self.is_streamed:
            report.refuse_blind()
        report.check()
        return self.write(report, address)

    def response(self, report: Report, address: str, *, is_shown: bool = False) -> HttpResponseBase:
        """As a file; ``is_shown`` in the browser instead, under the policy of its sheet."""
        kind = StreamingHttpResponse if self.is_streamed else HttpResponse
        content_type = f"{self.content_type}; charset=utf-8"
        response: HttpResponseBase = kind(self.text(report, address), content_type=content_type)
        way = "inline" if is_shown else "attachment"
        name = f"run-{report.run.pk}-{self.file}.{self.ending}"
        response["Content-Disposition"] = f'{way}; filename="{name}"'
        if self.name == "html":
            response._csp_replace = html.policy()  # type: ignore[attr-defined]
        return response


def _json(report: Report, address: str) -> Iterable[str]:
    document = results.results_document(report.run)
    return [json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False), "\n"]


FORMS = {
    form.name: form
    for form in (
        Form("html", "html", "text/html", html.written),
        Form("markdown", "md", "text/markdown", markdown.written),
        Form("junit", "xml", "application/xml", junit.written),
        Form("json", "json", "application/json", _json, "results"),
        Form(
            *("csv", "csv", "text/csv"),
            lambda report, _: results.case_table(report.run),
            "report",
            True,
        ),
        Form(
            *("predictions", "jsonl", "application/x-ndjson"),
            lambda report, _: results.prediction_lines(report.run, repetition=report.repetition),
            "predictions",
            True,
        ),
    )
}
BY_ENDING = {form.ending: form for form in FORMS.values()}


def public_address(run: Run) -> str:
    """Of the run's page, for files that are written without a request."""
    return f"{settings.PUBLIC_URL}{run.get_absolute_url()}"


# --- at their addresses ---------------------------------------------------------------------------


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
