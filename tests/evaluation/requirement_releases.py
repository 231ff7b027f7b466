"""A release of any requirement layer, with what its labels refer to."""

from __future__ import annotations

from typing import Any

from labeling.models import GoldRelease, Project
from tests.evaluation.conftest import requirement
from tests.evaluation.releases import freeze, item, said


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
    return freeze(project, layer, name=layer, contents=contents)


def _content(layer: str, number: int, gold: dict[str, Any]) -> dict[str, Any]:
    messages = said(("I must log in and pay by card", "Noted."), roles=("user", "analyst"))
    fields: dict[str, Any] = {"domain": "clinic", "difficulty": "hard"}
    if number % 2:
        fields = {"domain": "shop", "difficulty": "medium"}
    if layer != "end_to_end":
        fields["given"] = {"requirements": [requirement(1)]}
    return item(f"case-{number}", layer, gold, messages, **fields)
