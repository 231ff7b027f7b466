"""Conversations in the tasks of annotation tools; what was labeled in them stays there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from labeling.conversations.formats.answers import (
    LineFault,
    Unreadable,
    Written,
    as_dict,
    as_id,
    as_list,
    as_text,
    head_in,
)
from labeling.conversations.formats.reading import json_lines, json_list, read_each
from labeling.conversations.rules.importing import Problem, Record, record_of
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid

Read = Iterator[tuple[int, Record] | Problem]


def read_labelstudio(stream: BinaryIO, _name: str) -> Read:
    """A JSON export: in each task ``data.dialogue``, paragraphs with ``author`` and ``text``."""
    return _read(json_list(stream), _of_task)


def read_doccano(stream: BinaryIO, _name: str) -> Read:
    """A text a line, whose own lines begin with who speaks."""
    return _read(json_lines(stream), _of_text)


def _read(
    documents: Iterable[tuple[int, Any] | LineFault], document_of: Callable[[int, Any], Written]
) -> Read:
    for entry in read_each(documents, document_of, named=("external_id", "id")):
        yield Problem(*entry) if isinstance(entry, LineFault) else record_of(*entry)


def _of_task(_line: int, task: Any) -> Written:
    document = as_dict(task, Fact(msgid("a task")))
    if "data" not in document and {"annotator", "lead_time"} & document.keys():
        raise Unreadable(
            msgid(
                "this is JSON_MIN, which leaves out what labels belong to: export as JSON instead"
            )
        )
    data = as_dict(document.get("data"), '"data"')
    dialogue = as_list(data.get("dialogue"), '"data.dialogue"')
    return {
        "id": str(as_id(data.get("id") or document.get("id"), '"data.id"')),
        **head_in(data, "data."),
        "messages": [_message(as_dict(value, Fact(msgid("a paragraph")))) for value in dialogue],
    }


def _message(paragraph: Mapping[str, Any]) -> Written:
    author = as_text(paragraph.get("author"), '"author"')
    role = as_text(paragraph.get("role"), '"role"') or author
    if not role:
        raise Unreadable(msgid("a paragraph names no author"))
    speaker = paragraph.get("speaker") if "role" in paragraph else author
    text, time = paragraph.get("text"), paragraph.get("time")
    return {"role": role, "content": text, "speaker": speaker, "time": time}


def _of_text(_line: int, value: Any) -> Written:
    document = as_dict(value, Fact("place.line"))
    text = as_text(document.get("text"), '"text"', required=True)
    return {
        "id": str(as_id(document.get("external_id") or document.get("id"), '"external_id"')),
        **head_in(document),
        "messages": list(_lines_of(text)),
    }


def _lines_of(text: str) -> Iterator[Written]:
    for line in text.splitlines():
        author, colon, words = line.partition(":")
        if content := (words if colon else line).strip():
            yield {"role": author.strip() if colon else "text", "content": content}
