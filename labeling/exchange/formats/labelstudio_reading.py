"""A task of Label Studio as a conversation with answers. See :mod:`.labelstudio` for the form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from textwrap import shorten
from typing import Any

from labeling.conversations.formats.answers import (
    SKIPPED,
    SUBMITTED,
    FileAnswer,
    FileConversation,
    FileNote,
    LineFault,
    QuotedSpan,
    ReadLine,
    Unchecked,
    Unreadable,
    as_dict,
    as_id,
    as_list,
    as_number,
    as_text,
    head_in,
    in_task,
    layer_keys,
    moment,
    past,
    quoted,
)
from labeling.conversations.rules.importing import Turn
from labeling.domain.canonical import with_line_feeds
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.domain.numbers import whole_number
from labeling.schema import LAYERS, form_fields
from labeling.schema.forms import FormField
from labeling.schema.labels import Payload, StoredLabel

UNKNOWN_REASON = "Skipped in Label Studio, which keeps no reason"
PLAIN = ("id", "origin")  # texts of a label that its form does not ask for
_NESTED = {"phases", "arguments", "links"}


def is_flat(task: Any) -> bool:
    """Whether it is a task of JSON_MIN, whose labels have no ids to relate them by."""
    return (
        isinstance(task, dict) and "data" not in task and bool({"annotator", "lead_time"} & {*task})
    )


def read_task(line: int, task: Any, *, with_answers: bool = True) -> Iterator[ReadLine]:
    """A conversation with its answers, and a fault for each of them that cannot be taken.

    A conversation without an id gets the task's number as its id.
    """
    name = task.get("id", line) if isinstance(task, dict) else line
    try:
        document = as_dict(task, Fact(msgid("a task")))
        conversation = _conversation(document)
        given = list(_annotations(document)) if with_answers else []
    except Unreadable as error:
        yield LineFault(line, in_task(name, error.fact), True)
        return
    texts = [paragraph["text"] for paragraph in document["data"]["dialogue"]]
    answers, notes = [], [*_drafts_left(document, name, line)] if given else []
    for place, value in given:
        regions = _Regions(texts)
        try:
            answers.append(_answer(value, regions))
        except Unreadable as error:
            yield LineFault(line, in_task(name, error.fact, place=place), True)
        except RecursionError:
            yield LineFault(line, in_task(name, Fact("file.too_deep"), place=place), True)
        else:
            notes += [FileNote(line, in_task(name, fact, place=place)) for fact in regions.moved]
    yield line, replace(conversation, answers=tuple(answers), notes=tuple(notes))


def _conversation(document: Unchecked) -> FileConversation:
    data = as_dict(document.get("data"), '"data"')
    dialogue = as_list(data.get("dialogue"), '"data.dialogue"')
    paragraphs = [as_dict(value, Fact(msgid("a paragraph"))) for value in dialogue]
    return FileConversation(
        id=str(as_id(data.get("id") or document.get("id"), '"data.id"')),
        turns=tuple(map(_turn, paragraphs)),
        answers=(),
        **head_in(data, "data."),
    )


def _annotations(document: Unchecked) -> Iterator[tuple[str, Any]]:
    """What was submitted or skipped, with its place."""
    given = as_list(document.get("annotations") or [], '"annotations"')
    others = {name: _number_of(document, name) for name in ("drafts", "predictions")}
    if not given and any(others.values()):
        raise Unreadable(
            msgid(
                "no annotation, but drafts: {drafts}, predictions: {predictions}; submit "
                "them in Label Studio, and export again as JSON"
            ),
            **others,
        )
    for number, value in enumerate(given):
        yield f"annotations[{number}]", value


def _number_of(document: Unchecked, name: str) -> int:
    given = document.get(name)
    return len(given) if isinstance(given, list) else 0


def _drafts_left(document: Unchecked, name: Any, line: int) -> Iterator[FileNote]:
    if drafts := _number_of(document, "drafts"):
        yield FileNote(
            line,
            in_task(
                name,
                Fact(
                    msgid("drafts that nobody has submitted are left out: {drafts}"), drafts=drafts
                ),
            ),
        )


def _turn(paragraph: Mapping[str, Any]) -> Turn:
    author = as_text(paragraph.get("author"), '"author"')
    role = as_text(paragraph.get("role"), '"role"') or author
    if not role:
        raise Unreadable(msgid("a paragraph names no author"))
    speaker = paragraph.get("speaker") if "role" in paragraph else author
    return Turn(
        role=role,
        content=with_line_feeds(as_text(paragraph.get("text"), '"text"', required=True)),
        speaker=as_text(speaker, '"speaker"'),
        time=moment(paragraph.get("time"), '"time"'),
    )


def _answer(value: Any, regions: _Regions) -> FileAnswer:
    annotation = as_dict(value, Fact("place.annotation"))
    skipped = bool(annotation.get("was_cancelled"))
    results = annotation.get("result")
    if results is None and not skipped:
        raise Unreadable(msgid("it has no result, so it is no answer"))
    payload = regions.payload(as_list(results or [], '"result"'))
    return FileAnswer(
        annotator=_annotator(annotation.get("completed_by")),
        payload=payload,
        status=SKIPPED if skipped else SUBMITTED,
        empty=not payload and not skipped,
        skip_reason=UNKNOWN_REASON if skipped else "",
        created_at=past(annotation.get("created_at"), '"created_at"'),
        submitted_at=past(annotation.get("updated_at"), '"updated_at"'),
        active_seconds=_seconds(annotation.get("lead_time")),
        is_gold=bool(annotation.get("ground_truth")),
    )


def _annotator(value: Any) -> str:
    """A person by e-mail address or, in exports without it, by number."""
    if isinstance(value, dict):
        value = value.get("username") or value.get("email") or value.get("id")
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if value is None:
        raise Unreadable("sample.no_annotator")
    return as_text(value, '"completed_by"', required=True)


def _seconds(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise Unreadable(msgid("{path} must be a number from 0"), path='"lead_time"')
    return round(value)


@dataclass(slots=True)
class _Region:
    control: str
    heading: str
    message: int
    start: int
    end: int
    values: dict[str, Any] = field(default_factory=dict)  # a number, or a list of texts
    links: list[tuple[str, str]] = field(default_factory=list)  # (field, id of the target)

    def to(self, name: str) -> list[str]:
        return [target for field_, target in self.links if field_ == name]


@dataclass(slots=True)
class _Regions:
    """The regions of one annotation, by id."""

    texts: Sequence[str]
    by_id: dict[str, _Region] = field(default_factory=dict)
    moved: list[Fact] = field(default_factory=list)
    """Regions whose text was next to where they are said to be."""

    def payload(self, results: Sequence[Any]) -> Payload:
        documents = [as_dict(result, '"result"') for result in results]
        for result in documents:
            if result.get("type") == "paragraphlabels":
                self._region(result)
        for result in documents:
            self._belonging(result)
        keys = layer_keys()
        labels: Payload = {}
        for uid, region in self.by_id.items():
            if region.control in keys:
                label = self._label(uid, region, keys[region.control])
                labels.setdefault(region.control, []).append(label)
        return {key: labels[key] for key in keys if key in labels}

    def _region(self, result: Mapping[str, Any]) -> None:
        control = as_text(result.get("from_name"), '"from_name"', required=True)
        if control not in layer_keys() and control not in _NESTED:
            known = [*layer_keys(), *sorted(_NESTED)]
            raise Unreadable(
                msgid("unknown control “{control}”; known are {known}"),
                control=control,
                known=known,
            )
        value = as_dict(result.get("value"), '"value"')
        headings = as_list(value.get("paragraphlabels"), '"paragraphlabels"')
        if len(headings) != 1:
            raise Unreadable(msgid("a region must have one label"))
        uid = as_text(result.get("id"), '"id"', required=True)
        heading = as_text(headings[0], '"paragraphlabels"', required=True)
        self.by_id[uid] = _Region(control, heading, *self._place(value))

    def _place(self, value: Mapping[str, Any]) -> tuple[int, int, int]:
        """Message, start and end in code points of the text with line feeds alone."""
        index = self._index(value.get("start"))
        if self._index(value.get("end")) != index:
            raise Unreadable(msgid("a region reaches over several messages"))
        offsets = [as_number(value.get(name), name) for name in ("startOffset", "endOffset")]
        text = self.texts[index]
        start, end = (len(with_line_feeds(text[: from_utf16(text, offset)])) for offset in offsets)
        quote = value.get("text")
        if isinstance(quote, str) and quote.strip():
            start, end = self._quoted(with_line_feeds(text), quote, start, end)
        return index, start, end

    def _quoted(self, text: str, quote: str, start: int, end: int) -> tuple[int, int]:
        """Where the words of a region are: its offsets may count other units, or other signs.

        Of words that the message says twice those are meant that are much the nearer ones.
        """
        if _words(text[start:end]) == _words(quote):
            return start, end
        quote = with_line_feeds(quote).strip()
        quote = quote if quote in text else unescape(quote)
        places = sorted(_places(quote, text), key=lambda place: abs(place - start))
        away = [abs(place - start) for place in places[:2]]
        if not places or (len(places) > 1 and 2 * away[0] >= away[1]):
            here = shorten(text[start:end], 60)
            raise Unreadable(
                msgid(
                    "a region says “{text}”, and “{here}” lies between its offsets: "
                    "export again with the text that was labeled"
                ),
                text=shorten(quote, 60),
                here=here,
            )
        self.moved.append(
            Fact(
                msgid("“{text}” does not lie where its offsets say: it was found and moved"),
                text=shorten(quote, 60),
            )
        )
        return places[0], places[0] + len(quote)

    def _index(self, value: Any) -> int:
        index = whole_number(str(value))
        if index is None or index >= len(self.texts):
            raise Unreadable(msgid("there is no message {value}"), value=ascii(value)[:40])
        return index

    def _belonging(self, result: Mapping[str, Any]) -> None:
        """A value of a region, or a relation between two."""
        kind = result.get("type")
        if kind == "paragraphlabels":
            return
        if kind == "relation":
            names = as_list(result.get("labels"), '"labels"')
            if len(names) != 1:
                raise Unreadable(msgid("a relation must have one label"))
            target = str(as_id(result.get("to_id"), '"to_id"'))
            self._owner(target)
            self._owner(result.get("from_id")).links.append((str(names[0]), target))
            return
        if not isinstance(kind, str) or kind not in ("textarea", "choices", "number"):
            raise Unreadable(msgid("results of type {type} cannot be read"), type=ascii(kind))
        value = as_dict(result.get("value"), '"value"')
        name = as_text(result.get("from_name"), '"from_name"', required=True)
        owner = self._owner(result.get("id"))
        control, _, field_ = name.partition("-")
        if control != owner.control:
            raise Unreadable(
                msgid("“{name}” does not belong to a {control} region"),
                name=name,
                control=owner.control,
            )
        owner.values[field_] = self._plain_value(kind, value)

    def _plain_value(self, kind: str, value: Mapping[str, Any]) -> Any:
        """A number, or a list of texts."""
        content = value.get("text" if kind == "textarea" else kind)
        if kind == "number":
            if isinstance(content, bool) or not isinstance(content, int | float):
                raise Unreadable(msgid("a number is missing"))
            return content
        texts = [content] if isinstance(content, str) else as_list(content, f'"{kind}"')
        return [with_line_feeds(as_text(text, f'"{kind}"')) for text in texts]

    def _owner(self, uid: Any) -> _Region:
        owner = self.by_id.get(str(as_id(uid, '"id"')))
        if owner is None:
            raise Unreadable(msgid("a value belongs to no region"))
        return owner

    def _label(self, uid: str, region: _Region, layer: str) -> StoredLabel:
        label: StoredLabel = {"uid": uid}
        for name in PLAIN:
            if name in region.values:
                label[name] = _first(region.values.pop(name))
        label |= dict(self._fields(region, form_fields(layer)))
        if LAYERS[layer].project_types:
            label[LAYERS[layer].type_field] = region.heading
        self._check_used(region, form_fields(layer))
        return label

    def _check_used(self, region: _Region, fields: Sequence[FormField]) -> None:
        known = {field_["name"] for field_ in fields} | {"span-start"}
        for name in [*region.values, *(name for name, _ in region.links)]:
            if name not in known:
                raise Unreadable(
                    msgid("{control} have no field “{name}”"), control=region.control, name=name
                )

    def _fields(self, region: _Region, fields: Sequence[FormField]) -> Iterator[tuple[str, Any]]:
        for field_ in fields:
            value = self._value(region, field_)
            if value is not None or not field_["required"]:
                yield field_["name"], value

    def _value(self, region: _Region, asked: FormField) -> Any:
        name = asked["name"]
        value = region.values.get(name)
        match asked["widget"]:
            case "text" | "textarea":
                return _first(value)
            case "choice":
                return _choice(_first(value), asked)
            case "messages":
                return [region.message, *(self.by_id[uid].message for uid in region.to(name))]
            case "references":
                targets = [*region.to(name), *(value if isinstance(value, list) else [])]
                return targets if asked["many"] else _first(targets)
            case "span":
                return self._span(region, asked)
            case "phases":
                return [self._phase(uid, asked["fields"]) for uid in region.to(name)]
            case "arguments":
                return [self._argument(uid) for uid in region.to(name)]
        return value

    def _span(self, region: _Region, asked: FormField) -> Mapping[str, Any] | None:
        if asked["within"] == "message":
            return self._quote(region)
        text = _first(region.values.get(asked["name"]))
        if not isinstance(text, str):
            return None
        start = as_number(region.values.get(f"{asked['name']}-start"), '"span-start"')
        return {"start": start, "end": start + len(text), "text": text}

    def _quote(self, region: _Region) -> QuotedSpan:
        text = with_line_feeds(self.texts[region.message])[region.start : region.end]
        return quoted(region.message, region.start, text)

    def _phase(self, uid: str, fields: Sequence[FormField]) -> StoredLabel:
        region = self.by_id[uid]
        self._check_used(region, fields)
        return {"uid": uid, **dict(self._fields(region, fields))}

    def _argument(self, uid: str) -> StoredLabel:
        region = self.by_id[uid]
        return {"role": region.heading, "span": self._quote(region)}


def _places(quote: str, text: str) -> list[int]:
    """Where a text holds these words; within other words only where they stand nowhere else."""
    found = [place.start() for place in re.finditer(f"(?={re.escape(quote)})", text)]
    whole = re.compile(rf"(?<!\w){re.escape(quote)}(?!\w)")
    return [place for place in found if whole.match(text, place)] or found


def _words(text: str) -> str:
    return " ".join(unescape(text).split())


def _first(value: Any) -> Any:
    if value is None or value == []:
        return None
    if not isinstance(value, list):
        return value
    if len(value) > 1:
        raise Unreadable(msgid("a field that holds one value has several"))
    return value[0]


def _choice(text: Any, asked: FormField) -> Any:
    """Choices are text there; what is a number here becomes one again."""
    by_text = {str(choice["value"]): choice["value"] for choice in asked["choices"]}
    return by_text.get(text, text) if isinstance(text, str) else text


def to_utf16(text: str, offset: int) -> int:
    """How many UTF-16 code units come before the code point at ``offset``.

    Examples
    --------
    >>> to_utf16("a😀b", 2)
    3
    """
    return len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2


def from_utf16(text: str, offset: int) -> int:
    """The code point at which ``offset`` UTF-16 code units have passed.

    Examples
    --------
    >>> from_utf16("a😀b", 3)
    2
    """
    units = text.encode("utf-16-le", "surrogatepass")
    if not 0 <= offset * 2 <= len(units):
        raise Unreadable(msgid("offset {offset:d} lies outside of the text"), offset=offset)
    try:
        return len(units[: offset * 2].decode("utf-16-le"))
    except UnicodeDecodeError:
        raise Unreadable(
            msgid("offset {offset:d} lies inside of a character"), offset=offset
        ) from None
