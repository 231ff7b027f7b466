"""Label Studio: a JSON list of tasks, each with an annotation for every annotator.

A conversation is a ``Paragraphs`` dialogue. Each label is a region with the label's uid: over the
first message that it points to, or over its trigger. Its fields are per-region controls named
``KEY-FIELD``; further messages and references to other labels are relations named as the field.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

from labeling.conversations.formats.answers import (
    SKIPPED,
    FileAnswer,
    FileConversation,
    LineFault,
    Payload,
    ReadLine,
    Written,
    author_of,
    written,
)
from labeling.conversations.formats.reading import json_list
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.exchange.formats.labelstudio_reading import PLAIN, is_flat, read_task, to_utf16
from labeling.schema import LAYERS, form_fields
from labeling.schema.forms import FormField

TEXT = "dialogue"
LINKS = "links"  # the control of further messages


_CONTROLS = {
    "text": "textarea",
    "textarea": "textarea",
    "lines": "textarea",
    "choice": "choices",
    "confidence": "number",
}


class Span(NamedTuple):
    message: int
    start: int
    end: int


def tasks(every: Iterable[FileConversation]) -> Iterator[str]:
    """The text of a file: a JSON list with a task a line."""
    yield "["
    for number, labeled in enumerate(every, start=1):
        yield (",\n" if number > 1 else "\n") + write(labeled, number=number)
    yield "\n]\n"


def write(labeled: FileConversation, *, number: int = 1) -> str:
    """One task as one line of text, without comma and line end."""
    task = {
        "id": number,
        "data": {
            "id": labeled.id,
            **labeled.head,
            "dialogue": [
                {
                    "author": author_of(turn),
                    "text": turn.content,
                    "role": turn.role,
                    "speaker": turn.speaker,
                    "time": written(turn.time),
                }
                for turn in labeled.turns
            ],
        },
        "annotations": [_annotation(answer, labeled.texts) for answer in labeled.answers],
    }
    return json.dumps(task, ensure_ascii=False, allow_nan=False)


def _annotation(answer: FileAnswer, texts: Sequence[str]) -> Written:
    regions = _Regions(answer.payload, texts)
    return {
        "completed_by": {"email": answer.annotator},
        "result": [*regions.results(), *regions.relations],
        "was_cancelled": answer.status == SKIPPED,
        "ground_truth": answer.is_gold,
        "created_at": written(answer.created_at),
        "updated_at": written(answer.submitted_at),
        "lead_time": answer.active_seconds,
    }


@dataclass(slots=True)
class _Regions:
    """The regions of one answer. Relations come last, as Label Studio writes them."""

    payload: Payload
    texts: Sequence[str]
    relations: list[Written] = field(default_factory=list)

    def results(self) -> Iterator[Written]:
        for name, layer in LAYERS.items():
            for label in self.payload.get(layer.key, []):
                yield from self._label(name, layer.key, label)

    def _label(self, layer: str, key: str, label: Mapping[str, Any]) -> Iterator[Written]:
        fields = form_fields(layer)
        kind = LAYERS[layer]
        heading = label[kind.type_field] if kind.project_types else kind.label.__name__
        place = self._place(label, fields)
        yield _region(label["uid"], key, heading, self._value(place))
        for name in PLAIN:
            if name in label:
                control = f"{key}-{name}"
                yield self._control(label["uid"], control, "textarea", [label[name]], place)
        for each in fields:
            if not (kind.project_types and each["name"] == kind.type_field):
                yield from self._field(label["uid"], key, each, label.get(each["name"]), place)

    def _field(
        self, uid: str, key: str, asked: FormField, value: Any, place: Span
    ) -> Iterator[Written]:
        name = f"{key}-{asked['name']}"
        if value is None or value == []:
            return
        if control := _CONTROLS.get(asked["widget"]):
            said = value if asked["widget"] in ("lines", "confidence") else [str(value)]
            yield self._control(uid, name, control, said, place)
        match asked["widget"]:
            case "messages":
                yield from self._messages(uid, asked["name"], value)
            case "references":
                yield from self._references(uid, name, value, place)
            case "span":
                yield from self._quote(uid, name, asked, value, place)
            case "phases":
                yield from self._phases(uid, asked, value)
            case "arguments":
                yield from self._arguments(uid, value)

    def _messages(self, uid: str, name: str, indices: Sequence[int]) -> Iterator[Written]:
        """The label's own region is over the first one."""
        for index in indices[1:]:
            region = f"{uid}/{name}/{index}"
            yield _region(region, LINKS, "Message", self._value(self._whole(index)))
            self._relate(uid, region, name)

    def _references(self, uid: str, name: str, value: Any, place: Span) -> Iterator[Written]:
        """Labels that the file does not hold are named in text."""
        there = {label["uid"] for labels in self.payload.values() for label in labels}
        wanted = value if isinstance(value, list) else [value]
        for target in wanted:
            if target in there:
                self._relate(uid, target, name.partition("-")[2])
        missing = [target for target in wanted if target not in there]
        if missing:
            yield self._control(uid, name, "textarea", missing, place)

    def _quote(
        self, uid: str, name: str, asked: FormField, value: Mapping[str, Any], place: Span
    ) -> Iterator[Written]:
        """A span of a message is the region itself; one of a field is a text and its place."""
        if asked["within"] == "field":
            yield self._control(uid, name, "textarea", [value["text"]], place)
            yield self._control(uid, f"{name}-start", "number", value["start"], place)

    def _phases(
        self, uid: str, asked: FormField, phases: Sequence[Mapping[str, Any]]
    ) -> Iterator[Written]:
        for phase in phases:
            place = self._place(phase, asked["fields"])
            yield _region(phase["uid"], "phases", "Phase", self._value(place))
            self._relate(uid, phase["uid"], "phases")
            for each in asked["fields"]:
                yield from self._field(phase["uid"], "phases", each, phase.get(each["name"]), place)

    def _arguments(self, uid: str, arguments: Sequence[Mapping[str, Any]]) -> Iterator[Written]:
        for number, argument in enumerate(arguments):
            span = argument["span"]
            place = Span(span["message"], span["start"], span["end"])
            region = f"{uid}/arguments/{number}"
            yield _region(region, "arguments", argument["role"], self._value(place))
            self._relate(uid, region, "arguments")

    def _relate(self, source: str, target: str, name: str) -> None:
        ends = {"from_id": source, "to_id": target, "direction": "right"}
        self.relations.append({"type": "relation", **ends, "labels": [name]})

    def _control(self, uid: str, name: str, type_: str, value: Any, place: Span) -> Written:
        content = {**self._value(place), "text" if type_ == "textarea" else type_: value}
        return {"id": uid, "from_name": name, "to_name": TEXT, "type": type_, "value": content}

    def _place(self, label: Mapping[str, Any], fields: Sequence[FormField]) -> Span:
        """Where the label's region is. One that cites no message is where its target is."""
        for each in fields:
            value = label.get(each["name"])
            if not value:
                continue
            if each["widget"] == "messages":
                return self._whole(value[0])
            if each["widget"] == "span" and each["within"] == "message":
                return Span(value["message"], value["start"], value["end"])
            if each["widget"] == "phases":
                return self._place(value[0], each["fields"])
            if each["widget"] == "references":
                return self._place_of(value[0] if isinstance(value, list) else value)
        return self._whole(0)

    def _place_of(self, uid: str) -> Span:
        for name, layer in LAYERS.items():
            for label in self.payload.get(layer.key, []):
                if label["uid"] == uid:
                    return self._place(label, form_fields(name))
        return self._whole(0)

    def _whole(self, index: int) -> Span:
        return Span(index, 0, len(self.texts[index]))

    def _value(self, place: Span) -> Written:
        text = self.texts[place.message]
        return {
            "start": str(place.message),
            "end": str(place.message),
            "startOffset": to_utf16(text, place.start),
            "endOffset": to_utf16(text, place.end),
        }


def _region(uid: str, name: str, label: str, value: Written) -> Written:
    value["paragraphlabels"] = [label]
    kind = "paragraphlabels"
    return {"id": uid, "from_name": name, "to_name": TEXT, "type": kind, "value": value}


def read(stream: BinaryIO, *, with_answers: bool = True) -> Iterator[ReadLine]:
    """The conversations of an export with their annotations, one task after the other."""
    for entry in json_list(stream):
        if isinstance(entry, LineFault):
            yield entry
        elif is_flat(entry[1]):
            yield LineFault(
                entry[0],
                Fact(
                    msgid(
                        "this is JSON_MIN, which leaves out what labels belong to: export as "
                        "JSON instead"
                    )
                ),
            )
            return
        else:
            yield from read_task(*entry, with_answers=with_answers)
