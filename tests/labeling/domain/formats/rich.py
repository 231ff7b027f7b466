"""Answers that use every field of every layer, in a conversation full of wide characters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from labeling.conversations.formats.answers import FileAnswer, FileConversation
from labeling.conversations.rules.importing import Turn
from labeling.schema import LAYERS
from tests.layers import REQUIREMENT

TEXTS = (
    "👩🏽‍🌾 says: we 🚚 ship the crates to Łódź,\nand 💌 confirm.",
    "Every day? 😀😀 “Yes”, she said.",
    "And the report? It must be ready at 6:00 – é, not e\u0301.",
)
TURNS = (
    Turn("user", TEXTS[0], "Zoé 😀", datetime(2026, 1, 31, 14, 5, tzinfo=UTC)),
    Turn("analyst", TEXTS[1]),
    Turn("user", TEXTS[2], "Zoé 😀", datetime(2026, 1, 31, 14, 7, 1, 250, tzinfo=UTC)),
)


def span(message: int, words: str) -> dict[str, Any]:
    start = TEXTS[message].index(words)
    return {"message": message, "start": start, "end": start + len(words), "text": words}


def requirement(number: int, **fields: Any) -> dict[str, Any]:
    return REQUIREMENT | {
        "uid": f"r{number}",
        "id": f"REQ-00{number}",
        "title": f"Shipping 🚚 {number}",
        "type": "security",
        "actor": "=HYPERLINK(1)",
        "action": "Ship the crates",
        "acceptance_criteria": ["One\ttwo", "😀 three, “four”"],
        "source_messages": [2, 0],
        "rationale": "It says so,\nin message 0",
        "confidence": 0.1 + 0.2,
        **fields,
    }


PAYLOAD: dict[str, Any] = {
    "requirements": [
        requirement(1),
        requirement(2, source_messages=[1], condition="When open", confidence=1, priority="could"),
    ],
    "inferred_requirements": [
        {
            **{key: value for key, value in requirement(3).items() if key != "source_messages"},
            "id": "INF-001",
            "inference_type": "compliance",
            "condition": "With strangers 😀",
            "triggered_by": ["r2", "r1"],
            "necessity": "recommended",
        }
    ],
    "issues": [
        {
            "uid": "i1",
            "requirement": "r1",
            "issue_type": "pii",
            "severity": "warning",
            "field": "acceptance_criteria",
            "span": {"start": 10, "end": 15, "text": "three"},
            "message": "It names somebody",
            "suggested_fix": "Leave it out",
        },
        {
            "uid": "i2",
            "requirement": "r2",
            "issue_type": "too_broad",
            "severity": "error",
            "field": "title",
            "span": None,
            "message": "Two in one",
            "suggested_fix": "Split it",
        },
    ],
    "questions": [
        {
            "uid": "q1",
            "question": "When? 😀",
            "answer": "Every day",
            "evidence": [1, 0, 2],
            "category": "multi-hop",
        }
    ],
    "arcs": [
        {
            "uid": "a1",
            "question": "How did it go?",
            "phases": [
                {"uid": "p1", "title": "First", "time_range": "Dec 29–30", "evidence": [2, 1]},
                {"uid": "p2", "title": "Then", "time_range": None, "evidence": [0]},
                {"uid": "p3", "title": "Last", "time_range": None, "evidence": [1]},
            ],
        }
    ],
    "events": [
        {
            "uid": "e1",
            "type": "ship/send",
            "trigger": span(0, "ship"),
            "arguments": [
                {"role": "place", "span": span(0, "Łódź")},
                {"role": "item", "span": span(0, "crates")},
                {"role": "face 😀", "span": span(1, "😀😀")},
            ],
        },
        {"uid": "e2", "type": "confirm", "trigger": span(0, "💌 confirm"), "arguments": []},
    ],
    "ratings": [
        {"uid": "s1", "target": "r3", "score": 2},
        {"uid": "s2", "target": "r1", "score": 0},
    ],
}
for _labels in PAYLOAD.values():
    _labels[0] |= {"origin": "edited", "suggestion": {"id": 7, "uid": "s-1"}}
AT = datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=timezone(timedelta(hours=2)))


def answer(annotator: str = "ana", **fields: Any) -> FileAnswer:
    given = {
        "payload": PAYLOAD,
        "round": 3,
        "guideline_version": 2,
        "created_at": AT,
        "submitted_at": AT + timedelta(minutes=9),
        "active_seconds": 61,
    }
    return FileAnswer(annotator=annotator, **{**given, **fields})


def answers() -> tuple[FileAnswer, ...]:
    """Labeled, empty, and skipped with a label begun."""
    return (
        answer("ana"),
        answer("ben", payload={}, empty=True),
        answer("cleo", payload={}, status="skipped", skip_reason="Not “mine”\nat all"),
    )


def labeled(*given: FileAnswer) -> FileConversation:
    return FileConversation("shop/017 😀", TURNS, given or answers(), "retail", "hard", "test")


def only(layer: str) -> dict[str, Any]:
    """One layer, with what it refers to."""
    keys = {LAYERS[name].key for name in (layer, *LAYERS[layer].needs)}
    return {key: labels for key, labels in PAYLOAD.items() if key in keys}
