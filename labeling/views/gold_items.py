"""Gold items for reading: in a list, and one with who stood behind each label and who did not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db.models import Func, IntegerField, JSONField, QuerySet
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Cast

from labeling.domain.schema import LAYERS
from labeling.models import GoldItem
from labeling.views.labels import Label, Row, labels_of, row_of, turns


class Dissent(NamedTuple):
    """Somebody who had no such label (``label`` None), or had it with other words."""

    annotator: str
    label: Mapping[str, Any] | None
    differing: list[Row]


class GoldLabel(NamedTuple):
    label: Label
    how: str
    by: list[str]
    dissent: list[Dissent]
    unscorable: str
    unresolved: list[Mapping[str, str]]


class ListLength(Func):
    """How many entries a JSON list has, counted by the database."""

    function = "JSONB_ARRAY_LENGTH"
    output_field = IntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, function="JSON_ARRAY_LENGTH", **context)


def summarized(items: QuerySet[GoldItem], layer: str) -> QuerySet[GoldItem]:
    """Rows of a list: ``annotators``, ``decider`` and ``n_labels`` without the texts."""
    document = Cast("canonical", JSONField())
    provenance = KeyTransform("provenance", document)
    labels = KeyTransform(LAYERS[layer].key, KeyTransform("gold", document))
    return items.defer("canonical").annotate(
        annotators=KeyTransform("annotators", provenance),
        decider=KeyTransform("adjudicated_by", provenance),
        n_labels=ListLength(labels),
    )


def described(item: GoldItem) -> dict[str, Any]:
    """What the page of an item shows, from its frozen content alone."""
    document = item.content
    provenance = document["provenance"]
    labels = labels_of(document["gold"], [document["layer"]], prefix="gold")
    return {
        "document": document,
        "provenance": provenance,
        "labels": [_gold_label(label, provenance) for label in labels],
        "turns": turns(document["conversation"], [labels]),
        "answers": _answers(provenance, document["layer"]),
    }


def _gold_label(label: Label, provenance: Mapping[str, Any]) -> GoldLabel:
    origin = provenance.get("labels", {}).get(label.uid, {})
    return GoldLabel(
        label=label,
        how=origin.get("how", ""),
        by=origin.get("by", []),
        dissent=[_dissent(row) for row in origin.get("dissent", [])],
        unscorable=origin.get("unscorable") or "",
        unresolved=origin.get("unresolved", []),
    )


def _dissent(row: Mapping[str, Any]) -> Dissent:
    own = row["label"] or {}
    differing = [row_of(name.replace("_", " "), own.get(name)) for name in row["differs"]]
    return Dissent(row["annotator"], row["label"], differing)


def _answers(provenance: Mapping[str, Any], layer: str) -> list[tuple[str, list[Label]]]:
    """What each annotator had labelled before somebody decided; only decisions keep it whole."""
    key = LAYERS[layer].key
    return [
        (name, labels_of({key: given}, [layer], prefix=f"answer-{name}"))
        for name, given in sorted(provenance.get("answers", {}).items())
    ]
