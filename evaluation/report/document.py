"""A report as JSON: typed, with a version that is raised when a key changes its meaning."""

from __future__ import annotations

from typing import Any

from django.utils.translation import override

from evaluation.models import Aggregate, CaseRun
from evaluation.report.cases import WorstCase
from evaluation.report.content import Report
from evaluation.services.run import baselines, conclusions, gates, planning, results
from evaluation.services.run.repetitions import Reduced, Repetitions
from evaluation.views.compared_case import Text
from evaluation.views.pairs import current_scores
from labeling.domain.facts import Fact
from labeling.translation import translated
from labeling.words import in_english, worded, words_of

FORMAT = "assay-report"
VERSION = 1


def document(report: Report) -> dict[str, Any]:
    """Files keep English."""
    with override("en"):
        return _document(report)


def _document(report: Report) -> dict[str, Any]:
    run = report.run
    whole = results.run_document(run)
    metrics = whole.pop("metrics")
    planned = planning.sentences(report.planned) if report.planned else []
    return {
        "format": FORMAT,
        "version": VERSION,
        "written_at": report.written_at.isoformat(),
        "run": run.pk,
        "status": run.status,
        "primary": report.primary.as_json(),
        "headline": _headline(report.headline) if report.headline else None,
        "verdict": _verdict(report),
        "comparison": _comparison(report),
        "limits": [_said(limit) for limit in report.limits],
        "planning": planned,
        "undefined": [
            {
                "metric": row.metric.id,
                "reason": in_english(row.reason) if row.reason else None,
                "code": row.reason.code if row.reason else None,
                "n": row.n,
            }
            for row in report.undefined
        ],
        "gate": gates.as_json(report.gate) if report.gate else None,
        "slices": worded(report.slices, with_codes=True),
        "repetitions": _repetitions(report.repetitions) if report.repetitions else None,
        "worst_cases": [_case(worst) for worst in report.worst.rows],
        "n_below_best": report.worst.n_below,
        "metrics": metrics,
        "provenance": whole,
    }


def _repetitions(repeated: Repetitions) -> dict[str, Any]:
    reached = [
        {
            name: value._asdict() if isinstance(value, Reduced) else value
            for name, value in row._asdict().items()
        }
        for row in repeated.rows
    ]
    return {"metric": repeated.metric.id, "right_at": repeated.right_at, "rows": reached}


HEADLINE = ("metric", "mean", "ci_low", "ci_high", "n", "n_undefined", "n_failed", "conversations")


def _headline(row: Aggregate) -> dict[str, Any]:
    figures = {name: getattr(row, name) for name in HEADLINE}
    return figures | {"reason": in_english(row.reason) if row.reason else None}


def _verdict(report: Report) -> dict[str, Any]:
    compared = report.compared
    if compared is None:
        why = in_english(report.no_verdict)
        return {"baseline": None, "verdict": None, "sentence": why, "chosen": None}
    choice = baselines.choice_of(compared.before)
    return {
        "baseline": compared.before.pk,
        "verdict": compared.verdict,
        "sentence": conclusions.whole_sentence(compared),
        "chosen": choice.as_json([report.run]) if choice else None,
    }


def _comparison(report: Report) -> dict[str, Any] | None:
    if report.compared is None:
        return None
    return conclusions.document(report.compared.before, [report.compared])


def _said(fact: Fact) -> dict[str, Any]:
    return {"sentence": in_english(fact), "fact": fact.as_json()}


MESSAGE = ("number", "speaker", "text", "expected", "returned")


def _case(worst: WorstCase) -> dict[str, Any]:
    case: CaseRun = worst.case
    return {
        "case_id": case.case_id,
        "repetition": case.repetition,
        "state": case.state,
        "error": in_english(case.error) if case.error else None,
        "earlier_failures": [words_of(failure["error"]) for failure in case.earlier_failures],
        "question": worst.question or None,
        "scores": {score.metric: score.value for score in current_scores(case)},
        "units": [
            {
                "expected": _fields(side.gold),
                "returned": _fields(side.text),
                "said": str(side.said[0]),
                "why_not": side.why or None,
            }
            for unit in worst.units
            for side in unit.sides
        ],
        "messages": [
            {name: getattr(message, name) for name in MESSAGE}
            for message in worst.messages
            if message.number is not None
        ],
    }


def _fields(text: Text | None) -> list[list[str]] | None:
    return None if text is None else [[translated(field.title), field.value] for field in text]
