"""Gold from elsewhere: frozen with where it comes from, instead of who labelled it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast
from unicodedata import normalize

from django.db import transaction
from django.db.models import QuerySet

from labeling.domain.batches import batches
from labeling.domain.chats import natural_bytes
from labeling.domain.facts import Fact
from labeling.domain.gold.content import LabelOrigin, Provenance, SourceFile
from labeling.domain.gold.normal import FORM, is_normal, moved
from labeling.domain.gold.release import text_sha256
from labeling.domain.gold.statement import OwnStatement
from labeling.domain.schema.labels import Payload
from labeling.models import Conversation, GoldItem, GoldRelease, Project
from labeling.services import audit, events, projects
from labeling.services.exchange import conversations
from labeling.services.gold import lint, releases
from labeling.services.gold.gold import NameTaken, check_free
from labeling.services.gold.staging import BATCH, FrozenItem, Items
from labeling.services.settling.corrections import MADE_ELSEWHERE

UNVERIFIED = "unverified"
"""In place of who signed a release, where nobody did."""


class Source(NamedTuple):
    """A file that gold was read from, or the program that generated it.

    ``release`` is what was verified of a folder, and ``signed_by`` the fingerprint of its key.
    """

    file: str
    sha256: str
    how: str = "imported"
    release: str = ""
    release_sha256: str = ""
    signed_by: str = ""

    def __str__(self) -> str:
        return f"{self.how} from {self.file} sha256 {self.sha256}"

    def as_json(self) -> SourceFile:
        row: SourceFile = {"file": self.file, "sha256": self.sha256}
        if self.release:
            signed_by = self.signed_by or UNVERIFIED
            row |= {
                "release": self.release,
                "release_sha256": self.release_sha256,
                "signed_by": signed_by,
            }
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
    texts: Sequence[str] = ()
    """Of the file, where they are not in the normal form of gold."""


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
    wish = Wish(layer, imported, name or f"{project.slug}-{layer}", message, waive or {}, by)
    for _ in range(conversations.ATTEMPTS):
        before = conversations.state()
        freezing = Freezing(wish, project, project.conversations.all())
        with transaction.atomic():
            locked = projects.lock(project)  # one version after the other
            if conversations.state() == before and freezing.is_next():
                return freezing.publish(locked)
    raise conversations.ImportOvertaken("import.overtaken")


class Wish(NamedTuple):
    """What somebody wants to freeze; ``imported`` may be read any number of times."""

    layer: str
    imported: Iterable[Imported]
    name: str
    message: str
    waive: Mapping[str, str]
    by: Any


class Freezing:
    """Imported labels as the items of the next version, checked before anything is locked.
    ``about`` are the
       conversations of the project as they will be, and ``splits`` what they will have by then;
       ``drafted`` is the draft of those that are published together with the items.
    """

    def __init__(
        self,
        wish: Wish,
        project: Project,
        about: QuerySet[Conversation],
        *,
        splits: Mapping[int, str] | None = None,
        drafted: int | None = None,
        stay_alive: Callable[[], None] = lambda: None,
    ) -> None:
        self._wish, self._project, self._about = wish, project, about
        self._splits, self._drafted = splits or {}, drafted
        self._stay_alive = stay_alive
        self._items = Items()
        items = self._items
        self._sources = sorted({labels.source for labels in wish.imported})
        _check_name(project, wish.layer, wish.name, {each.how for each in self._sources})
        self._draft = releases.draft(project, wish.layer, wish.name, by=wish.by)
        self._stage()
        self._stay_alive()
        self._repeats = self._draft.repeats(items)
        if self._repeats:
            return
        self._findings = self._looked_at()
        self._stay_alive()
        lint.check(self._findings, project, wish.layer, waive=wish.waive)
        first, named = self._sources[0], _named(self._sources)
        own: OwnStatement = {
            "imported_from": [source.as_json() for source in self._sources],
            **_counts(about, items),
        }
        self._contents = releases.Contents(
            items,
            self._draft.proposal(items.splits(), guideline=None),
            own,
            audit.state(project),
            message=wish.message or f"{first.how.capitalize()} from {named}",
        )
        self._stay_alive()

    def _stage(self) -> None:
        """The new items and the unchanged ones, in the natural order of their ids."""
        for kept in _kept(self._draft.parent) if self._draft.parent else []:
            self._items.add(kept)
        for batch in batches(self._wish.imported, BATCH):
            wanted = {labels.conversation: labels for labels in batch}
            rows = self._about.filter(external_id__in=wanted).select_related("transcript")
            for conversation in rows:
                conversation.split = self._splits.get(conversation.pk, conversation.split)
                labels = wanted[conversation.external_id]
                self._items.add(_item(conversation, self._wish.layer, labels))
            self._stay_alive()
        self._items.sort(natural_bytes)

    def _looked_at(self) -> lint.Findings:
        lint.prepare()
        linter = lint.Linter(
            self._project,
            self._wish.layer,
            name=self._wish.name,
            is_published=True,
            drafted=self._drafted,
        )
        for number, item in enumerate(self._items):
            if item.how != GoldItem.How.GENERATED:
                linter.look(item.conversation_id, json.loads(item.canonical))
            if number % BATCH == 0:
                self._stay_alive()
        return linter.findings()

    def is_next(self) -> bool:
        """Whether the newest version under the name is still the one that this follows."""
        newest = releases.draft(self._project, self._wish.layer, self._wish.name, by=None)
        return newest.parent == self._draft.parent

    def publish(self, project: Project) -> GoldRelease | None:
        """In the transaction of the caller, who holds the project; None if nothing is new."""
        if self._repeats:
            return None
        wish = self._wish
        _check_name(project, wish.layer, wish.name, {each.how for each in self._sources})
        waivers = lint.settle(self._findings, project, wish.layer, waive=wish.waive, by=wish.by)
        draft = self._draft._replace(project=project)
        release = draft.store(self._contents._replace(waivers=waivers))
        events.record(
            "gold.imported",
            release,
            project=project,
            actor=wish.by,
            release=str(release),
            items=len(self._items),
            files=[source.file for source in self._sources],
            sha256=release.sha256,
        )
        return release


def _check_name(project: Project, layer: str, name: str, hows: set[str]) -> None:
    check_free(project, layer, name)
    made_here = GoldItem.objects.filter(release__name=name).exclude(how__in=MADE_ELSEWHERE)
    if made_here.exists():
        raise NameTaken("gold.name_of_labelled", name=name)
    in_another_way = GoldItem.objects.filter(release__name=name).exclude(how__in=hows)
    if hows and in_another_way.exists():
        raise NameTaken("gold.name_of_other_origin", name=name)


def _kept(parent: GoldRelease) -> Iterator[FrozenItem]:
    rows = parent.items.order_by("position").values_list(*FrozenItem._fields)
    return (FrozenItem(*row) for row in rows.iterator(chunk_size=BATCH))


def _item(conversation: Conversation, layer: str, labels: Imported) -> FrozenItem:
    if labels.canonical:
        return _taken_over(conversation, labels)
    return releases.item_of(
        conversation,
        layer,
        gold=_on_stored(conversation, labels.gold, labels.texts),
        base_payload=_on_stored(conversation, labels.base_payload, labels.texts),
        provenance=_provenance(labels),
    )


def _on_stored(conversation: Conversation, payload: Payload, texts: Sequence[str]) -> Payload:
    """The labels at their places in the stored text, which may write its accents otherwise."""
    if not texts and is_normal(conversation.transcript.messages):
        return payload
    stored = [message.content for message in conversation.messages]
    own = texts or [normalize(FORM, text) for text in stored]
    return cast(Payload, moved(payload, own, stored))


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
        raise conversations.ImportRefused(
            [Fact("import.problem", place=labels.source.file, why=why)]
        )
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


def _counts(about: QuerySet[Conversation], items: Items) -> releases.SyntheticCounts:
    counts = {
        "synthetic": releases.n_synthetic(about, items),
        "generated": items.count(GoldItem.How.GENERATED),
    }
    present = {name: number for name, number in counts.items() if number}
    return cast(releases.SyntheticCounts, present)


def _named(sources: Sequence[Source]) -> str:
    if len(sources) == 1:
        return sources[0].file
    return f"{len(sources)} files"
