"""The parts of every gold release, from whatever source its labels come."""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict

from labeling.domain.canonical import canonical_json
from labeling.domain.gold.content import (
    GoldContent,
    GoldHeader,
    GoldMessage,
    OwnHeader,
    Provenance,
)
from labeling.domain.gold.release import item_sha256, release_sha256
from labeling.domain.schema import SCHEMA_VERSION
from labeling.domain.schema.labels import Payload
from labeling.models import Conversation, GoldItem, GoldRelease, Project
from labeling.services.gold.staging import BATCH, FrozenItem, StagedItems, batches


class SyntheticCounts(TypedDict, total=False):
    """How many items have a synthetic conversation or generated labels, where there are any."""

    synthetic: int
    generated: int


class Draft(NamedTuple):
    """The next version under a name, before anything is stored of it."""

    project: Project
    layer: str
    name: str
    by: Any
    parent: GoldRelease | None

    @property
    def version(self) -> int:
        return self.parent.version + 1 if self.parent else 1

    def repeats(self, items: StagedItems) -> bool:
        """Whether the newest version holds exactly these items."""
        if self.parent is None or self.parent.items.count() != len(items):
            return False
        rows = self.parent.items.order_by("position").values_list("sha256", flat=True)
        hashes = rows.iterator(chunk_size=BATCH)
        return all(item.sha256 == sha256 for item, sha256 in zip(items, hashes, strict=True))

    def store(self, items: StagedItems, own_header: OwnHeader, **fields: Any) -> GoldRelease:
        """Freeze these items. ``own_header`` is what this kind of gold adds to the header."""
        header: GoldHeader = {
            **own_header,
            "schema_version": SCHEMA_VERSION,
            "project": self.project.slug,
            "layer": self.layer,
            "name": self.name,
            "version": self.version,
            "parent_sha256": self.parent.sha256 if self.parent else None,
            "items": len(items),
        }
        release = GoldRelease.objects.create(
            project=self.project,
            layer=self.layer,
            name=self.name,
            version=self.version,
            parent=self.parent,
            header=canonical_json(header),
            sha256=release_sha256(header, [item.sha256 for item in items]),
            frozen_by=self.by,
            **fields,
        )
        rows = (
            GoldItem(release=release, position=position, **item._asdict())
            for position, item in enumerate(items)
        )
        for batch in batches(rows):
            GoldItem.objects.bulk_create(batch)
        return release


def draft(project: Project, layer: str, name: str, *, by: Any) -> Draft:
    newest = GoldRelease.objects.filter(name=name).order_by("-version").first()
    return Draft(project, layer, name, by, newest)


def item_of(
    conversation: Conversation,
    layer: str,
    *,
    gold: Payload,
    base_payload: Payload,
    provenance: Provenance,
) -> FrozenItem:
    """One line of the native export: self-contained, so that its hash proves all of it."""
    document: GoldContent = {
        "schema_version": SCHEMA_VERSION,
        "item_id": conversation.external_id,
        "domain": conversation.domain,
        "difficulty": conversation.difficulty,
        "split": conversation.split,
        **origin_of(conversation),
        "conversation": messages_of(conversation),
        "layer": layer,
        "gold": gold,
        "provenance": provenance,
    }
    if base_payload:
        document["given"] = base_payload
    return FrozenItem(
        conversation.external_id,
        conversation.pk,
        conversation.split,
        provenance["how"],
        canonical_json(document),
        item_sha256(document),
    )


class SyntheticOrigin(TypedDict, total=False):
    origin: str
    generator: str


def origin_of(conversation: Conversation) -> SyntheticOrigin:
    """What a gold item says about a synthetic conversation; nothing about others."""
    if not conversation.is_synthetic:
        return {}
    return {"origin": conversation.origin, "generator": conversation.generator}


def messages_of(conversation: Conversation) -> list[GoldMessage]:
    return [
        {
            "index": message.index,
            "role": message.role,
            "speaker": message.speaker,
            "content": message.content,
            "time": message.time.isoformat() if message.time else None,
        }
        for message in conversation.messages.all()
    ]
