"""LoCoMo: only sessions have times, so that messages get their session's and a second each."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from labeling.conversations.published import reading
from labeling.conversations.published.chat import ChatRefused, Line
from labeling.conversations.published.faults import ChatFault

_TIME = "%I:%M %p on %d %B, %Y"


def sessions_of(document: Mapping[str, Any]) -> list[tuple[str, list[Any]]]:
    talk = _talk(document)
    keys = reading.numbered(talk, r"session_(\d+)")
    return [(key, reading.a_list(talk[key], key)) for _, key in keys]


def names_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    talk = _talk(document)
    return tuple(str(talk[key]) for key in ("speaker_a", "speaker_b") if talk.get(key))


def lines_of(document: Mapping[str, Any], faults: list[ChatFault]) -> Iterator[Line]:
    talk = _talk(document)
    for key, messages in sessions_of(document):
        start = _start(talk, key, faults)
        if start and messages:
            faults.append(ChatFault("made_time", key, str(len(messages))))
        for number, message in enumerate(messages):
            time = start + timedelta(seconds=number) if start else None
            yield _line(message, f"{key}[{number}]", time)
    faults += _unused(talk)


def _talk(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return reading.an_object(document.get("conversation"), "conversation")


def _start(talk: Mapping[str, Any], key: str, faults: list[ChatFault]) -> datetime | None:
    name = f"{key}_date_time"
    text = reading.text_of(talk, name, "conversation", required=False).strip()
    if not text:
        faults.append(ChatFault("no_time", key, ""))
        return None
    try:
        return datetime.strptime(text, _TIME).replace(tzinfo=UTC)
    except ValueError:
        raise ChatRefused(
            "chat.bad_value",
            place="conversation",
            key=name,
            value=ascii(text[:40]),
            example="1:56 pm on 8 May, 2023",
        ) from None


def _line(value: Any, place: str, time: datetime | None) -> Line:
    message = reading.an_object(value, place)
    caption = reading.text_of(message, "blip_caption", place, required=False)
    pictured = bool(caption or message.get("img_url"))
    text = reading.text_of(message, "text", place, required=not pictured)
    return Line(
        key=reading.key_of(message, place),
        speaker=reading.speaker_of(message, place),
        text=reading.with_picture(text, caption, pictured=pictured),
        time=time,
        pictured=pictured,
    )


def _unused(talk: Mapping[str, Any]) -> list[ChatFault]:
    return [
        ChatFault("unused_time", f"session_{number}_date_time", str(talk[key]))
        for number, key in reading.numbered(talk, r"session_(\d+)_date_time")
        if not talk.get(f"session_{number}")
    ]
