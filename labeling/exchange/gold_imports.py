"""Gold from elsewhere: frozen with where it comes from, instead of who labeled it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast
from unicodedata import normalize

from django.db import transaction

from labeling.conversations import conversations
from labeling.core import projects
from labeling.domain.batches import batches
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.domain.numbers import natural_bytes
from labeling.gold import lint, releases
from labeling.gold.gold import NameTaken, check_free
from labeling.gold.releases import BATCH, FrozenItem, Items
from labeling.gold.rules.content import LabelOrigin, Provenance, SourceFile
from labeling.gold.rules.normal import FORM, is_normal, moved
from labeling.gold.rules.release import text_sha256
from labeling.models import Conversation, GoldItem, GoldRelease, Project
from labeling.schema.labels import Payload

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
    ``imported`` is read more than once.
    """
    name = name or f"{project.slug}-{layer}"
    with transaction.atomic():
        projects.lock(project)  # one version after the other
        sources = sorted({labels.source for labels in imported})
        _check_name(project, layer, name, {each.how for each in sources})
        draft = releases.draft(project, layer, name, by=by)
        items = _staged(project, layer, imported, draft)
        if draft.repeats(items):
            return None
        waivers = lint.check(project, layer, items, waive=waive or {}, by=by, is_published=True)
        counts = {
            "synthetic": releases.n_synthetic(project, items),
            "generated": sum(head.how == GoldItem.How.GENERATED for head in items.heads()),
        }
        own: Any = {"imported_from": [source.as_json() for source in sources]}
        named = sources[0].file if len(sources) == 1 else f"{len(sources)} files"
        contents = releases.Contents(
            items,
            own | {name: number for name, number in counts.items() if number},
            message=message or f"{sources[0].how.capitalize()} from {named}",
            waivers=waivers,
        )
        files = [source.file for source in sources]
        return releases.publish(draft, contents, "gold.imported", items=len(items), files=files)


def _staged(
    project: Project, layer: str, imported: Iterable[Imported], draft: releases.Draft
) -> Items:
    """The new items and the unchanged ones, in the natural order of their ids."""
    items = Items()
    if draft.parent:
        kept = draft.parent.items.order_by("position").values_list(*FrozenItem._fields)
        for row in kept.iterator(chunk_size=BATCH):
            items.add(FrozenItem(*row))
    for batch in batches(imported, BATCH):
        wanted = {labels.conversation: labels for labels in batch}
        rows = project.conversations.filter(external_id__in=wanted).select_related("transcript")
        for conversation in rows:
            items.add(_item(conversation, layer, wanted[conversation.external_id]))
    items.sort(natural_bytes)
    return items


def _check_name(project: Project, layer: str, name: str, hows: set[str]) -> None:
    check_free(project, layer, name)
    made_here = GoldItem.objects.filter(release__name=name).exclude(how__in=GoldItem.MADE_ELSEWHERE)
    if made_here.exists():
        raise NameTaken(
            msgid("“{name}” is gold that was labeled here: choose another name."), name=name
        )
    in_another_way = GoldItem.objects.filter(release__name=name).exclude(how__in=hows)
    if hows and in_another_way.exists():
        raise NameTaken(
            msgid(
                "“{name}” holds gold that came about in another way (imported or "
                "generated), and the two are never mixed: choose another name."
            ),
            name=name,
        )


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
            msgid(
                "{conversation}: its split is “{split}” in the export and “{stored}” "
                "here, so its item cannot be taken over as it is: import the file "
                "items.jsonl instead of the folder"
            ),
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
