"""A report as one HTML file: no script, nothing fetched, readable from disk and on paper."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.template.loader import render_to_string

from evaluation.metrics.registry import Metric
from evaluation.models import CaseRun, Run
from evaluation.report import command
from evaluation.report.cases import ShownMessage, WorstCase
from evaluation.report.content import Report
from evaluation.services.language_models import bills, budgets
from evaluation.services.run import baselines, gates, planning, results
from evaluation.services.run.comparisons import Compared
from evaluation.services.run.conclusions import exposed
from evaluation.services.run.primary_metrics import sentences
from evaluation.views import present
from evaluation.views.compared_case import Field, OwnUnit
from labeling.domain.facts import Fact
from labeling.words import words, words_of

LONGEST_TEXT = 1200
"""Characters of one message or label; the page of the case has the rest."""


class CaseScore(NamedTuple):
    metric: Metric
    cell: present.Cell


class ShownUnit(NamedTuple):
    """A label of gold, field by field, and of the run's label the fields that differ."""

    gold: list[Field]
    run: list[Field]
    title: str
    badge: str
    why: str


class ShownCase(NamedTuple):
    case: CaseRun
    cell: present.Cell
    scores: list[CaseScore]
    error: str
    earlier: list[present.ShownFailure]
    """Why it had failed before it was tried again."""
    question: str
    messages: list[ShownMessage]
    units: list[ShownUnit]
    more_units: int


class ShownVerdict(NamedTuple):
    baseline: Run
    told: list[present.Told]
    warnings: list[str]
    rows: list[ComparedRow]


class ComparedRow(NamedTuple):
    """A main metric of both runs."""

    metric: Metric
    before: str
    after: str
    difference: str
    interval: str
    verdict: str
    badge: str


def render(report: Report, *, address: str) -> str:
    """In the language of the reader; ``address`` is that of the run's page."""
    sheet = _sheet()
    context = {
        **context_of(report),
        "address": address,
        "is_reached": not address.startswith("/"),  # a file on a disk is on no server
        "sheet": sheet,
        "hash": _hash(sheet),
    }
    return render_to_string("evaluation/report.html", context)


def policy() -> dict[str, list[str]]:
    """What the file may do: look as its own sheet says, and nothing else."""
    sources = [f"'sha256-{_hash(_sheet())}'"]
    nothing = ("default-src", "base-uri", "form-action", "frame-ancestors")
    return {"style-src": sources, **{name: ["'none'"] for name in nothing}}


def _sheet() -> str:
    return render_to_string("evaluation/report.css")


def _hash(sheet: str) -> str:
    return base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()


def context_of(report: Report) -> dict[str, Any]:
    """What the template shows, as texts."""
    run, layer = report.run, report.layer
    shown = [present.summary_row(row) for row in report.rows]
    figures = [line for line in shown if not line.metric.diagnostic]
    columns = present.case_columns(layer, answered=run.spec.has_answers)
    headline = next((line for line in shown if line.row is report.headline), None)
    return {
        "report": report,
        "run": run,
        "spec": run.spec,
        "headline": headline,
        "picture": picture(headline) if headline else None,
        "groups": present.grouped(layer, figures),
        "diagnostics": [
            line for line in shown if line.metric.diagnostic and line.row.reason not in layer.off
        ],
        "verdict": _verdict(report.compared) if report.compared else None,
        "no_verdict": words(report.no_verdict),
        "deciding": [
            *sentences(report.primary, report.primary.declared_after([run])),
            *_chosen(report),
        ],
        "limits": [words(limit) for limit in report.limits],
        "planned": planning.sentences(report.planned) if report.planned else [],
        "undefined": [(row.metric, words_of(row.reason), row.n) for row in report.undefined],
        "gate": [present.gate_check(check) for check in gates.checks_of(report.gate)]
        if report.gate
        else [],
        "slices": [present.slice_of(table) for table in report.slices],
        "tries": present.reached_by_tries(report.repetitions) if report.repetitions else [],
        "right_at": present.exact(report.repetitions.right_at) if report.repetitions else "",
        "cases": [_case(worst, report.primary.metric, columns) for worst in report.worst.rows],
        "ids": list(results.ids_report(run)),
        "model": bills.usage(budgets.spent(run.pk), budgets.served(run.pk))
        if run.spec.model
        else [],
        "command": command.to_repeat(run),
        "options": command.options_of(run),
        "options_file": command.OPTIONS_FILE,
        "prompts": command.prompts_of(run),
    }


def _chosen(report: Report) -> list[str]:
    """Since when the baseline is one, where somebody chose it."""
    choice = baselines.choice_of(report.compared.before) if report.compared else None
    return baselines.sentences(choice, [report.run]) if choice else []


WIDTH = 600


def picture(line: present.SummaryRow) -> present.Picture | None:
    """That of the run's page, on a bar of this width."""
    drawn = present.picture_of(line)
    if drawn is None:
        return None
    return drawn._replace(
        start=_wide(drawn.start),
        stop=_wide(drawn.stop),
        at=_wide(drawn.at),
        low=None if drawn.low is None else _wide(drawn.low),
        high=None if drawn.high is None else _wide(drawn.high),
        floors=[_wide(floor) for floor in drawn.floors],
    )


def _wide(place: float) -> float:
    return round(WIDTH * place / 100, 1)


def _verdict(compared: Compared) -> ShownVerdict:
    """The primary metric in words, and what became worse; the main ones as rows."""
    tested = [row for row in compared.rows if row.role != "exploratory"]
    return ShownVerdict(
        baseline=compared.before,
        told=present.told(compared),
        warnings=[words(fact) for fact in exposed([compared.before, compared.after])],
        rows=[
            ComparedRow(
                metric=row.metric,
                before=present.of_scale(row.metric, row.comparison.before),
                after=present.of_scale(row.metric, row.comparison.after),
                difference=present.signed(row.comparison.difference),
                interval=present.signed_interval(row.comparison.ci_low, row.comparison.ci_high),
                verdict=_named(row.verdict),
                badge=present.COLORS.get(row.verdict, ""),
            )
            for row in tested
        ],
    )


def _named(verdict: str) -> str:
    return words(Fact(f"comparison.{verdict}"))


def _case(worst: WorstCase, primary: Metric, columns: Sequence[Metric]) -> ShownCase:
    failed = worst.case.state == CaseRun.State.FAILED
    by_metric = {score.metric: score for score in worst.scores}
    return ShownCase(
        case=worst.case,
        cell=present.score_cell(by_metric.get(primary.id), failed=failed),
        scores=[
            CaseScore(metric, present.score_cell(by_metric.get(metric.id), failed=failed))
            for metric in columns
        ],
        error=words_of(worst.case.error),
        earlier=present.earlier_failures(worst.case),
        question=worst.question,
        messages=[message._replace(text=_cut(message.text)) for message in worst.messages],
        units=[_unit(unit) for unit in worst.units],
        more_units=worst.more_units,
    )


def _unit(unit: OwnUnit) -> ShownUnit:
    same = set(unit.gold or ())
    differing = [field for field in unit.run or () if field not in same]
    return ShownUnit(_short(unit.gold or ()), _short(differing), unit.title, unit.badge, unit.why)


def _short(fields: Iterable[Field]) -> list[Field]:
    return [field._replace(value=_cut(field.value)) for field in fields]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
