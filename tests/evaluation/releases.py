"""Gold out of documents, whatever their layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labeling.conversations.rules.transcripts import Message
from labeling.domain.canonical import canonical_json
from labeling.gold.rules.release import item_sha256, text_sha256
from labeling.models import Conversation, GoldItem, GoldRelease, Project
from tests.factories import make_talk


def said(
    texts: Sequence[str],
    *,
    roles: Sequence[str] = ("speaker",),
    speakers: Sequence[str] = ("",),
    hourly: bool = False,
) -> list[dict[str, Any]]:
    """Messages of those in turn."""
    return [
        {
            "index": at,
            "role": roles[at % len(roles)],
            "speaker": speakers[at % len(speakers)],
            "content": text,
            "time": f"2024-01-01T{at:02d}:00:00+00:00" if hourly else None,
        }
        for at, text in enumerate(texts)
    ]


def item(
    name: str, layer: str, gold: dict[str, Any], conversation: Any, **fields: Any
) -> dict[str, Any]:
    """As a freeze writes it, of one person."""
    return {
        "item_id": name,
        "domain": "chat",
        "split": "dev",
        "conversation": conversation,
        "layer": layer,
        "gold": gold,
        "provenance": {"how": "single", "annotators": [], "labels": {}},
        **fields,
    }


def following(release: GoldRelease) -> GoldRelease:
    """The next version of the same gold, without items."""
    newer = GoldRelease.objects.get(pk=release.pk)
    newer.pk, newer.version, newer.parent = None, release.version + 1, release
    newer.save(force_insert=True)
    return newer


def freeze(
    project: Project, layer: str, *, name: str, contents: Sequence[dict[str, Any]]
) -> GoldRelease:
    hashes = [item_sha256(content) for content in contents]
    release = GoldRelease.objects.create(
        project=project,
        layer=layer,
        name=name,
        version=1,
        guideline=project.guidelines.first(),
        header="{}",
        sha256=text_sha256("".join(hashes)),
    )
    GoldItem.objects.bulk_create(
        GoldItem(
            release=release,
            conversation=_conversation(project, content),
            item_id=content["item_id"],
            position=position,
            split=content["split"],
            how=content["provenance"]["how"],
            canonical=canonical_json(content),
            sha256=sha256,
        )
        for position, (content, sha256) in enumerate(zip(contents, hashes, strict=True))
    )
    return release


def _conversation(project: Project, content: dict[str, Any]) -> Conversation:
    """That of an earlier release, if there is one."""
    name = content["item_id"]
    turns = [Message(**said | {"time": None}) for said in content["conversation"]]
    known = project.conversations.filter(external_id=name).first()
    return known or make_talk(project, name, turns, split=content["split"])
