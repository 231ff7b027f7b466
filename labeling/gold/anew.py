"""Which items a release settles otherwise than the one before, because the rule has changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from labeling.domain.batches import batches
from labeling.domain.facts import Fact
from labeling.gold.rules.content import GoldContent
from labeling.gold.rules.gold_changes import changed
from labeling.gold.rules.statement import SettledAnew, parsed
from labeling.gold.staging import BATCH, Items
from labeling.models import AnnotationRevision, GoldItem, GoldRelease, Review
from labeling.settling import merges

HOW = GoldItem.How
BY_RULE = (HOW.UNANIMOUS, HOW.MAJORITY, HOW.SINGLE)

Now = tuple[str, Mapping[str, Any] | Fact]
"""An item by its id: what it holds now, or why it is left out."""


def of_items(
    parent: GoldRelease | None, items: Items, left_out: Mapping[str, Fact]
) -> list[SettledAnew]:
    """What differs from ``parent`` in the items that a freeze has made."""
    if not applies(parent):
        return []
    staged: Iterator[Now] = ((item.item_id, json.loads(item.canonical)) for item in items)
    return [*rows(parent, staged), *rows(parent, left_out.items())]


def applies(parent: GoldRelease | None) -> bool:
    """Whether the release was settled by an older rule."""
    return parent is not None and parsed(parent.header).get("settling", 1) < merges.VERSION


def rows(parent: GoldRelease | None, now: Iterable[Now]) -> Iterator[SettledAnew]:
    """The items that nobody has answered or decided anew, and that are other ones."""
    if parent is None:
        return
    for batch in batches(now, BATCH):
        after = dict(batch)
        items = parent.items.filter(item_id__in=after, how__in=BY_RULE).order_by("item_id")
        touched = _touched([item.conversation_id for item in items], parent.frozen_at)
        for item in items:
            if item.conversation_id not in touched:
                yield from _row(item, after[item.item_id])


def _row(item: GoldItem, now: Mapping[str, Any] | Fact) -> Iterator[SettledAnew]:
    if isinstance(now, Fact):
        if fields := sorted(set(_tied(now))):
            yield {"item": item.item_id, "before": item.how, "after": None, "fields": fields}
        return
    how = now["provenance"]["how"]
    change = changed(item.item_id, item.content, cast(GoldContent, {**item.content, **now}))
    fields = sorted(
        {field.name for label in change.labels for field in label.fields} if change else ()
    )
    if how in BY_RULE and (fields or how != item.how):
        yield {"item": item.item_id, "before": item.how, "after": how, "fields": fields}


def _tied(reason: Fact) -> Iterator[str]:
    """The fields that are disputed in a label, by a reason or one within it."""
    if reason.code == "gold.tied_fields":
        fields = reason.values["fields"]
        yield from (str(field.code.partition(".")[2]) for field in fields)  # type: ignore[union-attr]
    for value in reason.values.values():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, Fact):
                yield from _tied(each)


def _touched(conversations: list[int], since: datetime) -> set[int]:
    place = "annotation__assignment__conversation"
    here = {f"{place}__in": conversations}
    answers = AnnotationRevision.objects.filter(**here, saved_at__gt=since)
    answers = answers.exclude(kind=AnnotationRevision.Kind.SAVED)
    reviews = Review.objects.filter(**here, reviewed_at__gt=since)
    return {*answers.values_list(place, flat=True), *reviews.values_list(place, flat=True)}
