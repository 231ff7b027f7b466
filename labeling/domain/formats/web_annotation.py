"""Labels as W3C Web Annotations: one for each piece of text that a label quotes or cites.

Each names its message by an address made of the item's hash, and the piece twice: by its words with
what is around them, and by its place, counted in code points as the recommendation has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NotRequired, TypedDict
from urllib.parse import quote

from labeling.domain.canonical import canonical_json
from labeling.domain.gold.content import GoldContent
from labeling.domain.schema import LAYERS
from labeling.domain.schema.labels import StoredLabel

CONTEXT = "http://www.w3.org/ns/anno.jsonld"
AROUND = 32
"""Characters before and after a piece that are given with it, so that it is found again."""


class Piece(NamedTuple):
    """Code points ``start`` to ``end`` of a message, and the path in the label that names them."""

    field: str
    message: int
    start: int
    end: int


class TextBody(TypedDict):
    type: str
    purpose: str
    format: NotRequired[str]
    value: str


class Selector(TypedDict, total=False):
    type: str
    exact: str
    prefix: str
    suffix: str
    start: int
    end: int


class Target(TypedDict):
    source: str
    selector: list[Selector]


class WebAnnotation(TypedDict):
    id: str
    type: str
    motivation: str
    body: list[TextBody]
    target: Target


class Source(TypedDict):
    """A message that annotations point to."""

    id: str
    item_id: str
    index: int
    role: str
    speaker: str
    text: str


def message_id(item_sha256: str, index: int) -> str:
    return f"urn:sha256:{item_sha256}#message-{index}"


def sources_of(item: GoldContent, *, sha256: str) -> Iterator[Source]:
    for message in item["conversation"]:
        yield {
            "id": message_id(sha256, message["index"]),
            "item_id": item["item_id"],
            "index": message["index"],
            "role": message["role"],
            "speaker": message["speaker"],
            "text": message["content"],
        }


def annotations_of(item: GoldContent, *, sha256: str) -> Iterator[WebAnnotation]:
    """Those of one item, in the order of its labels; labels that cite nothing have none."""
    texts = [message["content"] for message in item["conversation"]]
    titles = {layer.key: layer.name for layer in LAYERS.values()}
    for key, labels in item["gold"].items():
        for label in labels:
            body = _body(titles.get(key, key), label)
            for number, piece in enumerate(pieces(label, texts)):
                place = f"{key}/{quote(str(label.get('uid', '')), safe='')}/{number}"
                yield {
                    "id": f"urn:sha256:{sha256}#{place}",
                    "type": "Annotation",
                    "motivation": "classifying",
                    "body": [*body, _tag(piece.field)],
                    "target": {
                        "source": message_id(sha256, piece.message),
                        "selector": _selectors(piece, texts[piece.message]),
                    },
                }


def _body(layer: str, label: StoredLabel) -> list[TextBody]:
    whole: TextBody = {
        "type": "TextualBody",
        "purpose": "classifying",
        "format": "application/json",
        "value": canonical_json(label),
    }
    kinds = [label[name] for name in ("type", "category") if isinstance(label.get(name), str)]
    return [whole, _tag(layer), *map(_tag, kinds)]


def _tag(text: str) -> TextBody:
    return {"type": "TextualBody", "purpose": "tagging", "value": text}


def pieces(label: Mapping[str, Any], texts: Sequence[str]) -> Iterator[Piece]:
    """What a label quotes, and the whole messages that it cites, wherever it does.

    Examples
    --------
    >>> list(pieces({"phases": [{"evidence": [1]}]}, ["Hi", "Yes?"]))
    [Piece(field='phases.evidence', message=1, start=0, end=4)]
    """
    yield from _pieces(label, "", texts)


def _pieces(value: Any, path: str, texts: Sequence[str]) -> Iterator[Piece]:
    match value:
        case {"message": int() as message, "start": int() as start, "end": int() as end}:
            if 0 <= message < len(texts) and 0 <= start < end <= len(texts[message]):
                yield Piece(path, message, start, end)
        case dict():
            for key, part in value.items():
                yield from _pieces(part, f"{path}.{key}" if path else str(key), texts)
        case [int(), *_] if path.rpartition(".")[2] in CITING:
            cited = (index for index in value if 0 <= index < len(texts) and texts[index])
            for index in cited:
                yield Piece(path, index, 0, len(texts[index]))
        case list():
            for part in value:
                yield from _pieces(part, path, texts)


def _selectors(piece: Piece, text: str) -> list[Selector]:
    start, end = piece.start, piece.end
    return [
        {
            "type": "TextQuoteSelector",
            "exact": text[start:end],
            "prefix": text[max(0, start - AROUND) : start],
            "suffix": text[end : end + AROUND],
        },
        {"type": "TextPositionSelector", "start": start, "end": end},
    ]


def _citing_fields(schema: Mapping[str, Any]) -> set[str]:
    """The names of fields that list messages, also inside of other fields."""
    shapes = [schema, *schema.get("$defs", {}).values()]
    return {
        name
        for shape in shapes
        for name, field in shape.get("properties", {}).items()
        if field.get("widget") == "messages"
    }


CITING = frozenset(
    name for layer in LAYERS.values() for name in _citing_fields(layer.label.model_json_schema())
)


# --- pages ----------------------------------------------------------------------------------------

COLLECTION = "collection.json"


def page_name(number: int) -> str:
    return f"page-{number:05d}.json"


def page(
    items: Sequence[WebAnnotation], *, number: int, start: int, is_last: bool
) -> Mapping[str, object]:
    """An AnnotationPage; addresses are those of the files next to it."""
    return {
        "@context": CONTEXT,
        "id": page_name(number),
        "type": "AnnotationPage",
        "partOf": COLLECTION,
        "startIndex": start,
        **({"prev": page_name(number - 1)} if number > 1 else {}),
        **({} if is_last else {"next": page_name(number + 1)}),
        "items": list(items),
    }


def collection(release: str, *, sha256: str, total: int, pages: int) -> Mapping[str, object]:
    return {
        "@context": CONTEXT,
        "id": COLLECTION,
        "type": "AnnotationCollection",
        "label": f"{release}, sha256 {sha256}",
        "total": total,
        "first": page_name(1),
        "last": page_name(pages),
    }
