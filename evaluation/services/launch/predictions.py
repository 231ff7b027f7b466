"""Runs on predictions that were made elsewhere: no pipeline is run, everything else is the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from django.utils import timezone

from evaluation import adapters
from evaluation.layers import MalformedOutput
from evaluation.models import CaseRun
from evaluation.models.spec import PredictionsSpec
from labeling.conversations.formats.answers import LineFault
from labeling.conversations.formats.reading import json_lines
from labeling.domain.canonical import canonical_json
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.models import GoldRelease
from pipelines.types import Output

NAME = "predictions"
"""Stands where a run names its pipeline."""

MAX_BYTES = 100 * 1024 * 1024
MAX_EXTRA = 10_000
"""Every id that is left aside is written down with the run, which each of its pages reads."""

MISSING = Fact("case.no_prediction")
SHOWN_FAULTS = 20
SHOWN_CHARACTERS = 200  # of an id that no case has
CHUNK = 1024 * 1024

Line = tuple[int, Any] | LineFault


class PredictionsRefused(RuleError, code="predictions_refused"):
    """A prediction cannot be read or scored. ``details`` names lines and reasons."""


@dataclass(frozen=True, slots=True)
class Source:
    """Predictions line by line, and how to know them again."""

    name: str
    sha256: str
    lines: Iterable[Line]


@dataclass(slots=True)
class _Predictions:
    outputs: dict[str, Output] = field(default_factory=dict)
    extra: list[str] = field(default_factory=list)
    faults: list[LineFault] = field(default_factory=list)


def from_file(file: BinaryIO, name: str) -> Source:
    """One prediction a line: ``{"case_id", "output"}``."""
    digest = hashlib.sha256()
    for chunk in iter(lambda: file.read(CHUNK), b""):
        digest.update(chunk)
    file.seek(0)
    return Source(name, digest.hexdigest(), json_lines(file))


def from_list(documents: list[Any]) -> Source:
    """The same from a request; the first one counts as line 1."""
    digest = hashlib.sha256(canonical_json(documents).encode()).hexdigest()
    return Source("request", digest, enumerate(documents, start=1))


def fill(cases: Sequence[CaseRun], source: Source, release: GoldRelease) -> PredictionsSpec:
    """Take all predictions or none, and say what the run keeps of it.

    A case without a prediction counts as failed; scoring is still to do.
    """
    by_id = {case.case_id: case for case in cases}
    read = _read(source.lines, by_id, release.layer)
    _refuse_faults(read, by_id, release)
    for case_id, case in by_id.items():
        _fill(case, read.outputs.get(case_id))
    return _report(source, read, by_id)


def _fill(case: CaseRun, output: Output | None) -> None:
    case.finished_at = timezone.now()
    if output is None:
        case.state, case.error = CaseRun.State.FAILED, MISSING
        case.error_class = CaseRun.ErrorClass.PERMANENT
    else:
        case.state, case.output = CaseRun.State.DONE, output


def _read(lines: Iterable[Line], cases: Mapping[str, CaseRun], layer: str) -> _Predictions:
    read = _Predictions()
    seen: dict[str, int] = {}
    items = {case.item_id: case.item for case in cases.values()}.values()
    counts = {item.pk: len(item.content["conversation"]) for item in items}
    for line in lines:
        if isinstance(line, LineFault):
            read.faults.append(line)
            continue
        number, document = line
        try:
            case_id, output = _prediction(document, seen)
            seen[case_id] = number
            if case_id in cases:
                count = counts[cases[case_id].gold_item_id]
                read.outputs[case_id] = adapters.checked_output(output, layer, message_count=count)
            else:
                _leave_aside(case_id, read)
        except MalformedOutput as error:
            read.faults.append(LineFault(number, error.fact))
    return read


def _leave_aside(case_id: str, read: _Predictions) -> None:
    if len(read.extra) == MAX_EXTRA:
        raise PredictionsRefused("predictions.too_many_extra", most=MAX_EXTRA)
    read.extra.append(case_id[:SHOWN_CHARACTERS])


def _prediction(document: Any, seen: Mapping[str, int]) -> tuple[str, Any]:
    if not isinstance(document, Mapping):
        raise MalformedOutput("prediction.no_object")
    case_id = document.get("case_id")
    if not isinstance(case_id, str) or not case_id:
        raise MalformedOutput("prediction.no_case_id")
    if case_id in seen:
        raise MalformedOutput("prediction.twice", case=case_id, line=seen[case_id])
    if not isinstance(document.get("output"), Mapping):
        raise MalformedOutput("prediction.no_output", case=case_id)
    return case_id, document["output"]


def _refuse_faults(read: _Predictions, cases: Mapping[str, CaseRun], release: GoldRelease) -> None:
    if read.faults:
        raise PredictionsRefused(
            _why_nothing(read.faults),
            details={
                "faults": [
                    {"line": fault.line, "reason": fault.reason.as_json()}
                    for fault in read.faults[:SHOWN_FAULTS]
                ],
                "count": len(read.faults),
            },
        )
    if not read.outputs:
        example = next(iter(cases))
        raise PredictionsRefused(
            "predictions.no_case",
            release=str(release),
            example=example,
            details={"extra": read.extra[:SHOWN_FAULTS]},
        )


def _why_nothing(faults: list[LineFault]) -> Fact:
    """The first of them."""
    first = [
        fault.reason
        if fault.line is None
        else Fact("predictions.line", line=fault.line, why=fault.reason)
        for fault in faults[:3]
    ]
    more = len(faults) - len(first)
    if more:
        return Fact("predictions.nothing_taken_and_more", faults=first, more=more)
    return Fact("predictions.nothing_taken", faults=first)


def _report(source: Source, read: _Predictions, cases: Mapping[str, CaseRun]) -> PredictionsSpec:
    return PredictionsSpec(
        file=source.name,
        sha256=source.sha256,
        taken=len(read.outputs),
        missing=[case_id for case_id in cases if case_id not in read.outputs],
        extra=adapters.storable(read.extra),
    )
