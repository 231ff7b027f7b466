"""The parts of every gold release, from whatever source its labels come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from labeling.core import acting, audit, events, projects
from labeling.core.rules.audit import StatedEvents
from labeling.core.spool import Spool
from labeling.domain.batches import batches
from labeling.domain.canonical import canonical_json
from labeling.domain.errors import RuleError
from labeling.gold import signing
from labeling.gold.rules import statement
from labeling.gold.rules.content import GoldContent, GoldMessage, Provenance
from labeling.gold.rules.normal import in_normal_form, is_normal
from labeling.gold.rules.release import text_sha256
from labeling.gold.rules.signatures import fingerprint
from labeling.models import Annotation, Conversation, GoldItem, GoldRelease, Guideline, Project
from labeling.schema import SCHEMA_VERSION
from labeling.schema.labels import Payload
from labeling.work import locking


class AnswersChanged(RuleError, code="answers_changed"):
    """Somebody else released under the name while this release was made."""


class Contents(NamedTuple):
    """What a release is to hold and to state; ``own`` is what this kind of gold states besides."""

    items: Items
    own: statement.OwnStatement
    message: str
    guideline: Guideline | None = None
    agreement: statement.AgreementAtFreeze | None = None
    overrides: list[statement.Override] = []
    left_out: list[statement.LeftOutRow] = []
    waivers: list[statement.Waiver] = []


class Draft(NamedTuple):
    """The next version under a name, before anything is stored of it.

    ``events`` are those of the project when it was begun.
    """

    project: Project
    layer: str
    name: str
    by: Any
    parent: GoldRelease | None
    events: StatedEvents

    def repeats(self, items: Items) -> bool:
        """Whether the newest version holds exactly these items."""
        if self.parent is None:
            return False
        return dict(items.hashes()) == dict(self.parent.items.values_list("item_id", "sha256"))

    def store(self, new: Contents) -> GoldRelease:
        """Freeze these items, in the transaction of the caller, who holds the project."""
        if _newest(self.name) != self.parent:
            raise AnswersChanged("gold.answers_changed")
        columns = new._asdict()
        del columns["items"], columns["own"]
        release = GoldRelease(
            project=self.project,
            layer=self.layer,
            name=self.name,
            version=self.parent.version + 1 if self.parent else 1,
            parent=self.parent,
            frozen_by=self.by,
            frozen_at=timezone.now(),
            **columns,
        )
        self._sign(release, new)
        release.save(force_insert=True)
        _insert(release, new.items)
        return release

    def _sign(self, release: GoldRelease, new: Contents) -> None:
        signer = signing.signer()
        release.listing = statement.listing(new.items.hashes())
        files = {
            statement.ITEMS_FILE: statement.lines_sha256(item.canonical for item in new.items),
            statement.LISTING_FILE: text_sha256(release.listing),
            statement.KEY_FILE: text_sha256(signer.public_key),
        }
        if release.guideline:
            files[statement.GUIDELINES_FILE] = text_sha256(release.guideline.body)
        stated: statement.Statement = {
            **new.own,
            **shown(release),  # type: ignore[typeddict-item]  # what pages show, by the same names
            "format": statement.FORMAT_3,
            "schema_version": SCHEMA_VERSION,
            "items": len(new.items),
            "guidelines": _guideline_texts(self.project, release.guideline),
            "events": self.events,
            "files": files,
            "key": fingerprint(signer.public_key),
        }
        release.header = canonical_json(stated)
        release.sha256 = text_sha256(release.header)
        signed = {**files, statement.MANIFEST_FILE: release.sha256}
        release.signature = signer.sign(str(release), signed)
        release.public_key = signer.public_key


@transaction.atomic
def publish(
    draft: Draft,
    contents: Contents,
    verb: str,
    *,
    check: Callable[[], object] = lambda: None,
    **said: Any,
) -> GoldRelease:
    """Insert everything at once, with the event that says so; ``check`` is called under the lock
    of the project, where one version comes after the other.
    """
    project = projects.lock(draft.project)
    check()
    release = draft.store(contents)
    names = {"release": str(release), "sha256": release.sha256}
    events.record(verb, release, project=project, actor=draft.by, **names, **said)
    return release


def _insert(release: GoldRelease, items: Items) -> None:
    """The items, which lock the answers that people here gave."""
    for batch in batches(enumerate(items), BATCH):
        GoldItem.objects.bulk_create(
            GoldItem(release=release, position=position, **item._asdict())
            for position, item in batch
        )
        elsewhere = GoldItem.MADE_ELSEWHERE
        here = [item.conversation_id for _, item in batch if item.how not in elsewhere]
        locking.lock(Annotation.objects.filter(assignment__conversation__in=here))


def shown(release: GoldRelease) -> dict[str, Any]:
    """What pages show of a release, by the names that the statement has for it."""
    return {
        "project": release.project.slug,
        "layer": release.layer,
        "name": release.name,
        "version": release.version,
        "meaning": release.meaning,
        "parent": parent_row(release.parent),
        "message": release.message,
        "guideline_version": release.guideline.version if release.guideline else None,
        "agreement": release.agreement,
        "overrides": release.overrides,
        "left_out": release.left_out,
        "waivers": release.waivers,
        "frozen_by": release.frozen_by.get_username() if release.frozen_by else None,
        "frozen_at": written_time(release.frozen_at),
    }


def draft(project: Project, layer: str, name: str, *, by: Any) -> Draft:
    by = by or acting.person()
    return Draft(project, layer, name, by, _newest(name), audit.state(project))


def _newest(name: str) -> GoldRelease | None:
    return GoldRelease.objects.filter(name=name).order_by("-version").first()


def n_synthetic(project: Project, items: Items) -> int:
    """How many items are about a synthetic conversation."""
    synthetic = project.conversations.filter(origin=Conversation.Origin.SYNTHETIC)
    if not synthetic.exists():
        return 0
    about = batches((head.conversation_id for head in items.heads()), BATCH)
    return sum(synthetic.filter(pk__in=part).count() for part in about)


def parent_row(parent: GoldRelease | None) -> statement.ParentRelease | None:
    return {"release": str(parent), "sha256": parent.sha256} if parent else None


def written_time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def _guideline_texts(project: Project, current: Guideline | None) -> list[statement.GuidelineText]:
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
        **origin_said(conversation.origin, conversation.generator),  # type: ignore[typeddict-item]
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


def origin_said(origin: str, generator: str) -> dict[str, Any]:
    """What a gold item says about a synthetic conversation; nothing about others."""
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


BATCH = 500
"""Rows that are written, or read back, at a time."""


class FrozenItem(NamedTuple):
    """A line of a release, and the hash that proves all of it."""

    item_id: str
    conversation_id: int
    split: str
    how: str
    canonical: str
    sha256: str


class Items:
    """The items of a release to be, in the order in which they were added, or in that of ``sort``.

    An item of the same id takes the place of the one that was added before.
    """

    def __init__(self) -> None:
        self._spool: Spool[FrozenItem] = Spool()
        self._heads: dict[str, tuple[FrozenItem, int]] = {}

    def __len__(self) -> int:
        return len(self._heads)

    def __iter__(self) -> Iterator[FrozenItem]:
        return (self._spool[number] for _, number in self._heads.values())

    def add(self, item: FrozenItem) -> None:
        self._heads[item.item_id] = item._replace(canonical=""), len(self._spool)
        self._spool.append(item)

    def sort(self, key: Callable[[str], bytes]) -> None:
        """Order the items by what ``key`` makes of their ids."""
        self._heads = dict(sorted(self._heads.items(), key=lambda pair: key(pair[0])))

    def heads(self) -> Iterator[FrozenItem]:
        """The items without their texts."""
        return (head for head, _ in self._heads.values())

    def hashes(self) -> Iterator[tuple[str, str]]:
        """The ids of the items, each with its hash."""
        return ((head.item_id, head.sha256) for head in self.heads())

    def splits(self) -> Iterator[tuple[str, str]]:
        """The ids of the items, each with its split."""
        return ((head.item_id, head.split) for head in self.heads())
