"""A run's results as documents: ``results.json`` and ``cases.csv``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, TypedDict

from django.db.models import Prefetch, Q

from evaluation import adapters
from evaluation.layers import Example, GoldLayer, gold_layer
from evaluation.metrics.gate import JUDGED
from evaluation.metrics.registry import METRICS, Metric
from evaluation.metrics.summary import FIGURES
from evaluation.metrics.yardsticks import Yardsticks
from evaluation.models import Aggregate, Answer, CaseRun, Run, Score
from evaluation.services import looks
from evaluation.services.judging import certificates, corrections
from evaluation.services.judging.answers import own_answer
from evaluation.services.language_models import budgets
from evaluation.services.run import answer_scoring, exposures
from labeling.domain.csv_cells import csv_line
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact, StoredFact
from labeling.words import in_english, worded_in_english
from pipelines.types import Output

OF_RUN = ("pipeline", "pipeline_version", "config", "config_sha256", "repetitions", "seed")
OPTIONAL = (
    *("metrics_config", "event_schema", "predictions", "configuration", "thresholds", "size"),
    *("pipeline_source", "metric_sources"),
)
"""Parts of a run's spec that not every run has."""

REMARKS = {"clamped": "clamped", "judge_failures": "judge_failed"}
"""Counts beside a judged figure, by what is said of them."""
SHOWN_IDS = 10
CHUNK = 200  # cases in memory at a time


def results_document(run: Run) -> dict[str, Any]:
    """Needs ``with_progress()``."""
    answers = answer_scoring.documents(run)
    cases = [_case(case) | answers.get(case.pk, {}) for case in cases_with_scores(run)]
    return {**run_document(run), "cases": cases}


def run_document(run: Run) -> dict[str, Any]:
    """The same without its cases: how it was run, and its figures. Needs ``with_progress()``."""
    spec = run.spec.as_json()
    return {
        "timestamp": run.scored_at.isoformat() if run.scored_at else None,
        "run": run.pk,
        "status": run.status,
        "gold": spec["gold"],
        "layer": spec["layer"],
        "split": run.split or None,
        "reason": run.reason or None,
        "test_look": looks.test_look(run),
        "test_items_left_out": looks.n_left_out(run.release, run.split),
        **{name: getattr(run, name) for name in OF_RUN},
        **{name: spec[name] for name in ("metrics_version", "protocol_version")},
        **{name: spec[name] for name in ("ruler", "matching")},
        **{name: spec[name] for name in OPTIONAL if name in spec},
        **{name: spec[name] for name in ("git", "python", "packages")},
        "model": spec.get("model"),
        "budget": {"cost": run.budget_cost, "tokens": run.budget_tokens},
        "usage": asdict(budgets.spent(run.pk)),
        "synthetic_cases": synthetic_cases(run),
        "retried_cases": retried_cases(run),
        "exposure": exposures.of_run(run.pk),
        "metrics": _metrics(run),
    }


def retried_cases(run: Run) -> int:
    """Those that had failed, and were tried again."""
    return int(run.cases.exclude(earlier_failures=[]).count())


SUMMED = ("numerator", "weight")


def case_table(run: Run) -> Iterator[str]:
    """``cases.csv`` line by line; an undefined value is an empty cell.

    Of micro averages also what a case adds above and below the line: their sums give the figure.
    """
    layer = gold_layer(run.spec.layer)
    metrics = [metric.id for metric in run.spec.all_metrics() if metric.per_case]
    head = ["case_id", "repetition", "state", "exposure", "error"]
    judged = [metric for metric in metrics if metric in JUDGED]
    flags = ["clamped", "judge_failed"] if judged else []
    clamped = answer_scoring.clamped(run) if judged else {}
    micro = [metric.id for metric in run.spec.all_metrics() if metric.scope == "micro"]
    sums = [f"{metric}_{part}" for metric in micro for part in SUMMED]
    yield csv_line([*head, *metrics, *sums, "expected_ids", "returned_ids", *flags])
    for case, example in cases_with_examples(run):
        scores = {score.metric: score for score in case.scores.all()}
        values = {metric: score.value for metric, score in scores.items()}
        row = [case.case_id, case.repetition, case.state, case.exposure, _worded(case.error) or ""]
        ids = [listed(layer.expected_ids(example)), listed(layer.returned_ids(example))]
        failed = [
            metric
            for metric in judged
            if metric in scores and scores[metric].reason == answer_scoring.JUDGE_FAILED
        ]
        said = [" ".join(clamped.get(case.pk, [])), " ".join(failed)] if flags else []
        summed = [getattr(scores.get(metric), part, None) for metric in micro for part in SUMMED]
        yield csv_line([*row, *map(values.get, metrics), *summed, *ids, *said])


def cases_with_examples(run: Run) -> Iterator[tuple[CaseRun, Example]]:
    """Every case with its scores, next to gold and output."""
    layer = gold_layer(run.spec.layer)
    cases = iter(cases_with_scores(run, with_output=True))
    while chunk := list(islice(cases, CHUNK)):
        yield from zip(chunk, adapters.examples(chunk, layer), strict=True)


def ids_report(run: Run) -> Iterator[str]:
    """How the ids of a file with predictions fit the gold, in a sentence each."""
    report = run.spec.predictions
    if report is None:
        return
    total = report.taken + len(report.missing)
    yield f"{report.taken:,} of {total:,} cases are predicted."
    if report.missing:
        yield f"Missing, counted as failed: {_some(report.missing)}"
    if report.extra:
        yield f"Extra, left aside: {_some(report.extra)}"


def _some(ids: list[str]) -> str:
    more = f" and {len(ids) - SHOWN_IDS:,} more" if len(ids) > SHOWN_IDS else ""
    return ", ".join(ids[:SHOWN_IDS]) + more + "."


def synthetic_cases(run: Run) -> int:
    """How many are about synthetic conversations or labels."""
    return run.cases.filter(item__in=run.release.items.synthetic()).count()


def aggregates_of(run: Run) -> list[Aggregate]:
    """One row per metric of the version in force, in the order in which they are shown."""
    by_metric = {(row.metric, row.metric_version): row for row in Aggregate.objects.filter(run=run)}
    wanted = [(metric.id, metric.version) for metric in run.spec.all_metrics()]
    return [by_metric[key] for key in wanted if key in by_metric]


def apart(layer: GoldLayer, rows: Iterable[Aggregate]) -> tuple[list[Aggregate], list[Aggregate]]:
    """The figures, and the diagnostics that were measured, which are no goal in themselves."""
    figures, diagnostics = [], []
    for row in rows:
        if not METRICS[row.metric].diagnostic:
            figures.append(row)
        elif row.reason not in layer.off:
            diagnostics.append(row)
    return figures, diagnostics


def remarks(run: Run, rows: Sequence[Aggregate]) -> list[Fact]:
    """What nobody should read figures without: what is clamped, unusable, written, estimated."""
    said = []
    for row in rows:
        title, of = Fact(f"metric_title.{row.metric}"), row.n + row.n_undefined
        for name, code in REMARKS.items():
            if n := row.detail.get(name):
                said.append(Fact(f"remark.{code}", metric=title, n=n, of=of))
    whose = next((row.detail["answers"] for row in rows if "answers" in row.detail), None)
    if whose and whose["written"]:
        said.append(Fact("remark.written", n=whose["written"], own=whose["own"]))
    if estimated := budgets.spent(run.pk).estimated:
        said.append(Fact("remark.estimated", n=estimated))
    return said


def cases_with_scores(run: Run, *, with_output: bool = False) -> Iterable[CaseRun]:
    cases = CaseRun.objects.filter(run=run).select_related("item").order_by("pk")
    cases = cases.defer("item__canonical", *([] if with_output else ["output"]))
    current = current_of(run.spec.all_metrics())
    scores = Score.objects.filter(current).defer("detail", "by_person")
    return cases.prefetch_related(Prefetch("scores", scores)).iterator(chunk_size=CHUNK)


def current_of(metrics: Iterable[Metric]) -> Q:
    """Scores by these metrics in the versions in force."""
    current = Q()
    for metric in metrics:
        current |= Q(metric=metric.id, metric_version=metric.version)
    return current


def _metrics(run: Run) -> dict[str, dict[str, Any]]:
    """Every figure with the human ceiling and how its judge was certified."""
    rows = aggregates_of(run)
    corrected = corrections.as_json(run)
    return {
        row.metric: _figures(row)
        | yardsticks_as_json(row)
        | ({"certificate": certificates.as_json(run, row.metric)} if row.metric in JUDGED else {})
        | ({"people_corrected": corrected[row.metric]} if row.metric in corrected else {})
        for row in rows
    }


def _figures(row: Aggregate) -> dict[str, Any]:
    figures: dict[str, Any] = {name: getattr(row, name) for name in FIGURES}
    figures |= {"version": row.metric_version, "reason": _worded(row.reason)}
    if METRICS[row.metric].chance:
        figures |= {"chance": row.chance, "over_chance": row.over_chance}
    return figures | worded_in_english(row.detail, with_codes=True)


def yardsticks_as_json(row: Aggregate) -> dict[str, Any]:
    """Floors, people, skill and the figure without empty gold; a reason where one is missing."""
    stored: Yardsticks = row.yardsticks
    if not stored:
        return {}
    return {
        "empty_gold": stored.get("empty_gold"),
        "floors": stored.get("floors", {}),
        "people": stored.get("people") or {"reason": _worded(_fact(stored.get("no_people")))},
        "skill": stored.get("skill") or {"reason": _worded(_fact(stored.get("no_skill")))},
    }


def _fact(stored: StoredFact | None) -> Fact | None:
    return Fact.from_json(stored) if stored else None


def _case(case: CaseRun) -> dict[str, Any]:
    scores = list(case.scores.all())
    return {
        **{name: getattr(case, name) for name in ("case_id", "repetition", "state")},
        "exposure": case.exposure or None,
        "metrics": {score.metric: score.value for score in scores},
        "undefined": {
            score.metric: _worded(score.reason) for score in scores if score.value is None
        },
        "error": _worded(case.error),
        "error_class": case.error_class or None,
        **{name: getattr(case, name) for name in ("attempts", "seconds", "usage")},
        "gold_sha256": case.item.sha256,
    }


def _worded(reason: Fact | None) -> str | None:
    """Files keep English."""
    return in_english(reason) if reason else None


def listed(ids: Iterable[int]) -> str:
    return " ".join(map(str, ids))


# --- what a run returned, as predictions are imported ---------------------------------------------


class NoSuchRepetition(RuleError, code="no_such_repetition"):
    """The run was not repeated that often."""


class PredictionLine(TypedDict):
    """``assay evaluate --predictions`` reads the first two; the others say what came of it."""

    case_id: str
    output: Output
    scores: dict[str, float | None]
    undefined: dict[str, str]


def prediction_lines(run: Run, *, repetition: int = 1) -> Iterator[str]:
    """JSON Lines, one for each case whose pipeline did not fail, in the order of the gold.

    A failed case has no line: where the file is imported it is missing, and counts as failed
    again. What was written from the messages is the output's ``answer`` if the pipeline gave none.
    """
    if not 1 <= repetition <= run.repetitions:
        raise NoSuchRepetition("report.no_such_repetition", most=run.repetitions)
    return _lines(run, repetition)


def _lines(run: Run, repetition: int) -> Iterator[str]:
    cases = iter(
        case
        for case in cases_with_scores(run, with_output=True)
        if case.repetition == repetition and case.state == CaseRun.State.DONE
    )
    while chunk := list(islice(cases, CHUNK)):
        answers = dict(
            Answer.objects.filter(case__in=chunk, state=Answer.State.DONE).values_list(
                "case", "text"
            )
        )
        for case in chunk:
            line = _line(case, answers.get(case.pk))
            yield json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"


def _line(case: CaseRun, answer: str | None) -> PredictionLine:
    scores = list(case.scores.all())
    output: Output = dict(case.output or {})
    if answer is not None and not own_answer(case):
        output["answer"] = answer
    return {
        "case_id": case.case_id,
        "output": output,
        "scores": {score.metric: score.value for score in scores},
        "undefined": {
            score.metric: in_english(score.reason)
            for score in scores
            if score.value is None and score.reason
        },
    }
