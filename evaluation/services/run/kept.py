"""What a run was launched with that the form has no field for: line by line to keep or leave out.

A line is the name of a field of ``LaunchRequest``, for one of several values its key, and the value
as JSON: ``size=10``, ``metrics.relaxed.match_mode="span_iou"``, ``thresholds.requirement_f1=0.9``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypedDict

from evaluation.metrics.event_options import EventOptions
from evaluation.metrics.registry import METRICS
from evaluation.models import Run
from evaluation.services.run.changes import value_text
from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact

LONGEST_LINE = 200
MOST_ITEMS = 2**31 - 1


class Kept(TypedDict, total=False):
    """Fields of ``LaunchRequest``."""

    size: int
    metrics: dict[str, str | float | bool]
    thresholds: dict[str, float]


class WrongLine(FileFault):
    """A line that no run has."""


class _Line(NamedTuple):
    field: str
    key: str
    value: Any


def lines_of(run: Run) -> list[str]:
    return [
        f"{field}{'.' if key else ''}{key}={json.dumps(value)}"
        for field, key, value in _lines_of(run)
    ]


def _lines_of(run: Run) -> Iterator[_Line]:
    """Of the settings of metrics only those that somebody changed."""
    if run.spec.size:
        yield _Line("size", "", run.spec.size)
    usual = EventOptions().as_json()
    for group, settings in (run.spec.metrics_config or {}).items():
        for name, value in settings.items():
            if value != usual.get(group, {}).get(name):
                yield _Line("metrics", f"{group}.{name}", value)
    for metric, limit in run.spec.thresholds.items():
        yield _Line("thresholds", metric, limit)


def read(lines: Iterable[str]) -> Kept:
    """Whether the values make sense together, the launch says."""
    kept: Kept = {}
    for field, key, value in map(_read, lines):
        if field == "size":
            kept["size"] = value
        elif field == "metrics":
            kept.setdefault("metrics", {})[key] = value
        else:
            kept.setdefault("thresholds", {})[key] = float(value)
    return kept


def fact_of(line: str) -> Fact:
    """In words; of a line that is none itself."""
    try:
        field, key, value = _read(line)
    except WrongLine as error:
        return error.fact
    if field == "size":
        return Fact("kept.size", n=value)
    if field == "metrics":
        return Fact("kept.metrics", name=key, value=value_text(value))
    metric = METRICS.get(key)
    sign = "≤" if metric is not None and metric.direction == "lower" else "≥"
    return Fact("kept.threshold", metric=key, sign=sign, value=value_text(value))


def _read(line: str) -> _Line:
    name, _, text = line[:LONGEST_LINE].partition("=")
    field, _, key = name.partition(".")
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if (field, key) == ("size", ""):
        fits = type(value) is int and 1 <= value <= MOST_ITEMS
    elif field == "thresholds":
        fits = type(value) in (int, float) and abs(value) <= sys.float_info.max
    else:
        fits = field == "metrics" and isinstance(value, str | int | float)
    if not fits:
        raise WrongLine("kept.no_line", line=line[:LONGEST_LINE])
    return _Line(field, key, value)
