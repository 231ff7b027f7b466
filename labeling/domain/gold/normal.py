"""Items in normal form C of Unicode: what looks the same has the same hash.

Stored conversations and labels stay as they came in: offsets of labels count their characters. An
item is written in normal form as a whole, and every span in it moves along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast
from unicodedata import is_normalized, normalize

from labeling.domain.gold.content import GoldContent, GoldMessage
from labeling.domain.schema.links import field_text

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
