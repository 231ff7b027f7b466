"""A release of events, and the forms in which predictions come."""

from __future__ import annotations

from typing import Any

from labeling.models import GoldRelease, Project
from tests.evaluation.releases import freeze, item, said

SCHEMA = {"质押": ["质押方", "质权方"], "Sale": ["Buyer", "Seller"]}
TEXTS = {
    "doc-1": "张三向中信证券质押股份。",
    "doc-2": "Acme sold the mill to Globex.",
    "doc-3": "Nothing of note.",
}
GOLD = {
    "doc-1": [("质押", {"质押方": "张三", "质权方": "中信证券"})],
    "doc-2": [("Sale", {"Buyer": "Globex", "Seller": "Acme"})],
    "doc-3": [],
}


def make_events_release(project: Project, *, schema: Any = SCHEMA) -> GoldRelease:
    project.event_schema = schema
    project.save()
    contents = [_content(name) for name in TEXTS]
    return freeze(project, "events", name="news", contents=contents)


def _content(name: str) -> dict[str, Any]:
    gold = {"events": [_label(name, kind, roles) for kind, roles in GOLD[name]]}
    return item(name, "events", gold, said([TEXTS[name]], roles=("text",)), domain="news")


def _label(name: str, kind: str, roles: dict[str, str]) -> dict[str, Any]:
    return {
        "uid": f"{name}-{kind}",
        "type": kind,
        "trigger": None,
        "arguments": [{"role": role, "span": _span(name, text)} for role, text in roles.items()],
    }


def _span(name: str, text: str) -> dict[str, Any]:
    start = TEXTS[name].index(text)
    return {"message": 0, "start": start, "end": start + len(text), "text": text}


def event(kind: str, **roles: str | None) -> dict[str, Any]:
    arguments = [{"role": role, "argument": text} for role, text in roles.items()]
    return {"event_type": kind, "arguments": arguments}


def prediction(case_id: str, *events: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"case_id": case_id, "output": {"events": list(events), "model": None, **fields}}


RIGHT = [prediction(name, *(event(kind, **roles) for kind, roles in GOLD[name])) for name in GOLD]
"""What is right of every text."""
