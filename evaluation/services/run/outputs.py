"""What a run returned, case by case, in the form in which predictions are imported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import TypedDict

from evaluation.models import Answer, CaseRun, Run
from evaluation.services.judging.answers import own_answer
from evaluation.services.run.results import CHUNK, cases_with_scores
from labeling.domain.errors import RuleError
from labeling.words import in_english
from pipelines.types import Output


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
