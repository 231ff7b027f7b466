"""What a calibration round says of each layer, in the order of the gate: κ, then the labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any

from labeling.agreement.rules.agreement import Agreement, ContentAgreement, read_agreement
from labeling.agreement.rules.intervals import Outlook
from labeling.domain.facts import Fact
from labeling.models import EmptyLayer, Round
from labeling.schema import LAYERS


@dataclass(frozen=True, slots=True)
class LayerResult:
    """One layer of a closed calibration round.

    ``marked`` is the share of units that people mark; ``content`` is None where labels are not
    compared as records, and in rounds from before they were. ``stated`` is what a lead has said
    of a layer that nobody used, and ``can_go``: the project still labels it.
    """

    name: str
    title: str
    outcome: str
    is_f1: bool
    value: float | None
    low: float | None
    high: float | None
    threshold: float
    clears: bool
    chance_above: float | None
    marked: float | None
    outlook: list[Outlook]
    reason: Fact | None
    content: ContentAgreement | None
    stated: EmptyLayer | None
    can_go: bool


def layer_results(closed: Round) -> list[LayerResult]:
    """Of a round with its ``empty_layers`` fetched, in the order of the layers."""
    figures: Mapping[str, Any] = closed.agreement or {}
    layers = figures.get("layers") or {}
    stated = {row.layer: row for row in closed.empty_layers.all()}
    return [
        _result(name, read_agreement(layers[name]), stated.get(name), closed)
        for name in LAYERS
        if name in layers
    ]


def _result(name: str, figures: Agreement, stated: EmptyLayer | None, closed: Round) -> LayerResult:
    low, high = figures.intervals.get("value") or _interval_of_lowest(figures)
    shares = [pair.prevalence for pair in figures.pairs if pair.prevalence is not None]
    return LayerResult(
        name=name,
        title=LAYERS[name].title,
        outcome=figures.outcome,
        is_f1=figures.measure == "f1",
        value=figures.value,
        low=low,
        high=high,
        threshold=figures.threshold,
        clears=figures.value is not None and figures.value > figures.threshold,
        chance_above=figures.chance_above,
        marked=fsum(shares) / len(shares) if shares else None,
        outlook=figures.outlook,
        reason=figures.reasons.get("value"),
        content=figures.content,
        stated=stated,
        can_go=name in closed.project.layers,
    )


def _interval_of_lowest(figures: Agreement) -> tuple[float | None, float | None]:
    """Of figures from before the gate's own interval was stored."""
    pairs = [pair for pair in figures.pairs if pair.kappa is not None]
    if figures.statistic != "min" or figures.value is None or not pairs:
        return None, None
    lowest = min(pairs, key=lambda pair: pair.kappa or 0.0)
    return lowest.ci_low, lowest.ci_high
