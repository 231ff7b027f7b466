"""Items in normal form C of Unicode: what looks the same has the same hash.

Stored conversations and labels stay as they came in: offsets of labels count their characters. An
item is written in normal form as a whole, and every span in it moves along.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast
from unicodedata import is_normalized, normalize

from labeling.gold.rules.content import GoldContent, GoldMessage
from labeling.schema.links import field_text

FORM: Final = "NFC"


def is_normal(text: str) -> bool:
    return is_normalized(FORM, text)


def in_normal_form(document: GoldContent) -> GoldContent:
    """The same item; its id stays as it is, because it names the conversation."""
    texts = [message["content"] for message in document["conversation"]]
    payloads = (document["gold"], document.get("given", {}))
    labels = {
        str(label.get("uid")): label
        for payload in payloads
        for group in payload.values()
        for label in group
    }
    written = cast(dict[str, Any], _written(document, texts, labels))
    return cast(GoldContent, {**written, "item_id": document["item_id"]})


def messages_in_normal_form(messages: Sequence[GoldMessage]) -> list[GoldMessage]:
    return cast(list[GoldMessage], _written(messages, [], {}))


def labels_in_normal_form(
    labels: Sequence[Mapping[str, Any]], texts: Sequence[str]
) -> list[dict[str, Any]]:
    """Labels of a stored conversation with these texts, as an item would have them."""
    if all(map(is_normal, texts)):
        return [dict(label) for label in labels]
    return cast(list[dict[str, Any]], _written(labels, texts, {}))


def offset(text: str, at: int, *, is_end: bool) -> int:
    """Where a place in the text is in its normal form.

    A place within a letter and its accents moves before the letter, or behind it as an end.

    Examples
    --------
    >>> text = "Cafe\\u0301 au lait"
    >>> [offset(text, at, is_end=True) for at in (3, 4, 5, 6)]
    [3, 4, 4, 5]
    >>> offset(text, 4, is_end=False)
    3
    """
    whole = normalize(FORM, text)
    place = min(max(at, 0), len(text))
    while normalize(FORM, text[:place]) + normalize(FORM, text[place:]) != whole:
        place += 1 if is_end else -1
    return len(normalize(FORM, text[:place]))


def moved(value: Any, texts: Sequence[str], stored: Sequence[str]) -> Any:
    """Labels of these texts as labels of the same texts in another form: spans move along.

    Examples
    --------
    >>> span = {"message": 0, "start": 3, "end": 4, "text": "\u00e9"}
    >>> there = moved(span, ["Caf\u00e9 au lait"], ["Cafe\u0301 au lait"])
    >>> there["start"], there["end"], there["text"] == "e\u0301"
    (3, 5, True)
    """
    if isinstance(value, list | tuple):
        return [moved(item, texts, stored) for item in value]
    if not isinstance(value, Mapping):
        return value
    message = value.get("message")
    if not (_is_span(value) and type(message) is int and 0 <= message < len(texts)):
        return {key: moved(item, texts, stored) for key, item in value.items()}
    text, there = texts[message], stored[message]
    if text == there:
        return value
    before = offset(text, value["start"], is_end=False)
    behind = offset(text, value["end"], is_end=True)
    places = range(len(there) + 1)
    start = bisect_left(places, before, key=lambda at: offset(there, at, is_end=False))
    end = bisect_right(places, behind, key=lambda at: offset(there, at, is_end=True)) - 1
    return {**value, "start": start, "end": end, "text": there[start:end]}


def same_text(text: str, other: str) -> bool:
    """Whether two texts look the same, in whatever form their accents are written."""
    return text == other or normalize(FORM, text) == normalize(FORM, other)


Labels = Mapping[str, Mapping[str, Any]]


def _written(value: Any, texts: Sequence[str], labels: Labels) -> Any:
    if isinstance(value, str):
        return normalize(FORM, value)
    if isinstance(value, list | tuple):
        return [_written(item, texts, labels) for item in value]
    if not isinstance(value, Mapping):
        return value
    moved = {key: _written(item, texts, labels) for key, item in value.items()}
    if _is_span(value) and type(value.get("message")) is int and value["message"] < len(texts):
        return _moved(moved, value, texts[value["message"]])
    span, quoted = value.get("span"), labels.get(str(value.get("requirement")))
    if isinstance(span, Mapping) and _is_span(span) and quoted is not None:
        text = field_text(quoted.get(str(value.get("field"))))
        moved["span"] = _moved(moved["span"], span, text)
    return {normalize(FORM, key): item for key, item in moved.items()}


def _is_span(value: Mapping[str, Any]) -> bool:
    return type(value.get("start")) is int and type(value.get("end")) is int


def _moved(moved: Mapping[str, Any], span: Mapping[str, Any], text: str) -> dict[str, Any]:
    start = offset(text, span["start"], is_end=False)
    end = offset(text, span["end"], is_end=True)
    return {**moved, "start": start, "end": end, "text": normalize(FORM, text)[start:end]}
