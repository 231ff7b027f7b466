"""Questions on small chats, and a server that answers and judges them as a test wants."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from labeling.models import GoldRelease, Project
from pipelines.types import Case, Output
from tests.evaluation.releases import freeze, item, said
from tests.llm_server import Body, LanguageServer

SIZE = 6
REFERENCES = ["Rome", "In May", None]


def questions(project: Project, *, chats: int = 1, name: str = "asked") -> GoldRelease:
    """Three questions on each chat; the third has no reference answer."""
    contents = [_content(f"Chat_{number}") for number in range(1, chats + 1)]
    return freeze(project, "qa", name=name, contents=contents)


def _content(item_id: str) -> dict[str, Any]:
    asked = ("Where?", "When?", "Who?")
    labels = [
        {"uid": f"q{n}", "id": f"QA-{n:03d}", "question": f"{text} ({item_id})", "evidence": [n]}
        | ({"answer": reference} if reference else {})
        for n, (text, reference) in enumerate(zip(asked, REFERENCES, strict=True), start=1)
    ]
    texts = [f"Message {number} of {item_id}" for number in range(1, SIZE + 1)]
    messages = said(texts, speakers=("Elise", "Emi"), hourly=True)
    return item(item_id, "qa", {"questions": labels}, messages, split="train")


def retrieve(case: Case) -> Output:
    """What was asked for and one more, an id that no message has among them."""
    return {"evidence": [3, 2, 3, 99], "ranked": [3, 2], "model": None}


def system_of(body: Body) -> str:
    return str(body["messages"][0]["content"])


def data_of(body: Body) -> str:
    return str(body["messages"][1]["content"])


def kind_of(body: Body) -> str:
    """What a request is for, by the words of its prompt."""
    said = system_of(body)
    marks = {
        "You answer a question": "answer",
        "faithful to": "faithfulness",
        "about the question": "relevance",
        "how much of a question": "completeness",
        "reference answer": "correctness",
    }
    return next(kind for mark, kind in marks.items() if mark in said)


def verdict(score: Any, reasoning: str = "As the messages say.") -> str:
    return json.dumps({"score": score, "reasoning": reasoning})


def speak(body: Body) -> str:
    """An author, and a judge whose scores differ by kind."""
    scores = {"faithfulness": 8, "relevance": 9, "completeness": 6.5, "correctness": 4}
    kind = kind_of(body)
    if kind == "answer":
        return "It was Rome, and it rained."
    return verdict(scores[kind])


def kinds_asked(server: LanguageServer) -> list[str]:
    return [kind_of(body) for body in server.requests]


def means(rows: Sequence[Any]) -> dict[str, Any]:
    return {row.metric: row.mean for row in rows}
