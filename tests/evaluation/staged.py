"""A release of any requirement layer, with what its labels refer to."""

from __future__ import annotations

from typing import Any

from labeling.domain.release import canonical_json, item_sha256, release_sha256
from labeling.models import Conversation, GoldItem, GoldRelease, Project
from tests.evaluation.conftest import requirement


def inferred(title: str, *, necessity: str = "necessary", **fields: Any) -> dict[str, Any]:
    label = requirement(1, title=title, action=title, type="security", actor="System")
    del label["source_messages"]
    return label | {
        "uid": f"i-{title}",
        "id": "INF-001",
        "inference_type": "security",
        "triggered_by": ["u1"],
        "necessity": necessity,
        **fields,
    }


def issue(issue_type: str = "too_broad", requirement: str = "u1", **fields: Any) -> dict[str, Any]:
    return {
        "uid": f"v-{issue_type}-{requirement}",
        "requirement": requirement,
        "issue_type": issue_type,
        "severity": "warning",
        "field": "action",
        "span": None,
        "message": "It says too much",
        "suggested_fix": "Say less",
        **fields,
    }


def pii(text: str, **fields: Any) -> dict[str, Any]:
    return issue("pii", span={"start": 0, "end": len(text), "text": text}, **fields)


def make_release(project: Project, layer: str, *golds: dict[str, Any]) -> GoldRelease:
    """One item for each of ``golds``; all but end to end refer to the requirement ``u1``."""
    contents = [_content(layer, number, gold) for number, gold in enumerate(golds, start=1)]
    hashes = [item_sha256(content) for content in contents]
    release = GoldRelease.objects.create(
        project=project,
        layer=layer,
        name=layer,
        version=1,
        guideline=project.guidelines.first(),
        header="{}",
        sha256=release_sha256({}, hashes),
    )
    for position, (content, sha256) in enumerate(zip(contents, hashes, strict=True)):
        conversation = Conversation.objects.create(
            project=project, external_id=content["item_id"], content_sha256="0" * 64
        )
        GoldItem.objects.create(
            release=release,
            conversation=conversation,
            item_id=content["item_id"],
            position=position,
            split="dev",
            how="single",
            canonical=canonical_json(content),
            sha256=sha256,
        )
    return release


def _content(layer: str, number: int, gold: dict[str, Any]) -> dict[str, Any]:
    said = ("I must log in and pay by card", "Noted.")
    messages = [
        {"index": at, "role": who, "speaker": "", "content": text, "time": None}
        for at, (who, text) in enumerate(zip(("user", "analyst"), said, strict=True))
    ]
    return {
        "item_id": f"case-{number}",
        "domain": "shop" if number % 2 else "clinic",
        "difficulty": "easy" if number % 2 else "hard",
        "split": "dev",
        "conversation": messages,
        "layer": layer,
        "gold": gold,
        **({} if layer == "end_to_end" else {"given": {"requirements": [requirement(1)]}}),
        "provenance": {"how": "single", "annotators": [], "labels": {}},
    }
