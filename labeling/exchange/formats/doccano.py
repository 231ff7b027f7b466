"""doccano: one conversation a line as one text with entities and relations, a file per annotator.

An entity is named ``Kind/choice``: ``Requirement/security``, ``Event/order``, ``Argument/item``.
A relation joins the entities of one label. Offsets are code points. What doccano keeps next to a
text (its metadata) holds the messages' places, what is known of the answer, and its whole labels.
Of these labels, those whose entities are still in the same places come back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, BinaryIO

from labeling.conversations.formats.answers import (
    SKIPPED,
    SUBMITTED,
    FileAnswer,
    FileConversation,
    QuotedSpan,
    ReadLine,
    Unchecked,
    Unreadable,
    as_dict,
    as_id,
    as_list,
    as_number,
    as_text,
    choice_of,
    head_in,
    quoted,
    with_line_feeds_in,
)
from labeling.conversations.formats.reading import json_lines, read_each
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.exchange.formats.native import about_answer, turn_of
from labeling.schema import LAYERS
from labeling.schema.labels import Payload, StoredLabel
from labeling.schema.layers import DrawnMessages, DrawnPhases, DrawnSpans, Layer

SAME, NEXT, ARGUMENT = "same label", "next phase", "argument"


def read(stream: BinaryIO, *, with_answers: bool = True) -> Iterator[ReadLine]:
    """The conversations of an export, each with the one answer that its line holds."""
    return read_each(
        json_lines(stream),
        lambda _, document: _labeled(as_dict(document, Fact("place.line")), with_answers),
        named=("external_id", "id"),
    )


def _labeled(document: Unchecked, with_answers: bool) -> FileConversation:
    text = as_text(document.get("text"), '"text"', required=True)
    messages = document.get("messages") if "messages" in document else list(_paragraphs(text))
    places = [as_dict(place, Fact("place.message")) for place in as_list(messages, '"messages"')]
    spans = [_within(place, text) for place in places]
    return FileConversation(
        id=str(as_id(document.get("external_id") or document.get("id"), '"external_id"')),
        turns=tuple(
            turn_of(place, with_line_feeds_in(text[slice(*span)]))
            for place, span in zip(places, spans, strict=True)
        ),
        answers=(_answer(document, text, spans),) if with_answers else (),
        **head_in(document),
    )


def _paragraphs(text: str) -> Iterator[Unchecked]:
    """The messages of a text that we did not write: lines that begin with who speaks."""
    start = 0
    for line in text.splitlines(keepends=True):
        author, colon, words = line.partition(":")
        content = words.strip() if colon else line.strip()
        if content:
            begin = start + line.index(content, len(author) + 1 if colon else 0)
            role = author.strip() if colon else "text"
            yield {"role": role, "start": begin, "end": begin + len(content)}
        start += len(line)


def _within(place: Mapping[str, Any], text: str) -> tuple[int, int]:
    start, end = (as_number(place.get(name), f'"{name}"') for name in ("start", "end"))
    if not start < end <= len(text):
        raise Unreadable(msgid("a message lies outside of the text"))
    return start, end


def _answer(document: Unchecked, text: str, spans: Sequence[tuple[int, int]]) -> FileAnswer:
    whole = _whole_labels(document)
    taken = {str(label.get("uid")) for labels in whole.values() for label in labels}
    payload = _joined(whole, _drawn(document, text, spans, taken=taken))
    status = choice_of(document.get("status", SUBMITTED), (SUBMITTED, SKIPPED), '"status"')
    if status == SUBMITTED and not payload and not whole and not document.get("empty"):
        raise Unreadable(
            msgid(
                "no entity, and it does not say “empty”: true, so perhaps nobody has looked at it"
            )
        )
    is_empty = status == SUBMITTED and not payload and not whole
    return FileAnswer(payload=payload, empty=is_empty, **about_answer(document))


def _whole_labels(document: Unchecked) -> Payload:
    """The labels that are stored next to the text, by their keys."""
    by_key = as_dict(with_line_feeds_in(document.get("labels", {})), '"labels"')
    return {
        key: [
            as_dict(label, Fact(msgid("a label of “{key}”"), key=key))
            for label in as_list(labels, f"labels.{key}")
        ]
        for key, labels in by_key.items()
    }


def _joined(whole: Payload, drawn: Payload) -> Payload:
    """The whole labels of those that are still in the text; others with their places alone.

    Labels that were never drawn into the text are kept.
    """
    drawings = [layer for layer in LAYERS.values() if layer.drawing]
    keys = {layer.key for layer in drawings}
    payload = {key: labels for key, labels in whole.items() if key not in keys}
    for layer in drawings:
        key = layer.key
        try:
            payload[key] = _with_words(layer, whole.get(key, []), drawn.get(key, []))
        except (KeyError, TypeError, AttributeError):
            raise Unreadable(
                msgid("a label of “{key}” that belongs to the text was not written by Assay"),
                key=key,
            ) from None
    return {key: labels for key, labels in payload.items() if labels}


def _with_words(
    layer: Layer, whole: Sequence[StoredLabel], drawn: Sequence[StoredLabel]
) -> list[StoredLabel]:
    """The whole labels that are in the text or never were, then what was newly drawn."""
    labels, left = [], [(_shape(layer, label), label) for label in drawn]
    for label in whole:
        shape = _shape(layer, label)
        same = next((each for each in left if each[0] == shape), None)
        if shape is None or same is not None:
            labels.append(label)
        if shape is not None and same is not None:
            left.remove(same)
    return labels + [label for _, label in left]


def _shape(layer: Layer, label: Mapping[str, Any]) -> list[Any] | None:
    """What of a label is drawn into the text, to compare by; None of one that lacks a part of it,
    as a label of a skipped answer may.
    """
    parts: list[Any] = []
    match layer.drawing:
        case DrawnMessages(choice=choice, cites=cites):
            parts = [label.get(choice), sorted(label.get(cites) or [])]
        case DrawnPhases():
            parts = [sorted(phase.get("evidence") or []) for phase in label.get("phases") or []]
        case DrawnSpans():
            arguments = [
                [each.get("role"), each.get("span")] for each in label.get("arguments") or []
            ]
            if not all(role and span for role, span in arguments):
                return None
            spans = sorted([role, *_place(span)] for role, span in arguments)
            trigger = label.get("trigger")
            parts = [label.get("type"), trigger and _place(trigger)]
            return [*parts, spans] if all(parts) else None
    return parts if parts and all(parts) else None


def _place(span: Mapping[str, Any]) -> list[int]:
    return [span["message"], span["start"], span["end"]]


class _Entity:
    """One entity, with what its relations lead to."""

    def __init__(self, document: Mapping[str, Any], text: str, spans: Sequence[tuple[int, int]]):
        label = as_text(document.get("label"), Fact(msgid("the label of an entity")), required=True)
        self.kind, _, self.choice = label.partition("/")
        start, end = (as_number(document.get(f"{n}_offset"), n) for n in ("start", "end"))
        inside = [n for n, (first, last) in enumerate(spans) if first <= start < end <= last]
        if len(inside) != 1:
            raise Unreadable(
                msgid("the entity “{label}” does not lie inside of one message"), label=label
            )
        self.message = inside[0]
        first = spans[self.message][0]
        before, quoted = text[first:start], text[start:end]
        self.start = len(with_line_feeds_in(before))
        self.text = str(with_line_feeds_in(quoted))
        self.links: dict[str, list[_Entity]] = {}
        self.is_target = False

    @property
    def messages(self) -> list[int]:
        return [self.message, *(other.message for other in self.links.get(SAME, []))]

    @property
    def span(self) -> QuotedSpan:
        return quoted(self.message, self.start, self.text)


def _drawn(
    document: Unchecked, text: str, spans: Sequence[tuple[int, int]], *, taken: Collection[str]
) -> Payload:
    """The labels of one line, as far as they are drawn into the text; their uids are new."""
    rows = [
        as_dict(row, Fact(msgid("an entity")))
        for row in as_list(document.get("entities"), '"entities"')
    ]
    entities = {
        as_id(row.get("id"), Fact(msgid("the id of an entity"))): _Entity(row, text, spans)
        for row in rows
    }
    if len(entities) < len(rows):
        raise Unreadable(msgid("two entities have one id"))
    for row in as_list(document.get("relations", []), '"relations"'):
        relation = as_dict(row, Fact(msgid("a relation")))
        where = Fact(msgid("the type of a relation"))
        kind = choice_of(relation.get("type"), (SAME, NEXT, ARGUMENT), where)
        source, target = (
            entities.get(as_id(relation.get(name), name)) for name in ("from_id", "to_id")
        )
        if source is None or target is None:
            raise Unreadable(msgid("a relation names an entity that is not there"))
        source.links.setdefault(kind, []).append(target)
        target.is_target = True
    uids = (name for name in (f"doccano-{number}" for number in count(1)) if name not in taken)
    labels: Payload = {}
    for entity in entities.values():
        if not entity.is_target:
            key, label = _label(entity, uids)
            labels.setdefault(key, []).append(label)
    return labels


def _label(entity: _Entity, uids: Iterator[str]) -> tuple[str, StoredLabel]:
    uid = {"uid": next(uids)}
    for layer in LAYERS.values():
        match layer.drawing:
            case DrawnMessages(kind, choice, cites) if entity.kind == kind:
                return layer.key, {**uid, choice: entity.choice, cites: entity.messages}
            case DrawnPhases() if entity.kind == "Phase":
                return layer.key, {**uid, "phases": list(_phases(entity, uids))}
            case DrawnSpans() if entity.kind == "Event":
                arguments = [
                    {"role": argument.choice, "span": argument.span}
                    for argument in entity.links.get(ARGUMENT, [])
                ]
                event = {"type": entity.choice, "trigger": entity.span, "arguments": arguments}
                return layer.key, {**uid, **event}
    raise Unreadable(
        msgid(
            "unknown entity “{kind}”, or one that nothing leads to: Requirement/…, "
            "Question/…, Phase, Event/… and Argument/…"
        ),
        kind=entity.kind,
    )


def _phases(first: _Entity, uids: Iterator[str]) -> Iterator[StoredLabel]:
    entity: _Entity | None = first
    seen: set[int] = set()
    while entity is not None and id(entity) not in seen:
        seen.add(id(entity))
        yield {"uid": next(uids), "evidence": entity.messages}
        following = entity.links.get(NEXT, [])
        entity = following[0] if following else None
