"""REALTALK: every message has its own time; pictures without text were dropped from the file."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from labeling.conversations.published import reading
from labeling.conversations.published.chat import ChatRefused, Line
from labeling.conversations.published.faults import ChatFault

_TIME = "%d.%m.%Y, %H:%M:%S"


def sessions_of(document: Mapping[str, Any]) -> list[tuple[str, list[Any]]]:
    keys = reading.numbered(document, r"session_(\d+)")
    return [(key, reading.a_list(document[key], key)) for _, key in keys]


def names_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    names = reading.an_object(document.get("name") or {}, "name")
    return tuple(str(names[key]) for key in ("speaker_1", "speaker_2") if names.get(key))


def lines_of(document: Mapping[str, Any], faults: list[ChatFault]) -> Iterator[Line]:
    for key, messages in sessions_of(document):
        for number, message in enumerate(messages):
            yield _line(message, f"{key}[{number}]", faults)


def _line(value: Any, place: str, faults: list[ChatFault]) -> Line:
    message = reading.an_object(value, place)
    key = reading.key_of(message, place)
    pictured = bool(message.get("img_file") or message.get("img_url"))
    caption = reading.text_of(message, "blip_caption", place, required=False)
    text = reading.text_of(message, "clean_text", place, required=not pictured)
    return Line(
        key=key,
        speaker=reading.speaker_of(message, place),
        text=reading.with_picture(text, caption, pictured=pictured),
        time=_time(message, f"{place} ({key})", faults),
        pictured=pictured,
    )


def _time(message: Mapping[str, Any], place: str, faults: list[ChatFault]) -> datetime | None:
    text = reading.text_of(message, "date_time", place, required=False)
    if not text.strip():
        faults.append(ChatFault("no_time", place, ""))
        return None
    try:
        return datetime.strptime(text.strip(), _TIME).replace(tzinfo=UTC)
    except ValueError:
        raise ChatRefused(
            "chat.bad_value",
            place=place,
            key="date_time",
            value=ascii(text[:40]),
            example="29.12.2023, 22:42:04",
        ) from None
