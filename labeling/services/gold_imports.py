"""Gold that was made elsewhere: frozen with where it comes from, instead of who labelled it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import transaction

from labeling.domain.chats import natural_key
from labeling.domain.release import canonical_json, item_sha256, release_sha256
from labeling.domain.schema import SCHEMA_VERSION
from labeling.models import Conversation, GoldItem, GoldRelease, Project
from labeling.services import events, projects
from labeling.services.gold import NameTaken, check_free, messages_of, origin_of

MADE_ELSEWHERE = ("imported", "generated")


class Source(NamedTuple):
    """A file that gold was read from, or what made it."""

    file: str
    sha256: str
    how: str = "imported"

    def __str__(self) -> str:
        return f"{self.how} from {self.file} sha256 {self.sha256}"

    @property
    def told(self) -> dict[str, str]:
        return {"file": self.file, "sha256": self.sha256}


class Imported(NamedTuple):
    """The labels of one conversation. ``origins`` says by uid where each label comes from."""

    conversation: str  # external id
    source: Source
    gold: dict[str, Any]
    origins: Mapping[str, Any]
    published: Mapping[str, Any] | None = None  # the provenance that the file itself gives
    given: Mapping[str, Any] = {}  # labels of other layers that these refer to


class _Item(NamedTuple):
    item_id: str
    conversation_id: int
    split: str
    how: str
    canonical: str
    sha256: str


@transaction.atomic
def freeze_imported(
    *,
    project: Project,
    layer: str,
    imported: Sequence[Imported],
    name: str = "",
    message: str = "",
    by: Any = None,
) -> GoldRelease | None:
    """Release imported labels as a new version of ``name`` (default: the slug and the layer).

    A version holds everything imported under its name so far: conversations that are imported
    again stand with their new labels, the others as they were. None if the newest version holds
    exactly this already.
    """
    projects.lock(project)  # one version after the other
    name = name or f"{project.slug}-{layer}"
    _check_name(project, layer, name, {one.source.how for one in imported})
    parent = GoldRelease.objects.filter(name=name).order_by("-version").first()
    items = _items(project, layer, imported, parent)
    if parent and _hashes_of(parent) == [item.sha256 for item in items]:
        return None
    sources = sorted({one.source for one in imported})
    release = _create(project, layer, name, message, by, parent, items, sources)
    GoldItem.objects.bulk_create(
        [
            GoldItem(release=release, position=position, **item._asdict())
            for position, item in enumerate(items)
        ],
        batch_size=500,
    )
    events.record(
        "gold.imported",
        release,
        project=project,
        actor=by,
        release=str(release),
        items=len(items),
        files=[source.file for source in sources],
        sha256=release.sha256,
    )
    return release


def _check_name(project: Project, layer: str, name: str, hows: set[str]) -> None:
    check_free(project, layer, name)
    made_here = GoldItem.objects.filter(release__name=name).exclude(how__in=MADE_ELSEWHERE)
    if made_here.exists():
        raise NameTaken(f"{name!r} is gold that was labelled here: choose another name.")
    in_another_way = GoldItem.objects.filter(release__name=name).exclude(how__in=hows)
    if hows and in_another_way.exists():
        raise NameTaken(
            f"{name!r} holds gold that came about in another way (imported or generated), and "
            "the two are never mixed: choose another name."
        )


def _hashes_of(release: GoldRelease) -> list[str]:
    return list(release.items.order_by("position").values_list("sha256", flat=True))


def _items(
    project: Project, layer: str, imported: Sequence[Imported], parent: GoldRelease | None
) -> list[_Item]:
    """The new items and those that stand as they were, in the natural order of their ids."""
    items = {item.item_id: item for item in (_kept(parent) if parent else [])}
    wanted = {one.conversation: one for one in imported}
    found = project.conversations.filter(external_id__in=wanted).prefetch_related("messages")
    for conversation in found:
        item = _item(conversation, layer, wanted[conversation.external_id])
        items[item.item_id] = item
    return sorted(items.values(), key=lambda item: natural_key(item.item_id))


def _kept(parent: GoldRelease) -> Iterable[_Item]:
    rows = parent.items.values_list(*_Item._fields)
    return (_Item(*row) for row in rows)


def _item(conversation: Conversation, layer: str, one: Imported) -> _Item:
    document = {
        "schema_version": SCHEMA_VERSION,
        "item_id": conversation.external_id,
        "domain": conversation.domain,
        "difficulty": conversation.difficulty,
        "split": conversation.split,
        **origin_of(conversation),
        "conversation": messages_of(conversation),
        "layer": layer,
        "gold": one.gold,
        **({"given": dict(one.given)} if one.given else {}),
        "provenance": _provenance(one),
    }
    return _Item(
        conversation.external_id,
        conversation.pk,
        conversation.split,
        one.source.how,
        canonical_json(document),
        item_sha256(document),
    )


def _provenance(one: Imported) -> dict[str, Any]:
    """The same keys as for gold that people made here, and where it was imported from."""
    provenance: dict[str, Any] = {
        "how": one.source.how,
        "origin": str(one.source),
        "source": one.source.told,
        "labels": dict(one.origins),
        "annotators": [],
        "skipped": [],
        "adjudicated_by": None,
        "reason": None,
        "guideline_version": None,
        "round": None,
    }
    if one.published:
        provenance["published"] = dict(one.published)
    return provenance


def _create(
    project: Project,
    layer: str,
    name: str,
    message: str,
    by: Any,
    parent: GoldRelease | None,
    items: Sequence[_Item],
    sources: Sequence[Source],
) -> GoldRelease:
    version = parent.version + 1 if parent else 1
    made = project.conversations.filter(origin=Conversation.Origin.SYNTHETIC)
    known = set(made.values_list("pk", flat=True))
    synthetic = sum(item.conversation_id in known for item in items)
    generated = sum(item.how == GoldItem.How.GENERATED for item in items)
    header = {
        "schema_version": SCHEMA_VERSION,
        "project": project.slug,
        "layer": layer,
        "name": name,
        "version": version,
        "parent_sha256": parent.sha256 if parent else None,
        "message": message,
        "imported_from": [source.told for source in sources],
        "items": len(items),
        **({"synthetic": synthetic} if synthetic else {}),
        **({"generated": generated} if generated else {}),
    }
    return GoldRelease.objects.create(
        project=project,
        layer=layer,
        name=name,
        version=version,
        parent=parent,
        message=message or f"{sources[0].how.capitalize()} from {_named(sources)}",
        header=canonical_json(header),
        sha256=release_sha256(header, [item.sha256 for item in items]),
        frozen_by=by,
    )


def _named(sources: Sequence[Source]) -> str:
    if len(sources) == 1:
        return sources[0].file
    return f"{len(sources)} files"
