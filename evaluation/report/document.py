"""A report as JSON: typed, with a version that is raised when a key changes its meaning."""

from __future__ import annotations

from typing import Any, TypedDict

from django.utils.translation import override

from evaluation.layers.breakdown import Breakdown
from evaluation.models import Aggregate, CaseRun
from evaluation.report import command
from evaluation.report.cases import WorstCase
from evaluation.report.content import Report
from evaluation.services.run import baselines, conclusions, gates, planning, results
from evaluation.services.run.baselines import ChoiceJson
from evaluation.services.run.primary_metrics import PrimaryJson
from evaluation.services.run.repetitions import Repetitions
from evaluation.views import present
from evaluation.views.compared_case import Text
from labeling.domain.facts import Fact, StoredFact
from labeling.domain.stored import Stored
from labeling.translation import translated
from labeling.words import in_english, worded

FORMAT = "assay-report"
VERSION = 1


class SaidJson(TypedDict):
    """A fact, and its English sentence."""

    sentence: str
    fact: StoredFact


class HeadlineJson(TypedDict):
    metric: str
    mean: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    n_undefined: int
    n_failed: int
    conversations: int | None
    reason: str | None


class VerdictJson(TypedDict):
    baseline: int | None
    verdict: str | None
    sentence: str
    chosen: ChoiceJson | None
    """Since when the baseline is one, where somebody chose it for this gold and split."""


class UndefinedJson(TypedDict):
    metric: str
    reason: str | None
    code: str | None
    n: int


class TriesJson(TypedDict):
    """Each value is a mean over ``n`` cases, with the ends of its interval."""

    k: int
    best: dict[str, float | None]
    worst: dict[str, float | None]
    one_right: dict[str, float | None]
    all_right: dict[str, float | None]
    n: int


class RepetitionsJson(TypedDict):
    metric: str
    right_at: float
    rows: list[TriesJson]


class UnitJson(TypedDict):
    """Titles and values of the fields; null for what gold, or the run, does not have."""

    expected: list[list[str]] | None
    returned: list[list[str]] | None
    said: str
    why_not: str | None


class MessageJson(TypedDict):
    number: int
    speaker: str
    text: str
    expected: bool
    returned: bool


class CaseJson(TypedDict):
    case_id: str
    repetition: int
    state: str
    error: str | None
    earlier_failures: list[str]
    """Why it had failed before it was tried again."""
    question: str | None
    scores: dict[str, float | None]
    units: list[UnitJson]
    messages: list[MessageJson]


class RepeatJson(TypedDict):
    command: str | None
    options: str | None
    judge_prompts: dict[str, str]
    """By the file that the command names."""


class ReportJson(TypedDict):
    format: str
    version: int
    written_at: str
    run: int
    status: str
    primary: PrimaryJson
    headline: HeadlineJson | None
    verdict: VerdictJson
    comparison: dict[str, Any] | None
    """All metrics against the baseline, as the API has them."""
    limits: list[SaidJson]
    planning: list[str]
    undefined: list[UndefinedJson]
    gate: Stored | None
    slices: list[Breakdown]
    """A reason is a sentence here, next to its code."""
    repetitions: RepetitionsJson | None
    """What k tries of a case reach; null where each was tried once."""
    worst_cases: list[CaseJson]
    n_below_best: int
    repeat: RepeatJson
    metrics: dict[str, Any]
    """As in results.json: floors, people, skill, details."""
    provenance: dict[str, Any]


def document(report: Report) -> ReportJson:
    """Files keep English."""
    with override("en"):
        return _document(report)


def _document(report: Report) -> ReportJson:
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
        "repeat": {
            "command": command.to_repeat(run) or None,
            "options": command.options_of(run) or None,
            "judge_prompts": command.prompts_of(run),
        },
        "metrics": metrics,
        "provenance": whole,
    }


def _repetitions(repeated: Repetitions) -> RepetitionsJson:
    rows: list[TriesJson] = [
        {
            "k": row.k,
            "best": row.best._asdict(),
            "worst": row.worst._asdict(),
            "one_right": row.one_right._asdict(),
            "all_right": row.all_right._asdict(),
            "n": row.n,
        }
        for row in repeated.rows
    ]
    return {"metric": repeated.metric.id, "right_at": repeated.right_at, "rows": rows}


def _headline(row: Aggregate) -> HeadlineJson:
    return {
        "metric": row.metric,
        "mean": row.mean,
        "ci_low": row.ci_low,
        "ci_high": row.ci_high,
        "n": row.n,
        "n_undefined": row.n_undefined,
        "n_failed": row.n_failed,
        "conversations": row.conversations,
        "reason": in_english(row.reason) if row.reason else None,
    }


def _verdict(report: Report) -> VerdictJson:
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


def _said(fact: Fact) -> SaidJson:
    return {"sentence": in_english(fact), "fact": fact.as_json()}


def _case(worst: WorstCase) -> CaseJson:
    case: CaseRun = worst.case
    return {
        "case_id": case.case_id,
        "repetition": case.repetition,
        "state": case.state,
        "error": in_english(case.error) if case.error else None,
        "earlier_failures": [failure.why for failure in present.earlier_failures(case)],
        "question": worst.question or None,
        "scores": {score.metric: score.value for score in worst.scores},
        "units": [
            {
                "expected": _fields(unit.gold),
                "returned": _fields(unit.run),
                "said": str(unit.title),
                "why_not": unit.why or None,
            }
            for unit in worst.units
        ],
        "messages": [
            {
                "number": message.number,
                "speaker": message.speaker,
                "text": message.text,
                "expected": message.expected,
                "returned": message.returned,
            }
            for message in worst.messages
            if message.speaker
        ],
    }


def _fields(text: Text | None) -> list[list[str]] | None:
    return None if text is None else [[translated(field.title), field.value] for field in text]
