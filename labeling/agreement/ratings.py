"""What annotators said unit by unit, as a table for statistics elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from labeling.domain.facts import Fact
from labeling.models import Round
from labeling.schema import LAYERS
from labeling.words import in_english

LONG, WIDE = "long", "wide"


def ratings_file(
    round_: Round, layer: str, selection: Selection, *, shape: str = LONG
) -> StreamingHttpResponse:
    """Long: a row per unit and annotator. Wide: a row per unit, two columns per annotator.

    Raises NotMeasured, and has a worker measure, where the units are not known yet.
    """
    if not LAYERS[layer].has_units:
        raise RuleError("agreement.no_ratings")
    try:
        units = measurements.units_of(round_, layer, selection)
    except NotMeasured:
        measurements.ask(round_, layer, selection)
        raise
    if shape == WIDE:
        excluded = agreement.excluded_answers(round_, selection)
        rows = _wide(units, excluded, _why_missing(layer, selection))
    else:
        rows = _long(units, LAYERS[layer].level, agreement.bar(round_))
    return csv_file(_name(round_, layer, shape), rows)


def _long(units: Mapping[str, Units], level: Level, bar: Bar) -> Iterator[list[Any]]:
    """What ``assay agreement --from-csv`` reads: with what the page's figures were computed by."""
    yield ["item", "unit", "annotator", "label", *HOW]
    for conversation, ratings in units.items():
        for annotator, labels in ratings.labels.items():
            for name, label in zip(ratings.names, labels, strict=True):
                how = (level, bar["statistic"], bar["threshold"])
                yield [conversation, name, annotator, label, *how]


def _wide(
    units: Mapping[str, Units], excluded: Mapping[str, Mapping[str, Fact]], missing: str
) -> Iterator[list[Any]]:
    """Next to each annotator's label: whether it was used, or why not."""
    people = sorted(
        {annotator for ratings in units.values() for annotator in ratings.labels} | excluded.keys()
    )
    yield [
        "item",
        "unit",
        *(column for annotator in people for column in (annotator, f"{annotator}_use")),
    ]
    for conversation, ratings in units.items():
        for position, name in enumerate(ratings.names):
            alone = _alone([labels[position] for labels in ratings.labels.values()])
            row: list[Any] = [conversation, name]
            for annotator in people:
                label = ratings.labels[annotator][position] if annotator in ratings.labels else None
                if annotator in ratings.labels:
                    why = missing if label is None else alone
                else:
                    reason = excluded.get(annotator, {}).get(conversation)
                    why = in_english(reason) if reason else "not assigned"
                row += [label, f"excluded: {why}" if why else "used"]
            yield row


def _alone(labels: Sequence[Any]) -> str:
    """Why a label is compared with no other; empty where it is."""
    if len(labels) == 1:
        return "nobody else submitted it"
    return "nobody else judged it" if len(labels) - labels.count(None) == 1 else ""


def _why_missing(layer: str, selection: Selection) -> str:
    if selection.origin == "typed":
        return "labeled through a suggestion"
    return LAYERS[layer].words.no_unit


def _name(round_: Round, layer: str, shape: str) -> str:
    parts = [round_.project.slug, f"round-{round_.number}"]
    if len(round_.project.layers) > 1:
        parts.append(layer)
    return "-".join([*parts, "ratings", *([WIDE] if shape == WIDE else [])])
