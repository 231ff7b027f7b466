"""What annotators said unit by unit, as a table for statistics elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import StreamingHttpResponse

from labeling.agreement import agreement, measurements
from labeling.agreement.agreement import Bar, Selection
from labeling.agreement.measurements import NotMeasured
from labeling.agreement.rules.kappa import Level
from labeling.agreement.rules.label_tables import HOW
from labeling.agreement.rules.units import Units
from labeling.core.csv_files import csv_file
from labeling.domain.errors import RuleError
from labeling.models import Round
from labeling.schema import LAYERS


def ratings_file(round_: Round, layer: str, selection: Selection) -> StreamingHttpResponse:
    """A row per unit and annotator.

    Raises NotMeasured, and has a worker measure, where the units are not known yet.
    """
    if not LAYERS[layer].has_units:
        raise RuleError("agreement.no_ratings")
    try:
        units = measurements.units_of(round_, layer, selection)
    except NotMeasured:
        measurements.ask(round_, layer, selection)
        raise
    parts = [round_.project.slug, f"round-{round_.number}"]
    if len(round_.project.layers) > 1:
        parts.append(layer)
    rows = _rows(units, LAYERS[layer].level, agreement.bar(round_))
    return csv_file("-".join([*parts, "ratings"]), rows)


def _rows(units: Mapping[str, Units], level: Level, bar: Bar) -> Iterator[list[Any]]:
    """What ``assay agreement --from-csv`` reads: with what the page's figures were computed by."""
    yield ["item", "unit", "annotator", "label", *HOW]
    for conversation, ratings in units.items():
        for annotator, labels in ratings.labels.items():
            for name, label in zip(ratings.names, labels, strict=True):
                how = (level, bar["statistic"], bar["threshold"])
                yield [conversation, name, annotator, label, *how]
