"""Complete labels of every layer; tests name only what they are about."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from tests import factories

WORDS = "order"  # stands at 33 in "Message 0 of c-001: we need to track order 0."


def inferred(title: str, *, triggered_by: Sequence[str], **fields: Any) -> dict[str, Any]:
    label = factories.requirement(1, title=title, action=title)
    del label["source_messages"]
    return label | {
        "id": "INF-001",
        "inference_type": "security",
        "triggered_by": list(triggered_by),
        "necessity": "necessary",
        **fields,
    }


def issue(requirement: str, **fields: Any) -> dict[str, Any]:
    return {
        "uid": uuid4().hex,
        "requirement": requirement,
        "issue_type": "ambiguous_verb",
        "severity": "warning",
        "field": "action",
        "span": None,
        "message": "Track may mean two things",
        "suggested_fix": "Say which",
        **fields,
    }


def question(text: str, *, evidence: Sequence[int] = (0,), **fields: Any) -> dict[str, Any]:
    return {
        "uid": uuid4().hex,
        "question": text,
        "answer": "Orders",
        "evidence": list(evidence),
        "category": "single-hop",
        **fields,
    }


def phase(title: str, evidence: Sequence[int]) -> dict[str, Any]:
    return {
        "uid": uuid4().hex,
        "title": title,
        "time_range": None,
        "evidence": list(evidence),
    }


def arc(text: str, *phases: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"uid": uuid4().hex, "question": text, "phases": list(phases), **fields}


def words(message: int, *, conversation: str = "c-001", text: str = "track") -> dict[str, Any]:
    said = f"Message {message} of {conversation}: we need to track order {message}."
    start = said.index(text)
    return {"message": message, "start": start, "end": start + len(text), "text": text}


def event(message: int, *arguments: tuple[str, str], **fields: Any) -> dict[str, Any]:
    return {
        "uid": uuid4().hex,
        "type": "tracking",
        "trigger": words(message),
        "arguments": [
            {"role": role, "span": words(message, text=text)} for role, text in arguments
        ],
        **fields,
    }


def rating(target: str, score: int, **fields: Any) -> dict[str, Any]:
    return {"uid": uuid4().hex, "target": target, "score": score, **fields}
