"""What annotators said unit by unit, as a table for statistics elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import StreamingHttpResponse

from labeling.agreement import agreement, conversations, measurements
from labeling.agreement.measurements import NotMeasured
from labeling.agreement.rules.label_tables import HOW
from labeling.core.csv_files import csv_file
from labeling.domain.errors import RuleError
from labeling.models import Round
from labeling.schema import LAYERS


def ratings_file(round_: Round, layer: str) -> StreamingHttpResponse:
    """A row per unit and annotator.

    Raises NotMeasured, and has a worker measure, where the units are not known yet.
    """
    if not LAYERS[layer].has_units:
        raise RuleError("agreement.no_ratings")
    try:
        measurements.refuse_unmeasured(round_, layer)
    except NotMeasured:
        measurements.ask(round_)
        raise
    parts = [round_.project.slug, f"round-{round_.number}"]
    if len(round_.project.layers) > 1:
        parts.append(layer)
    return csv_file("-".join([*parts, "ratings"]), _rows(round_, layer))


def _rows(round_: Round, layer: str) -> Iterator[list[Any]]:
    """What ``assay agreement --from-csv`` reads: with what the page's figures were computed by."""
    yield ["item", "unit", "annotator", "label", *HOW]
    bar = agreement.bar(round_)
    how = (LAYERS[layer].level, bar["statistic"], bar["threshold"])
    for added in conversations.each(round_, layer):
        for annotator, labels in added.labels.items():
            for name, label in zip(added.unit_names, labels, strict=True):
                yield [added.name, name, annotator, label, *how]
