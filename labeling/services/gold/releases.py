"""The parts of every gold release, from whatever source its labels come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import reduce
from typing import Any, NamedTuple, TypedDict

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from labeling.domain.batches import batches
from labeling.domain.canonical import canonical_json
from labeling.domain.facts import Fact
from labeling.domain.gold import statement
from labeling.domain.gold.content import GoldContent, GoldMessage, Provenance
from labeling.domain.gold.meaning import FIRST, Level, Meaning, higher, of_release, same_words
from labeling.domain.gold.normal import in_normal_form, is_normal
from labeling.domain.gold.release import text_sha256
from labeling.domain.gold.statement import (
    FORMAT_2,
    AgreementAtFreeze,
    GuidelineText,
    LeftOutRow,
    Override,
    OwnStatement,
    ParentRelease,
    Statement,
    Waiver,
)
from labeling.domain.schema import SCHEMA_VERSION
from labeling.domain.schema.labels import Payload
from labeling.models import Annotation, Conversation, GoldItem, GoldRelease, Guideline, Project
from labeling.services import acting, audit_chain
from labeling.services.gold import signing
from labeling.services.gold.publishing import ItemDraft
from labeling.services.gold.staging import BATCH, FrozenItem, StagedItems


class SyntheticCounts(TypedDict, total=False):
    """How many items have a synthetic conversation or generated labels, where there are any."""

    synthetic: int
    generated: int


class Proposal(NamedTuple):
    """A version by meaning, and what it follows from."""

    level: Level
    meaning: Meaning
    reasons: list[Fact]


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
        return all(
            {*batch} == {*_of(self.parent, batch).values_list("item_id", "sha256")}
            for batch in batches(items.hashes(), BATCH)
        )

    def proposal(
        self, items: Iterable[tuple[str, str]], *, guideline: Guideline | None
    ) -> Proposal:
        """The version by meaning that follows from what differs from the newest version.

        ``items`` are their ids and splits.
        """
        parent = self.parent
        if parent is None:
            return Proposal("major", FIRST, [Fact("meaning.first")])
        reasons: dict[Fact, Level] = {}
        if statement.parsed(parent.header).get("schema_version", SCHEMA_VERSION) != SCHEMA_VERSION:
            reasons[Fact("meaning.schema", version=SCHEMA_VERSION)] = "major"
        before = parent.guideline.body if parent.guideline else None
        if not same_words(before, guideline.body if guideline else None):
            version = guideline.version if guideline else 0
            reasons[Fact("meaning.guidelines", version=version)] = "major"
        added, removed = self._added_and_removed(parent, items)
        if added or removed:
            reasons[Fact("meaning.items", added=added, removed=removed)] = "minor"
        if not reasons:
            reasons[Fact("meaning.labels")] = "patch"
        level = reduce(higher, reasons.values())
        meaning = of_release(parent.meaning, parent.version).raised(level)
        return Proposal(level, meaning, list(reasons))

    @staticmethod
    def _added_and_removed(
        parent: GoldRelease, items: Iterable[tuple[str, str]]
    ) -> tuple[int, int]:
        """How many items the parent does not have in that split, and how many only it has."""
        total, kept = 0, 0
        for batch in batches(items, BATCH):
            total += len(batch)
            kept += len({*batch} & {*_of(parent, batch).values_list("item_id", "split")})
        return total - kept, parent.items.count() - kept

    def store(
        self,
        items: ItemDraft,
        proposed: Proposal,
        own: OwnStatement,
        *,
        message: str,
        guideline: Guideline | None = None,
        agreement: AgreementAtFreeze | None = None,
        overrides: Sequence[Override] = (),
        left_out: Sequence[LeftOutRow] = (),
        waivers: Sequence[Waiver] = (),
        at_least: Level = "patch",
    ) -> GoldRelease:
        """Freeze these items, in the transaction of the caller, who holds the project.

        ``own`` is what this kind of gold states in addition.
        """
        meaning = str(self.meaning_of(proposed, at_least))
        frozen_at = timezone.now()
        stated: Statement = {
            **own,
            "format": FORMAT_2,
            "schema_version": SCHEMA_VERSION,
            "project": self.project.slug,
            "layer": self.layer,
            "name": self.name,
            "version": self.version,
            "meaning": meaning,
            "parent": parent_row(self.parent),
            "items": items.size,
            "root": items.root,
            "message": message,
            "guideline_version": guideline.version if guideline else None,
            "guidelines": _guideline_texts(self.project, guideline),
            "agreement": agreement,
            "overrides": list(overrides),
            "left_out": list(left_out),
            "waivers": list(waivers),
            "frozen_by": self.by.get_username() if self.by else None,
            "frozen_at": written_time(frozen_at),
            "audit_head": audit_chain.head(),
            "key": signing.fingerprint(),
        }
        text = canonical_json(stated)
        signer = signing.signer()
        items.publish()
        return GoldRelease.objects.create(
            pk=items.pk,
            project=self.project,
            layer=self.layer,
            name=self.name,
            version=self.version,
            meaning=meaning,
            parent=self.parent,
            guideline=guideline,
            message=message,
            agreement=agreement,
            overrides=list(overrides),
            left_out=list(left_out),
            waivers=list(waivers),
            header=text,
            sha256=text_sha256(text),
            frozen_by=self.by,
            frozen_at=frozen_at,
            signature=signer.sign(text),
            public_key=signer.public_key,
        )

    def meaning_of(self, proposed: Proposal, at_least: Level) -> Meaning:
        """The proposed version, or a higher one where somebody wants that."""
        if self.parent is None:
            return proposed.meaning
        level = higher(proposed.level, at_least)
        return of_release(self.parent.meaning, self.parent.version).raised(level)


def _of(release: GoldRelease, rows: Iterable[tuple[str, str]]) -> QuerySet[GoldItem]:
    """The items of a release that have the ids of these rows."""
    return release.items.filter(item_id__in=[name for name, _ in rows]).order_by()


def draft(project: Project, layer: str, name: str, *, by: Any) -> Draft:
    newest = GoldRelease.objects.filter(name=name).order_by("-version").first()
    return Draft(project, layer, name, by or acting.person(), newest)


def n_synthetic(conversations: QuerySet[Conversation], items: StagedItems) -> int:
    """How many items are about a synthetic conversation."""
    synthetic = conversations.filter(origin=Conversation.Origin.SYNTHETIC)
    if not synthetic.exists():
        return 0
    return sum(synthetic.filter(pk__in=part).count() for part in items.conversations())


def parent_row(parent: GoldRelease | None) -> ParentRelease | None:
    return {"release": str(parent), "sha256": parent.sha256} if parent else None


def written_time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def _guideline_texts(project: Project, current: Guideline | None) -> list[GuidelineText]:
    """What labels were made under; imported and generated labels were made under none."""
    if current is None:
        return []
    used = Annotation.objects.filter(guideline=OuterRef("pk"))
    texts = project.guidelines.filter(Q(pk=current.pk) | Q(Exists(used)))
    return [{"version": text.version, "body": text.body} for text in texts.order_by("version")]


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
    text = canonical_json(document)
    if not is_normal(text):
        text = canonical_json(in_normal_form(document))
    return FrozenItem(
        conversation.external_id,
        conversation.pk,
        conversation.split,
        provenance["how"],
        text,
        text_sha256(text),
    )


class SyntheticOrigin(TypedDict, total=False):
    origin: str
    generator: str


def origin_of(conversation: Conversation) -> SyntheticOrigin:
    """What a gold item says about a synthetic conversation; nothing about others."""
    return origin_said(conversation.origin, conversation.generator)


def origin_said(origin: str, generator: str) -> SyntheticOrigin:
    if origin != Conversation.Origin.SYNTHETIC:
        return {}
    return {"origin": origin, "generator": generator}


def messages_of(conversation: Conversation) -> list[GoldMessage]:
    return [
        {
            "index": message.index,
            "role": message.role,
            "speaker": message.speaker,
            "content": message.content,
            "time": message.time.isoformat() if message.time else None,
        }
        for message in conversation.messages
    ]
