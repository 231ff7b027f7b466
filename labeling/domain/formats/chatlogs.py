"""Chat logs of language models: the JSON of OpenAI, of ShareGPT, and what ChatGPT exports.

A file is JSON Lines, one JSON list, or one object. What only a machine reads (system prompts, calls
of tools and their results) is left out and counted, unless roles ask for it.
"""

from __future__ import annotations

import io
import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from labeling.domain.errors import FileFault
from labeling.domain.exchange.importing import SPLITS, LeftOut, Problem
from labeling.domain.facts import Fact
from labeling.domain.formats.answers import LineFault
from labeling.domain.formats.reading import json_lines, json_list
from labeling.domain.formats.talks import (
    MAX_BYTES,
    SaidTurn,
    Talk,
    head_of,
    id_by_content,
    shown_time,
    stem_of,
)

IDS = ("id", "conversation_id", "uuid", "chat_id", "session_id", "thread_id")
TIMES = ("time", "timestamp", "created_at", "create_time", "date")
MESSAGES = ("messages", "conversations", "conversation")
TREE = "mapping"
SHOWN = ("text", "multimodal_text")
EVERYBODY = "all"
ID_CHARACTERS = 8
"""Of the id of a chat next to its title, which several may have."""
WHO = ("role", "from", "author")
WHAT = ("content", "value", "text")
PARTS: Mapping[str, str] = {
    "image_url": "[image]",
    "input_image": "[image]",
    "image": "[image]",
    "input_audio": "[audio]",
    "audio": "[audio]",
    "file": "[file]",
    "input_file": "[file]",
    "image_asset_pointer": "[image]",
    "audio_asset_pointer": "[audio]",
}
"""Replaces a part of a message that is not text, so that the answer to it can be understood."""


def read(stream: BinaryIO, *, name: str) -> Iterator[Talk | Problem]:
    for entry in documents(stream):
        if isinstance(entry, LineFault):
            yield Problem(entry.line, entry.reason)
            continue
        line, document = entry
        try:
            yield talk_of(line, document, name=name)
        except FileFault as fault:
            yield Problem(line, fault.fact)


def documents(stream: BinaryIO) -> Iterable[tuple[int, Any] | LineFault]:
    """The conversations of any of the three forms, with the line on which each begins."""
    start = head_of(stream).removeprefix(BOM_UTF8).lstrip()
    if start.startswith(b"["):
        return json_list(stream, limit=MAX_BYTES)
    line, ending, _ = start.partition(b"\n")
    if ending and line.rstrip()[-1:] in b"{[,:":  # over several lines, so it is one object
        return _one(stream)
    return json_lines(stream, limit=MAX_BYTES)


def _one(stream: BinaryIO) -> Iterator[tuple[int, Any] | LineFault]:
    raw = stream.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        yield LineFault(None, Fact("file.too_long", limit=MAX_BYTES))
        return
    listed = b"[" + raw.removeprefix(BOM_UTF8) + b"]"
    yield from json_list(io.BytesIO(listed), limit=MAX_BYTES)


def talk_of(line: int, document: Any, *, name: str) -> Talk:
    """One conversation of a chat log; also of a table whose rows hold whole conversations."""
    if not isinstance(document, dict):
        raise FileFault("file.must_be_object", path=Fact("place.line"))
    turns, left_out = [], []
    for path, message in _messages(document):
        turn = _turn(message, path)
        if turn.text.strip():
            turns.append(turn)
        else:
            left_out.append(LeftOut(line, Fact("left_out.no_text", name=turn.name), ""))
    split = document.get("split")
    return Talk(
        line=line,
        id=_id(document) or id_by_content(name, turns),
        turns=turns,
        left_out=left_out,
        domain=document["domain"] if isinstance(document.get("domain"), str) else "",
        split=split if split in SPLITS else "",
    )


def _messages(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each with its place in the document."""
    if is_tree(document):
        yield from _branch(document["mapping"], document.get("current_node"))
        return
    key = next((key for key in MESSAGES if isinstance(document.get(key), list)), None)
    if key is None:
        raise FileFault("file.no_messages", names=[*MESSAGES, TREE])
    for index, message in enumerate(document[key]):
        yield f"{key}[{index}]", message


def is_tree(document: Any) -> bool:
    """Whether it is a chat as ChatGPT exports it: every message with what was tried instead."""
    return isinstance(document, dict) and isinstance(document.get(TREE), dict)


def _branch(nodes: Mapping[str, Any], current: Any) -> Iterator[tuple[str, Any]]:
    """The messages that the page shows: from the current one up to the first, turned round."""
    if not isinstance(current, str) or current not in nodes:
        raise FileFault("file.no_current_node")
    branch: dict[str, Any] = {}
    while isinstance(current, str) and current in nodes and current not in branch:
        node = nodes[current]
        if not isinstance(node, dict):
            raise FileFault("file.must_be_object", path=f"{TREE}.{shown_time(current)}")
        branch[current] = node.get("message")
        current = node.get("parent")
    for name, message in reversed(branch.items()):
        if message is not None:  # the root has none
            yield f"{TREE}.{shown_time(name)}", _read_by_people(message)


def _read_by_people(message: Any) -> Any:
    """Without the text of what the page does not show: calls of tools, thoughts, instructions."""
    if not isinstance(message, dict):
        return message
    content, metadata = message.get("content"), message.get("metadata")
    is_text = not isinstance(content, dict) or content.get("content_type") in SHOWN
    is_hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    is_to_people = message.get("recipient", EVERYBODY) == EVERYBODY
    return message if is_text and is_to_people and not is_hidden else {**message, "content": None}


def _id(document: Mapping[str, Any]) -> str:
    values = (document.get(key) for key in IDS)
    id = next((str(value) for value in values if _names_it(value)), "")
    title = document.get("title")
    if not (id and is_tree(document) and isinstance(title, str)):
        return id
    words = " ".join(title.replace("/", " ").replace("\\", " ").split())
    return f"{stem_of(f'{words}.json' if words else '')} {id[:ID_CHARACTERS]}"


def _names_it(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _turn(message: Any, path: str) -> SaidTurn:
    if not isinstance(message, dict):
        raise FileFault("file.must_be_object", path=path)
    who = next((message[key] for key in WHO if key in message), None)
    if isinstance(who, dict):  # as chats are exported: {"role": "user", "name": null}
        who = who.get("role")
    if not isinstance(who, str) or not who.strip():
        raise FileFault("file.missing", path=f'"{path}.role"')
    named = message.get("name")
    is_person = isinstance(named, str) and named.strip() and who in ("user", "assistant", "human")
    content = next((message[key] for key in WHAT if key in message), None)
    time = next((message[key] for key in TIMES if message.get(key) not in (None, "")), "")
    return SaidTurn(
        name=str(named) if is_person else who,
        text=_text(content, f"{path}.content"),
        time=str(time) if isinstance(time, str | int | float) else "",
        role={"human": "user"}.get(who, who) if is_person else "",
    )


def _text(content: Any, path: str) -> str:
    match content:
        case None:
            return ""  # a message that only calls tools
        case str():
            return content
        case list():
            return "\n".join(filter(None, (_part(part, path) for part in content)))
        case {"parts": list() as parts}:
            return "\n".join(filter(None, (_part(part, path) for part in parts)))
    raise FileFault("file.must_be_text", path=f'"{path}"')


def _part(part: Any, path: str) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        raise FileFault("file.must_be_object", path=f'"{path}"')
    text, kind = part.get("text", part.get("refusal")), part.get("type", part.get("content_type"))
    return text if isinstance(text, str) else PARTS.get(str(kind), "[…]")


def is_document(value: Any) -> bool:
    """Whether a JSON value looks like a conversation of a chat log."""
    return isinstance(value, dict) and any(isinstance(value.get(key), list) for key in MESSAGES)


def first_of(head: bytes) -> Any:
    """The first JSON value of a file, by its beginning; None where it does not end in there."""
    text = head.decode("utf-8-sig", errors="ignore").lstrip()
    text = text.removeprefix("[").lstrip() if text.startswith("[") else text
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None
