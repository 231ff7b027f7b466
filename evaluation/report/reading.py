"""The forms of a report: how each is written, and how its file is called."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import NamedTuple

from django.conf import settings
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from evaluation.models import Run
from evaluation.report import html, junit, markdown
from evaluation.report.content import Report
from evaluation.services.run import outputs, results


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


def _table(report: Report, address: str) -> Iterable[str]:
    return results.case_table(report.run)


def _predictions(report: Report, address: str) -> Iterable[str]:
    return outputs.prediction_lines(report.run, repetition=report.repetition)


FORMS = {
    form.name: form
    for form in (
        Form("html", "html", "text/html", html.written),
        Form("markdown", "md", "text/markdown", markdown.written),
        Form("junit", "xml", "application/xml", junit.written),
        Form("json", "json", "application/json", _json, "results"),
        Form("csv", "csv", "text/csv", _table, is_streamed=True),
        Form("predictions", "jsonl", "application/x-ndjson", _predictions, "predictions", True),
    )
}
BY_ENDING = {form.ending: form for form in FORMS.values()}


def public_address(run: Run) -> str:
    """Of the run's page, for files that are written without a request."""
    return f"{settings.PUBLIC_URL}{run.get_absolute_url()}"
