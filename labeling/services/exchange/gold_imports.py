"""Gold from elsewhere: frozen with where it comes from, instead of who labelled it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from django.db import transaction

from labeling.domain.batches import batches
from labeling.domain.chats import natural_bytes
from labeling.domain.facts import Fact
from labeling.domain.gold.content import LabelOrigin, Provenance, SourceFile
from labeling.domain.gold.release import text_sha256
from labeling.domain.gold.statement import OwnStatement, Waiver
from labeling.domain.schema.labels import Payload
from labeling.models import Conversation, GoldItem, GoldRelease, Project
from labeling.services import audit_chain, events, projects
from labeling.services.exchange.conversations import ImportRefused
from labeling.services.gold import lint, publishing, releases
from labeling.services.gold.gold import NameTaken, check_free
from labeling.services.gold.staging import BATCH, FrozenItem, StagedItems
from labeling.services.settling.corrections import MADE_ELSEWHERE


class Source(NamedTuple):
    """A file that gold was read from, or the program that generated it."""

    file: str
    sha256: str
    how: str = "imported"
    release: str = ""
    release_sha256: str = ""

    def __str__(self) -> str:
        return f"{self.how} from {self.file} sha256 {self.sha256}"

    def as_json(self) -> SourceFile:
        row: SourceFile = {"file": self.file, "sha256": self.sha256}
        if self.release:
            row |= {"release": self.release, "release_sha256": self.release_sha256}
        return row


class Imported(NamedTuple):
    """The labels of one conversation. ``origins`` says by uid where each label comes from.

    ``canonical`` is the item itself, where an export is taken over as it is.
    """

    conversation: str  # external id
    source: Source
    gold: Payload
    origins: Mapping[str, LabelOrigin]
    published: Mapping[str, Any] | None = None  # the provenance that the file itself gives
    base_payload: Payload = {}  # labels of other layers that these refer to
    canonical: str = ""


@transaction.atomic
def freeze_imported(
    *,
    project: Project,
    layer: str,
    imported: Iterable[Imported],
    name: str = "",
    message: str = "",
    waive: Mapping[str, str] | None = None,
    by: Any = None,
) -> GoldRelease | None:
    """Release imported labels as a new version of ``name`` (default: the slug and the layer).

    A version holds everything imported under its name so far: conversations that are imported
    again get their new labels, the others keep theirs. None if the newest version holds exactly
    this already. What lint finds is refused unless it was accepted (``waive``: by kind, with the
    reason) or stays as it was published; gold that a program generated is not looked at.
    """
    projects.lock(project)  # one version after the other
    name = name or f"{project.slug}-{layer}"
    _check_name(project, layer, name, {labels.source.how for labels in imported})
    draft = releases.draft(project, layer, name, by=by)
    with StagedItems() as items:
        _stage(draft, imported, items)
        if draft.repeats(items):
            return None
        waivers = _looked_at(draft, items, waive or {})
        sources = sorted({labels.source for labels in imported})
        total = len(items)
        with publishing.ItemDraft() as inserted:
            inserted.insert(items)
            release = _store(draft, items, inserted, sources, message, waivers)
        publishing.finish(release.pk)
    events.record(
        "gold.imported",
        release,
        project=project,
        actor=by,
        release=str(release),
        items=total,
        files=[source.file for source in sources],
        sha256=release.sha256,
    )
    transaction.on_commit(audit_chain.link_events, robust=True)
    return release


def _looked_at(draft: releases.Draft, items: StagedItems, waive: Mapping[str, str]) -> list[Waiver]:
    linter = lint.Linter(draft.project, draft.layer, name=draft.name, is_published=True)
    for item in items:
        if item.how != GoldItem.How.GENERATED:
            linter.look(item.conversation_id, json.loads(item.canonical))
    findings = linter.findings()
    return lint.settle(findings, draft.project, draft.layer, waive=waive, by=draft.by)


def _check_name(project: Project, layer: str, name: str, hows: set[str]) -> None:
    check_free(project, layer, name)
    made_here = GoldItem.objects.filter(release__name=name).exclude(how__in=MADE_ELSEWHERE)
    if made_here.exists():
        raise NameTaken("gold.name_of_labelled", name=name)
    in_another_way = GoldItem.objects.filter(release__name=name).exclude(how__in=hows)
    if hows and in_another_way.exists():
        raise NameTaken("gold.name_of_other_origin", name=name)


def _stage(draft: releases.Draft, imported: Iterable[Imported], items: StagedItems) -> None:
    """The new items and the unchanged ones, in the natural order of their ids."""
    for kept in _kept(draft.parent) if draft.parent else []:
        items.add(kept)
    for batch in batches(imported, BATCH):
        wanted = {labels.conversation: labels for labels in batch}
        conversations = draft.project.conversations.filter(external_id__in=wanted)
        for conversation in conversations.select_related("transcript"):
            items.add(_item(conversation, draft.layer, wanted[conversation.external_id]))
    items.sort(natural_bytes)


def _kept(parent: GoldRelease) -> Iterator[FrozenItem]:
    rows = parent.items.order_by("position").values_list(*FrozenItem._fields)
    return (FrozenItem(*row) for row in rows.iterator(chunk_size=BATCH))


def _item(conversation: Conversation, layer: str, labels: Imported) -> FrozenItem:
    if labels.canonical:
        return _taken_over(conversation, labels)
    return releases.item_of(
        conversation,
        layer,
        gold=labels.gold,
        base_payload=labels.base_payload,
        provenance=_provenance(labels),
    )


def _taken_over(conversation: Conversation, labels: Imported) -> FrozenItem:
    """An item as it was released elsewhere: its hash stays, and what it says of its people."""
    split = json.loads(labels.canonical)["split"]
    if split != conversation.split:
        why = Fact(
            "gold_file.taken_over_split",
            conversation=conversation.external_id,
            split=split,
            stored=conversation.split,
        )
        raise ImportRefused([Fact("import.problem", place=labels.source.file, why=why)])
    return FrozenItem(
        conversation.external_id,
        conversation.pk,
        conversation.split,
        GoldItem.How.IMPORTED,
        labels.canonical,
        text_sha256(labels.canonical),
    )


def _provenance(labels: Imported) -> Provenance:
    """The same keys as for gold that people made here, and where it was imported from."""
    provenance: Provenance = {
        "how": labels.source.how,
        "origin": str(labels.source),
        "source": labels.source.as_json(),
        "labels": dict(labels.origins),
        "annotators": [],
        "skipped": [],
        "adjudicated_by": None,
        "reason": None,
        "guideline_version": None,
        "round": None,
    }
    if labels.published:
        provenance["published"] = dict(labels.published)
    return provenance


def _store(
    draft: releases.Draft,
    items: StagedItems,
    inserted: publishing.ItemDraft,
    sources: Sequence[Source],
    message: str,
    waivers: Sequence[Waiver],
) -> GoldRelease:
    own: OwnStatement = {
        "imported_from": [source.as_json() for source in sources],
        **_counts(draft.project, items),
    }
    shown_message = message or f"{sources[0].how.capitalize()} from {_named(sources)}"
    proposal = draft.proposal(items.splits(), guideline=None)
    return draft.store(inserted, proposal, own, message=shown_message, waivers=waivers)


def _counts(project: Project, items: StagedItems) -> releases.SyntheticCounts:
    counts = {
        "synthetic": releases.n_synthetic(project, items),
        "generated": items.count(GoldItem.How.GENERATED),
    }
    present = {name: number for name, number in counts.items() if number}
    return cast(releases.SyntheticCounts, present)


def _named(sources: Sequence[Source]) -> str:
    if len(sources) == 1:
        return sources[0].file
    return f"{len(sources)} files"
