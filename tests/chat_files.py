"""Chats as REALTALK and LoCoMo publish them, made for tests."""

from __future__ import annotations

from typing import Any

TIME = "01.01.2024, 10:00:00"


def message(dia_id: str, time: str = TIME, **keys: Any) -> dict[str, Any]:
    text = keys.pop("text", f"This is {dia_id}.")
    speaker = keys.pop("speaker", "A")
    return {
        "clean_text": text,
        "speaker": speaker,
        "date_time": time,
        "img_file": [],
        "img_url": [],
        "dia_id": dia_id,
        **keys,
    }


def question(text: str = "What?", **keys: Any) -> dict[str, Any]:
    return {"question": text, "answer": "That", "evidence": ["D1:1"], "category": 1, **keys}


def realtalk(*sessions: list[Any], qa: list[Any] | None = None) -> dict[str, Any]:
    document: dict[str, Any] = {"name": {"speaker_1": "A", "speaker_2": "B"}}
    for number, messages in enumerate(sessions, start=1):
        document[f"session_{number}"] = messages
        document[f"session_{number}_date_time"] = TIME
    return {**document, "qa": qa or []}


def locomo(*sessions: tuple[str, list[str]]) -> dict[str, Any]:
    talk: dict[str, Any] = {"speaker_a": "A", "speaker_b": "B"}
    for number, (time, texts) in enumerate(sessions, start=1):
        talk[f"session_{number}_date_time"] = time
        talk[f"session_{number}"] = [
            {"speaker": "AB"[n % 2], "dia_id": f"D{number}:{n + 1}", "text": text}
            for n, text in enumerate(texts)
        ]
    return {"qa": [], "conversation": talk, "sample_id": "s"}
