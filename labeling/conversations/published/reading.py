"""Parsing a published JSON file, with the place of everything that is wrong."""

import json
import re
from collections.abc import Mapping
from typing import Any

from labeling.conversations.published.chat import ChatRefused
from labeling.conversations.rules.evidence import MessageId
from labeling.conversations.rules.importing import with_line_feeds
from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.domain.strict_json import without_repeats

MAX_FILE_BYTES = 256 * 1024 * 1024
MAX_SPEAKER = 200
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_KEY = re.compile(r"D([1-9]\d{0,5}):([1-9]\d{0,5})")


def parse(raw: bytes) -> Any:
    """The document; refused where it is not JSON in UTF-8."""
    if len(raw) > MAX_FILE_BYTES:
        raise ChatRefused("file.too_long", limit=MAX_FILE_BYTES)
    try:
        return json.loads(raw.decode("utf-8-sig"), object_pairs_hook=without_repeats)
    except UnicodeDecodeError as error:
        raise ChatRefused("file.not_utf8_at", byte=error.start + 1) from None
    except RecursionError:
        raise ChatRefused("file.not_json", why=Fact("file.too_deep")) from None
    except FileFault as fault:
        raise ChatRefused("file.not_json", why=fault.fact) from None
    except json.JSONDecodeError as error:
        raise ChatRefused(
            msgid("line {line:d}, column {column:d}: not valid JSON: {said}"),
            line=error.lineno,
            column=error.colno,
            said=error.msg,
        ) from None
    except ValueError as error:  # a number with thousands of digits
        raise ChatRefused("file.not_json", why=str(error)) from None


def an_object(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ChatRefused(msgid("{place}: an object is expected"), place=place)
    return value


def a_list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise ChatRefused(msgid("{place}: a list is expected"), place=place)
    return value


def text_of(document: Mapping[str, Any], key: str, place: str, *, required: bool = True) -> str:
    """The text under ``key``; null and a missing key are empty."""
    value = document.get(key)
    if value is not None and not isinstance(value, str):
        raise ChatRefused("file.must_be_text", path=f'{place}: "{key}"')
    text = with_line_feeds(storable(value or "", f'{place}: "{key}"'))
    if required and not text.strip():
        code = "file.missing" if value is None else "file.blank"
        raise ChatRefused(code, path=f'{place}: "{key}"')
    return text


def storable(text: str, place: str) -> str:
    if _UNSTORABLE.search(text):
        raise ChatRefused("file.bad_character", path=place)
    return text


def key_of(message: Mapping[str, Any], place: str) -> MessageId:
    text = text_of(message, "dia_id", place)
    match = _KEY.fullmatch(text)
    if not match:
        raise ChatRefused(
            "chat.bad_value", place=place, key="dia_id", value=ascii(text[:40]), example="D1:14"
        )
    return MessageId(int(match[1]), int(match[2]))


def speaker_of(message: Mapping[str, Any], place: str) -> str:
    name = text_of(message, "speaker", place)
    if len(name) > MAX_SPEAKER:
        raise ChatRefused("file.longer_than", path=f'{place}: "speaker"', most=MAX_SPEAKER)
    return name


def with_picture(text: str, caption: str, *, pictured: bool) -> str:
    """The text, and for a picture a last line that describes it."""
    if not pictured:
        return text
    described = " ".join(caption.split())
    picture = f"[image: {described}]" if described else "[image]"
    return f"{text}\n{picture}" if text.strip() else picture


def numbered(document: Mapping[str, Any], pattern: str) -> list[tuple[int, str]]:
    """Keys such as ``session_12`` with their numbers, in numerical order."""
    matches = ((re.fullmatch(pattern, key), key) for key in document)
    return sorted((int(match[1]), key) for match, key in matches if match)
