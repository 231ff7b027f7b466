"""Gold from elsewhere with the labels that were decided anew, as its next version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from django.contrib.auth.models import User

from labeling.domain.errors import RuleError
from labeling.gold import pseudonyms, releases
from labeling.gold.gold import NothingChanged
from labeling.gold.releases import BATCH, FrozenItem, Items
from labeling.gold.rules import statement
from labeling.gold.rules.content import GoldContent
from labeling.gold.rules.corrections import Correction, corrected, has_place, with_correction
from labeling.gold.rules.statement import OwnStatement
from labeling.models import GoldItem, GoldRelease, Reopening
from labeling.schema import LAYERS
from labeling.settling.provenance import changes_of

MADE_ELSEWHERE = GoldItem.MADE_ELSEWHERE


class LabeledHere(RuleError, code="labelled_here"):
    """What people settle here is corrected when it is frozen again."""


def is_corrected_by_copy(release: GoldRelease) -> bool:
    return not release.items.exclude(how__in=MADE_ELSEWHERE).exists()


def waiting_for(release: GoldRelease) -> list[Correction]:
    """What was decided about this or an earlier version, and its items do not say yet."""
    by_item = _by_item(release)
    items = release.items.filter(item_id__in=by_item).only("item_id", "canonical")
    return [
        correction
        for item in items.iterator(chunk_size=BATCH)
        for correction in _missing(item, by_item[item.item_id])
    ]


def freeze_corrections(
    release: GoldRelease,
    by_item: Mapping[str, Sequence[Correction]] | None = None,
    *,
    message: str = "",
    by: User | None = None,
) -> GoldRelease:
    """The next version under the release's name: every item as it was, but for what was decided.

    Of the newest version, whichever is asked about, put together before anything is locked. Gold
    that was labeled here is frozen again instead: settling knows its corrections. ``by_item`` has
    other corrections than those that were decided here.
    """
    by_item = _by_item(release) if by_item is None else by_item
    draft = releases.draft(release.project, release.layer, release.name, by=by)
    newest = draft.parent or release
    items = Items()
    applied = _stage(items, newest, by_item)
    contents = releases.Contents(
        items,
        _carried(newest),
        message=message or f"Labels corrected: {applied}",
        guideline=newest.guideline,
        waivers=newest.waivers,
    )
    return releases.publish(
        draft, contents, "gold.corrected", parent=str(newest), corrections=applied
    )


def _stage(items: Items, newest: GoldRelease, by_item: Mapping[str, Sequence[Correction]]) -> int:
    """All items of the newest version; returns how many corrections they got."""
    if not is_corrected_by_copy(newest):
        raise LabeledHere("gold.corrected_by_freezing", release=str(newest))
    applied = 0
    project = newest.project
    names = {} if project.publish_names else pseudonyms.assign(project)
    rows = newest.items.select_related("conversation").order_by("position")
    for item in rows.iterator(chunk_size=BATCH):
        missing = _missing(item, by_item.get(item.item_id, []))
        applied += len(missing)
        items.add(_corrected(item, missing, names) if missing else _kept(item))
    if not applied:
        raise NothingChanged("gold.nothing_to_correct", release=str(newest))
    return applied


def _by_item(release: GoldRelease) -> dict[str, list[Correction]]:
    """What was decided about any version under the name, in the order of the decisions."""
    rows = (
        Reopening.objects.filter(item__release__name=release.name, decision__isnull=False)
        .select_related("decision__decided_by", "item__release")
        .defer("item__canonical", *(f"item__release__{name}" for name in GoldRelease.DOCUMENTS))
        .order_by("decision", "pk")
    )
    first = {row.decision_id: row for row in reversed(rows)}
    corrections: dict[str, list[Correction]] = {}
    for row in sorted(first.values(), key=lambda row: row.decision_id or 0):
        found = corrections.setdefault(row.item.item_id, [])
        found += [correction for correction, _ in changes_of(row, row.decision)]  # type: ignore[arg-type]
    return corrections


def _missing(item: GoldItem, corrections: Sequence[Correction]) -> list[Correction]:
    """Those that the item does not hold yet; a later one about the same label replaces earlier."""
    if not corrections:
        return []
    content = item.content
    newest = {(each.layer, each.uid): each for each in corrections}
    return [
        correction
        for correction in newest.values()
        if not _is_held(content, correction)
        and has_place(content["gold"].get(LAYERS[correction.layer].key, []), correction)
    ]


def _is_held(content: GoldContent, correction: Correction) -> bool:
    if correction.dispute is None:
        labels = content["gold"].get(LAYERS[correction.layer].key, [])
        return any(label == correction.label for label in labels)
    rows = content["provenance"].get("corrections", [])
    return any((row["dispute"], row["uid"]) == (correction.dispute, correction.uid) for row in rows)


def _kept(item: GoldItem) -> FrozenItem:
    return FrozenItem(*(getattr(item, name) for name in FrozenItem._fields))


def _corrected(
    item: GoldItem, corrections: Sequence[Correction], names: pseudonyms.Names
) -> FrozenItem:
    content = item.content
    gold, provenance = dict(content["gold"]), content["provenance"]
    for correction in corrections:
        key = LAYERS[correction.layer].key
        people = tuple(names.get(name, name) for name in correction.decided_by)
        named = correction._replace(decided_by=people)
        before = next((each for each in gold.get(key, []) if each.get("uid") == named.uid), None)
        gold[key] = corrected(gold.get(key, []), named)
        provenance = with_correction(provenance, named, before)
    return releases.item_of(
        item.conversation,
        content["layer"],
        gold=gold,
        base_payload=content.get("given", {}),
        provenance=provenance,
    )


def _carried(release: GoldRelease) -> OwnStatement:
    """What the release states of where its items come from, which stays as it is."""
    stated = statement.parsed(release.header)
    names = ("synthetic", "generated", "imported_from")
    return cast(OwnStatement, {name: stated[name] for name in names if name in stated})
