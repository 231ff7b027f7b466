"""Reports in every form: what a person may see of a run, and how a file of it is called."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from evaluation.models import Run
from evaluation.report import html, junit, markdown
from evaluation.report.content import (
    CASES,
    Report,
    ReportRefused,
    collect,
    why_without_figures,
)
from evaluation.services import looks
from evaluation.services.run import comparisons, outputs, primary_metrics, results
from evaluation.services.run.baselines import baseline_of
from labeling.domain.facts import Fact
from labeling.gold import looks as gold_looks
from labeling.models import Conversation, Look
from labeling.work import blindness


class Form(NamedTuple):
    """One form of a report; ``ending`` is that of its address and of its file."""

    name: str
    ending: str
    content_type: str


FORMS = {
    form.name: form
    for form in (
        Form("html", "html", "text/html; charset=utf-8"),
        Form("markdown", "md", "text/markdown; charset=utf-8"),
        Form("junit", "xml", "application/xml; charset=utf-8"),
        Form("json", "json", "application/json; charset=utf-8"),
        Form("csv", "csv", "text/csv; charset=utf-8"),
        Form("predictions", "jsonl", "application/x-ndjson; charset=utf-8"),
    )
}
STREAMED = ("csv", "predictions")
"""A line for each case, however many there are."""

BY_ENDING = {form.ending: form for form in FORMS.values()}


@dataclass(frozen=True, slots=True)
class Reading:
    """A report that somebody asks for, and whose reader's eyes it is for.

    ``user`` is None at the command line, where test items were asked for by ``--reason``.
    """

    run: Run
    user: Any = None
    baseline: Run | None = None
    n_cases: int = CASES
    repetition: int = 1
    """Of the predictions: a file of them has each case once."""

    def text(self, form: Form, *, address: str) -> Iterable[str]:
        """The file, in pieces. Refused for a run without figures."""
        if form.name in STREAMED:
            self._refuse_blind()
            self._require_figures()
        if form.name == "csv":
            return results.case_table(self.run)
        if form.name == "predictions":
            return outputs.prediction_lines(self.run, repetition=self.repetition)
        if form.name == "junit":
            return [self._junit()]
        if form.name == "json":
            self._require_figures()
            document = results.results_document(self.run)
            return [json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False), "\n"]
        written = html if form.name == "html" else markdown
        return [written.render(self.report(), address=address)]

    def response(self, form: Form, *, address: str, shown: bool = False) -> HttpResponseBase:
        """As a file; ``shown`` in the browser instead, under the policy of its sheet."""
        text = self.text(form, address=address)
        response: HttpResponseBase = (
            StreamingHttpResponse(text, content_type=form.content_type)
            if form.name in STREAMED
            else HttpResponse("".join(text), content_type=form.content_type)
        )
        kind = {"json": "results", "predictions": "predictions"}.get(form.name, "report")
        name = f"run-{self.run.pk}-{kind}.{form.ending}"
        way = "inline" if shown else "attachment"
        response["Content-Disposition"] = f'{way}; filename="{name}"'
        if form.name == "html":
            response._csp_replace = html.policy()  # type: ignore[attr-defined]
        return response

    def report(self) -> Report:
        baseline, no_verdict = self._baseline()
        return collect(
            self.run,
            baseline=baseline,
            no_verdict=no_verdict,
            blind=self._blind(),
            n_cases=self.n_cases,
        )

    def _refuse_blind(self) -> None:
        """Where gold is, and what others would label, is in these files."""
        if self.user is not None:
            shown = Conversation.objects.filter(gold_items__case_runs__run=self.run)
            blindness.refuse(self.user, shown)

    def _junit(self) -> str:
        self._require_figures()
        primary = primary_metrics.primary_of(self.run.release.project, self.run.spec.layer)
        return junit.render(self.run, primary.metric)

    def _require_figures(self) -> None:
        if self.run.scored_at is None:
            raise ReportRefused(why_without_figures(self.run), details={"run": self.run.pk})

    def _blind(self) -> QuerySet[Conversation]:
        if self.user is None:
            return Conversation.objects.none()
        return blindness.again(self.user)

    def _baseline(self) -> tuple[Run | None, Fact]:
        """The one that was named, else the one by rule; and why there is no verdict without it."""
        if self.baseline is not None:
            why = comparisons.why_not(self.baseline, self.run)
            if why:
                raise ReportRefused(why, details={"run": self.baseline.pk})
            if self.user is not None:
                looks.require_comparison(self.user, [self.baseline, self.run])
            return self.baseline, Fact("report.no_baseline")
        other = baseline_of(self.run)
        if other is None or comparisons.why_not(other.run, self.run):
            return None, Fact("report.no_baseline")
        tested = looks.tested([other.run, self.run])
        sealed = gold_looks.sealed(
            self.user, Look.Purpose.COMPARE, [release.pk for release in tested]
        )
        if tested and sealed.exists():
            return None, Fact("report.comparison_sealed", baseline=other.run.pk)
        return other.run, Fact("report.no_baseline")


def public_address(run: Run) -> str:
    """Of the run's page, for files that are written without a request."""
    return f"{settings.PUBLIC_URL}{run.get_absolute_url()}"
