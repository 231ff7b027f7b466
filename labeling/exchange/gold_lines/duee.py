"""DuEE-style event gold: ``{"id", "text", "event_list": [{"event_type", "arguments", …}]}``."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from labeling.conversations.formats.answers import LineFault, as_dict, as_list, as_text
from labeling.conversations.formats.reading import json_lines, read_each
from labeling.conversations.published.faults import ChatFault
from labeling.conversations.rules.importing import Record, Turn
from labeling.domain.canonical import with_line_feeds
from labeling.domain.facts import Fact
from labeling.exchange.gold_lines.native import GoldLine, id_of
from labeling.schema.labels import StoredLabel

ReadLine = tuple[int, GoldLine] | LineFault


def read_duee(stream: BinaryIO) -> Iterator[ReadLine]:
    """The documents of a file with their events; a fault for each line that is none."""
    return read_each(
        json_lines(stream),
        lambda number, document: _line(as_dict(document, Fact("place.line")), number),
    )


def _line(document: Mapping[str, Any], line: int) -> GoldLine:
    name = id_of(document, "id")
    text = with_line_feeds(as_text(document.get("text"), '"text"', required=True))
    faults: list[ChatFault] = []
    events = [
        _event(as_dict(listed, f"event_list[{n}]"), f"{line}: event_list[{n}]", name, n, text)
        for n, listed in enumerate(as_list(document.get("event_list"), '"event_list"'))
    ]
    for _, event_faults in events:
        faults += event_faults
    labels = [event for event, _ in events]
    return GoldLine(
        record=Record(id=name, turns=(Turn(role="text", content=text),), domain="duee"),
        gold={"events": labels},
        origins={label["uid"]: {"how": "imported", "by": []} for label in labels},
        faults=faults,
    )


def _event(
    event: Mapping[str, Any], where: str, name: str, number: int, text: str
) -> tuple[StoredLabel, list[ChatFault]]:
    kind = as_text(event.get("event_type"), f"{where}.event_type", required=True)
    named = hashlib.sha256(f"events\n{name}\n{number}".encode()).hexdigest()[:32]
    faults: list[ChatFault] = []
    trigger = as_text(event.get("trigger"), f"{where}.trigger")
    arguments = []
    for position, value in enumerate(as_list(event.get("arguments") or [], f"{where}.arguments")):
        argument = as_dict(value, f"{where}.arguments[{position}]")
        role = as_text(argument.get("role"), f"{where}.arguments[{position}].role", required=True)
        words = as_text(argument.get("argument"), f"{where}.arguments[{position}].argument")
        if words:
            span = _span(words, text, f"{where}.arguments[{position}]", faults)
            arguments.append({"role": role, "span": span})
    label: StoredLabel = {"uid": named, "type": kind, "arguments": arguments}
    if trigger:
        label["trigger"] = _span(trigger, text, f"{where}.trigger", faults)
    return label, faults


def _span(words: str, text: str, where: str, faults: list[ChatFault]) -> StoredLabel:
    """Where the words occur first; words that occur nowhere are kept without a place."""
    start = text.find(words)
    if start < 0:
        faults.append(ChatFault("no_place", where, words))
        return {"message": None, "start": None, "end": None, "text": words}
    return {"message": 0, "start": start, "end": start + len(words), "text": words}
