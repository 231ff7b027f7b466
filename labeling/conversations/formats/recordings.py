"""What services of speech recognition and Intercom write in JSON, as messages.

Speech is in phrases, or in words with who says them: words of one person in a row are a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from html import unescape
from itertools import groupby
from typing import Any, NamedTuple

PHRASES = ("recognizedPhrases", "phrases", "results.alternatives.0")
"""Of Azure and Google: where they lie, in each of the lists on the way."""
WORDS = (
    "monologues.elements",  # Rev
    "results.alternatives.0.words",  # Google
    "results.items",  # Amazon
    "results.channels.alternatives.0.words",  # Deepgram
    "words",  # ElevenLabs
)
WHO = (
    "speaker_name", "speaker", "speakerTag", "speakerLabel", "speaker_label", "speaker_id",
)  # fmt: skip
WHAT = ("punctuated_word", "display", "word", "text", "value", "content", "transcript")
BEST = ("nBest", "alternatives")
WHEN = {
    "start": 1, "startTime": 1, "startOffset": 1, "start_time": 1, "ts": 1,
    "offsetMilliseconds": 1e3, "offsetInTicks": 1e7,
}  # fmt: skip
"""With how many of it are a second."""
BREAK = re.compile(r"<br[^<>]{0,100}>|</(?:p|div|li|h\d)>", re.I)
TAG = re.compile(r"<[/a-z][^<>]{0,2000}>", re.I)


class _Piece(NamedTuple):
    who: str
    text: str
    time: str
    is_mark: bool


def messages_of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of such a document; none of any other."""
    match document:
        case {
            "source": dict() as first,
            "conversation_parts": {"conversation_parts": list() as parts},
        }:
            first = {"created_at": document.get("created_at"), **first}
            return [_written(part) for part in (first, *parts) if isinstance(part, dict)]
    for path in WORDS:
        pieces = [piece for piece in _pieces(document, path.split("."), "") if piece.who]
        if pieces:  # what nobody says is said again with who says it
            return [_message(list(run)) for _, run in groupby(pieces, key=lambda each: each.who)]
    found = (list(_pieces(document, path.split("."), "")) for path in PHRASES)
    return [_message([piece]) for piece in next(filter(None, found), [])]


def _pieces(value: Any, path: Sequence[str], who: str) -> Iterator[_Piece]:
    if isinstance(value, list):
        if path and path[0] == "0":
            value, path = value[:1], path[1:]
        for each in value:
            if isinstance(each, dict):
                yield from _pieces(each, path, who)
    elif isinstance(value, dict):
        named = next((value[key] for key in WHO if isinstance(value.get(key), str | int)), who)
        who = f"Speaker {named}" if str(named).isdecimal() else str(named)
        if path:
            yield from _pieces(value.get(path[0]), path[1:], who)
        elif text := _text(value):
            is_mark = value.get("type") in ("punctuation", "punct", "spacing")
            yield _Piece(who, text, _time(value), is_mark)


def _text(piece: Mapping[str, Any]) -> str:
    best: list[Any] = next((piece[key][:1] for key in BEST if isinstance(piece.get(key), list)), [])
    places = [piece, *(each for each in best if isinstance(each, dict))]
    texts = (place[key] for place in places for key in WHAT if isinstance(place.get(key), str))
    return next(filter(None, texts), "")


def _time(piece: Mapping[str, Any]) -> str:
    for key, parts in WHEN.items():
        try:
            at = timedelta(seconds=float(str(piece[key]).removesuffix("s")) / parts)
        except (KeyError, ValueError, OverflowError):
            continue
        return str(at) if timedelta() <= at < timedelta(days=1) else ""
    return ""


def _message(said: Sequence[_Piece]) -> dict[str, Any]:
    has_spaces = any(piece.text.isspace() for piece in said)
    text = "".join(
        piece.text if has_spaces or piece.is_mark or not at else f" {piece.text}"
        for at, piece in enumerate(said)
    )
    time = next((piece.time for piece in said if piece.time), "")
    return {"speaker": said[0].who or "speaker", "text": text.strip(), "time": time}


def _written(part: Mapping[str, Any]) -> dict[str, Any]:
    """By a user, a lead, an admin or a bot of Intercom; notes are for the team alone."""
    body, who = part.get("body"), part.get("author")
    who = who if isinstance(who, dict) else {}
    kind, name = who.get("type") or "speaker", who.get("name")
    if isinstance(body, str) and body.startswith("<"):
        body = unescape(TAG.sub("", BREAK.sub("\n", body))).strip()
    is_user = kind in ("user", "lead", "contact")
    return {
        "text": body,
        "created_at": part.get("created_at"),
        "type": "internal_note" if part.get("part_type") == "note" else "",
        **({"role": "user", "name": name} if is_user else {"author": name or kind}),
    }
