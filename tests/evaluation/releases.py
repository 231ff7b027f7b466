"""Gold out of documents, whatever their layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labeling.domain.canonical import canonical_json
from labeling.gold.rules.release import item_sha256, text_sha256
from labeling.models import GoldItem, GoldRelease, Project
from tests.factories import make_talk


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
    for position, (content, sha256) in enumerate(zip(contents, hashes, strict=True)):
        conversation = make_talk(project, content["item_id"], [])
        GoldItem.objects.create(
            release=release,
            conversation=conversation,
            item_id=content["item_id"],
            position=position,
            split=content["split"],
            how="single",
            canonical=canonical_json(content),
            sha256=sha256,
        )
    return release
