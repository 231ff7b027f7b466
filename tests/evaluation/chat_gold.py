"""One chat with questions or arcs as gold, and answers to them."""

from __future__ import annotations

from typing import Any

from pipelines.types import Case, Output
from tests.evaluation.releases import item, said

SIZE = 12

QUESTIONS = [
    {"uid": "q1", "id": "QA-001", "question": "Where?", "answer": "Rome", "evidence": [3, 7]},
    {"uid": "q2", "id": "QA-002", "question": "When?", "answer": "May", "evidence": [0]},
    {"uid": "q3", "id": "QA-003", "question": "Who?", "answer": "Kate", "evidence": []},
]
ARCS = [
    {
        "uid": "a1",
        "id": "ARC-001",
        "question": "How did it go?",
        "phases": [
            {"uid": "p1", "title": "Start", "evidence": [0, 1]},
            {"uid": "p2", "title": "End", "evidence": [9]},
        ],
    }
]


def content(layer: str, split: str) -> dict[str, Any]:
    texts = [f"Message {number}" for number in range(1, SIZE + 1)]
    messages = said(texts, speakers=("Elise", "Emi"), hourly=True)
    gold = {"qa": {"questions": QUESTIONS}, "arc": {"arcs": ARCS}}[layer]
    return item("Chat_1", layer, gold, messages, split=split)


def answer(evidence: list[int], **fields: Any) -> Output:
    held = {"ids": evidence, "scores": [1.0] * len(evidence)}
    trace = {"candidates": held, "reranked": held, "selected": held, "corpus_size": SIZE}
    return {"evidence": evidence, "ranked": evidence, "trace": trace, "model": None, **fields}


def where_and_when(case: Case) -> Output:
    return answer([4, 9]) if case.question == "Where?" else answer([12])
