"""Complete labels of every layer; tests name only what they are about."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

REQUIREMENT: dict[str, Any] = {
    "uid": "r1",
    "id": "REQ-001",
    "title": "Order Tracking",
    "type": "functional",
    "actor": "Customer",
    "action": "View the status of an order",
    "condition": None,
    "acceptance_criteria": ["Page shows the status", "Page shows the history"],
    "priority": "must",
    "source_messages": [0],
    "rationale": "Asked for in message 0",
    "confidence": 0.9,
}
"""Every field of one, filled in as a person must. All others in tests are made of it."""

WORDS = "order"  # stands at 33 in "Message 0 of c-001: we need to track order 0."


def requirement(number: int = 1, *, sources: Sequence[int] = (0,), **fields: Any) -> dict[str, Any]:
    """The one of this number, in its own words."""
    return REQUIREMENT | {
        "uid": uuid4().hex,
        "id": f"REQ-{number:03d}",
        "title": f"Order Tracking {number}",
        "action": f"Track order number {number}",
        "source_messages": list(sources),
        **fields,
    }


def inferred(title: str, *, triggered_by: Sequence[str], **fields: Any) -> dict[str, Any]:
    label = requirement(title=title, action=title)
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
    return {"uid": uuid4().hex, "title": title, "time_range": None, "evidence": list(evidence)}


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
