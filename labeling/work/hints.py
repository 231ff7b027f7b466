"""Notes on the wording of labels while they are written, by the detectors that validation has.

What looks at the labels is registered by the part of the product that has it: labels never depend
on a pipeline. Nobody gets a note where it is measured whether people agree without them, unless
the project says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labeling.models import Assignment, Round
from labeling.schema import LAYERS
from labeling.schema.hints import Detector, Hint

_detectors: list[Detector] = []


def register(detector: Detector) -> None:
    _detectors[:] = [detector]


def are_shown(assignment: Assignment) -> bool:
    """Hidden checks in full labeling look like any other work, so they have hints as well."""
    round_ = assignment.round
    is_measured = round_.kind != Round.Kind.FULL and not round_.project.hints_in_calibration
    return bool(round_.project.hints) and not is_measured


def of(assignment: Assignment, payload: Mapping[str, Any]) -> list[Hint]:
    """The notes on an answer, without a query."""
    if not _detectors or not are_shown(assignment):
        return []
    project = assignment.round.project
    return [
        hint
        for name in project.layers
        if LAYERS[name].has_records
        for hint in _detectors[0](payload.get(LAYERS[name].key) or [])
        if hint.kind in project.hints
    ]
