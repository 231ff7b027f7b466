"""Gold items for reading: in a list, and one item with who had each label and who didn't."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import Any, NamedTuple, TypedDict

from django.db.models import F, Func, IntegerField, JSONField, QuerySet
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Cast

from labeling.agreement.matching.consensus import Dissent as StoredDissent
from labeling.conversations.views.labels import Label, Row, Turn, field_row, labels_of, turns
from labeling.gold import pseudonyms
from labeling.gold.rules.content import (
    Decided,
    GoldContent,
    LabelCorrection,
    LabelOrigin,
    Provenance,
    SuggestionUse,
    UnresolvedEvidence,
)
from labeling.gold.rules.names import PSEUDONYMS
from labeling.models import GoldItem
from labeling.schema import LAYERS, form_fields
from labeling.schema.labels import Payload
from labeling.schema.targets import stages_of


class Dissent(NamedTuple):
    """Somebody who didn't have this label (``label`` None), or worded it differently."""

    annotator: str
    label: Mapping[str, Any] | None
    differing: list[Row]


class GoldLabel(NamedTuple):
    label: Label
    how: str
    by: list[str]
    fields: list[tuple[str, list[str]]]  # in which they differ, with those who say what stands
    nobodys: bool  # nobody gave the label as a whole
    dissent: list[Dissent]
    unscorable: str
    unresolved: list[UnresolvedEvidence]
    origins: Mapping[str, SuggestionUse]  # of those who took it over from a suggestion
    correction: LabelCorrection | None
    before: list[Label]  # the label as it was, where it was corrected


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
    gold = KeyTransform("gold", document)
    counts = [ListLength(KeyTransform(LAYERS[name].key, gold)) for name in stages_of(layer)]
    return items.defer("canonical").annotate(
        annotators=KeyTransform("annotators", provenance),
        decider=KeyTransform("adjudicated_by", provenance),
        people=KeyTransform("people", provenance),
        n_labels=reduce(add, counts),
        origin=F("conversation__origin"),
    )


def who_labeled(item: Any, names: pseudonyms.Names) -> str:
    """Of a summarized item: who decided it, or else who labeled it."""
    people = item.decider.split(", ") if item.decider else _annotators(item)
    known = names if item.people == PSEUDONYMS else {}
    return ", ".join(known.get(name, name) for name in people)


def _annotators(item: Any) -> list[str]:
    return [person["username"] for person in item.annotators or []]


class DescribedItem(TypedDict):
    document: GoldContent
    provenance: Provenance
    labels: list[GoldLabel]
    given: list[Label]
    turns: list[Turn]
    answers: list[tuple[str, list[Label]]]


def described(item: GoldItem, names: pseudonyms.Names) -> DescribedItem:
    """What the page of an item shows; ``names`` is by pseudonym, for who may see them."""
    document = pseudonyms.content_of(item, names)
    provenance = document["provenance"]
    layers = stages_of(document["layer"])
    known = {**document.get("given", {}), **document["gold"]}  # what labels may refer to
    labels = labels_of(known, layers, prefix="gold")
    return {
        "document": document,
        "provenance": provenance,
        "labels": [_gold_label(label, provenance, known) for label in labels],
        "given": labels_of(known, _given_layers(document), prefix="given"),
        "turns": turns(document["conversation"], [labels]),
        "answers": [answer for layer in layers for answer in _answers(provenance, layer, known)],
    }


def _given_layers(document: GoldContent) -> list[str]:
    return [name for name, layer in LAYERS.items() if layer.key in document.get("given", {})]


def _gold_label(label: Label, provenance: Provenance, known: Payload) -> GoldLabel:
    unknown: LabelOrigin = {"how": "", "by": []}
    origin = provenance.get("labels", {}).get(label.uid, unknown)
    correction = _correction(label, provenance)
    fields = origin.get("fields", {})
    return GoldLabel(
        label=label,
        how=origin.get("how", ""),
        by=origin.get("by", []),
        fields=[
            (field["label"], fields[field["name"]])
            for field in form_fields(label.layer)
            if field["name"] in fields
        ],
        nobodys=not any(all(name in by for by in fields.values()) for name in origin.get("by", [])),
        dissent=[_dissent(row, label.layer, known) for row in origin.get("dissent", [])],
        unscorable=origin.get("unscorable") or "",
        unresolved=origin.get("unresolved", []),
        origins=origin.get("origins", {}),
        correction=correction,
        before=_before(label, correction, known),
    )


def _correction(label: Label, provenance: Provenance) -> LabelCorrection | None:
    """The newest one, if it was decided anew."""
    rows = provenance.get("corrections", [])
    same = [row for row in rows if (row["layer"], row["uid"]) == (label.layer, label.uid)]
    return same[-1] if same else None


def _before(label: Label, correction: LabelCorrection | None, known: Payload) -> list[Label]:
    if correction is None or correction["before"] is None:
        return []
    key = LAYERS[label.layer].key
    prefix = f"before-{label.uid}"
    return labels_of({**known, key: [correction["before"]]}, [label.layer], prefix=prefix)


def _dissent(row: StoredDissent, layer: str, known: Mapping[str, Any]) -> Dissent:
    own = row["label"] or {}
    rows = [field_row(layer, own, name, known) for name in row["differs"]]
    differing = [row._replace(name=row.name.lower()) for row in rows]
    return Dissent(row["annotator"], row["label"], differing)


def _answers(provenance: Provenance, layer: str, known: Payload) -> list[tuple[str, list[Label]]]:
    """What each annotator had labeled before somebody decided; only decisions keep it whole."""
    key = LAYERS[layer].key
    kept: Decided = provenance.get("stages", {}).get(layer, provenance)
    return [
        (name, labels_of({**known, key: labels}, [layer], prefix=f"answer-{name}"))
        for name, labels in sorted(kept.get("answers", {}).items())
    ]
