"""Metrics of installed packages: what they must be, and what they say of a case.

A package is other people's code: what it must not return, and what it raises, leaves the case
without a value, and the reason is shown with it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable
from typing import TypeGuard

from evaluation.metrics.metric import MeasuredCase, Metric, Share, Undefined, Value
from labeling.domain.facts import Fact
from labeling.domain.plugins import PluginRefused, said

ID = re.compile(r"[a-z][a-z0-9_]{0,39}")
MOST_COUNTED = 2**53
"""Of a case: sums of larger numbers may be infinite, and their ratio NaN."""


def checker(layers: Collection[str]) -> Callable[[str, object], Metric]:
    """What an entry point of the group ``assay.metrics`` must lead to, where these are measured."""

    def check(name: str, candidate: object) -> Metric:
        if not isinstance(candidate, Metric):
            raise PluginRefused("plugin.wrong_type", wanted="Metric", type=type(candidate).__name__)
        if candidate.id != name or not ID.fullmatch(name):
            raise PluginRefused("plugin.wrong_name", name=str(candidate.id))
        if not (isinstance(candidate.title, str) and candidate.title.strip()):
            raise PluginRefused("plugin.no_title")
        if not (isinstance(candidate.summary, str) and candidate.summary.strip()):
            raise PluginRefused("plugin.no_summary")
        if not callable(candidate.compute):
            raise PluginRefused("plugin.not_callable", field="compute")
        if not isinstance(candidate.layers, frozenset) or not candidate.layers:
            raise PluginRefused("plugin.layers", layers=repr(candidate.layers))
        if unknown := sorted(map(str, candidate.layers - set(layers))):
            raise PluginRefused("plugin.layers", layers=", ".join(unknown))
        if fault := _fault_of_values(candidate):
            raise PluginRefused("plugin.metric_definition", fault=fault)
        return candidate

    return check


def _fault_of_values(metric: Metric) -> str:
    """In the words of the definition: a developer reads it."""
    if metric.scope not in ("case", "micro"):
        return f"scope={metric.scope!r}"
    if metric.direction not in ("higher", "lower"):
        return f"direction={metric.direction!r}"
    if not isinstance(metric.version, int) or metric.version < 1:
        return f"version={metric.version!r}"
    if not metric.lower < metric.upper:
        return f"lower={metric.lower!r}, upper={metric.upper!r}"
    if not math.isfinite(metric.worst):
        return f"failure={metric.failure!r}"
    if metric.chance:
        return f"chance={metric.chance!r}"
    return ""


def values_of(metrics: Iterable[Metric], case: MeasuredCase) -> dict[str, Value]:
    """The values of those metrics that a package computes.

    Examples
    --------
    >>> def half(case):
    ...     return 0.5
    >>> def broken(case):
    ...     return float("nan")
    >>> case = MeasuredCase("qa", [], [], [], {})
    >>> metrics = [
    ...     Metric("half", 1, frozenset({"qa"}), "Half", "", compute=half),
    ...     Metric("broken", 1, frozenset({"qa"}), "Broken", "", compute=broken),
    ... ]
    >>> values = values_of(metrics, case)
    >>> values["half"].value, values["broken"].value, values["broken"].reason.code
    (0.5, None, 'metric.not_a_score')
    """
    return {metric.id: _value(metric, metric.compute, case) for metric in metrics if metric.compute}


def _value(metric: Metric, compute: Callable[..., object], case: MeasuredCase) -> Value:
    """What it returns is other people's code, too: to print or to compare it may raise."""
    try:
        return _read(metric, compute(case))
    except (Exception, SystemExit) as error:  # of any kind: the others are still measured
        return Value(None, Fact("metric.raised", metric=metric.id, text=said(error)))


def _read(metric: Metric, returned: object) -> Value:
    if isinstance(returned, Undefined):
        return Value(None, Fact("metric.undefined_says", text=str(returned.reason) or "–"))
    share = returned if isinstance(returned, Share) else None
    wanted = (metric.scope == "micro") == (share is not None)
    if wanted and share == (0, 0):  # any other share without a ratio would go into the sums
        return Value(None, Fact("metric.nothing_counted"), share=share)
    number = _divided(share) if share else returned
    if not wanted or not _is_number(number) or not metric.lower <= number <= metric.upper:
        refused = Fact("metric.not_a_score", metric=metric.id, value=f"{returned!r:.100}")
        return Value(None, refused)
    return Value(float(number), share=share)


def _divided(share: Share) -> float | None:
    """None: nothing to divide by, or more than sums of floats are exact for."""
    if not all(_is_number(count) and abs(count) <= MOST_COUNTED for count in share):
        return None
    if share.denominator <= 0:
        return None
    return share.numerator / share.denominator


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and math.isfinite(value)
