"""Labels that a person saved about a sample, as JSON or YAML, converted to answers.

Their shapes are near to ours, and differ in what a sample cannot know: labels have no ``uid`` and
name each other by ``id``; an inferred requirement wraps a whole requirement; an issue names no
requirement, and its ``location`` is the words themselves. Whatever has no place here is named.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

from labeling.conversations.formats.answers import (
    FileAnswer,
    FileConversation,
    FileNote,
    LineFault,
    ReadLine,
    Unchecked,
    Unnamed,
    Unreadable,
    as_dict,
    as_list,
    as_text,
    past,
    with_line_feeds_in,
)
from labeling.conversations.formats.samples import (
    SampleDocument,
    documents,
    head_left_out,
    id_of,
    left_out_at,
    names_in,
    section_keys,
    turns_in,
)
from labeling.conversations.formats.talks import stem_of
from labeling.conversations.rules.importing import Turn
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.domain.yaml_files import Place
from labeling.schema import LAYERS, form_fields
from labeling.schema.forms import FormField
from labeling.schema.labels import StoredLabel
from labeling.schema.layers import Layer, stages
from labeling.schema.links import field_text

WRAPPED = "requirement"
"""Under this key an inferred requirement holds a requirement, and an issue may name one."""
MOST_LABELS = 10_000
_NOTHING: tuple[Any, ...] = (None, "", [], {})


def read(stream: BinaryIO, *, name: str, unnamed: Unnamed) -> Iterator[ReadLine]:
    """The answers of a file. ``unnamed`` is whose they are where the file does not say."""
    for document in documents(stream, name=name):
        if isinstance(document, LineFault):
            yield document
            continue
        try:
            yield document.line, _labeled(document, name, unnamed)
        except _Refused as refused:
            yield LineFault(document.line_of(refused.place), refused.fact)
        except Unreadable as fault:
            yield LineFault(document.line, fault.fact)


class _Refused(Unreadable):
    """What cannot be taken, at a place of the document."""

    def __init__(self, place: Place, fact: Fact) -> None:
        super().__init__(fact)
        self.place = place


class _Section(NamedTuple):
    """The labels of a layer, and where in the document they are listed."""

    layer: Layer
    place: Place
    labels: Sequence[Any]


def _labeled(document: SampleDocument, name: str, unnamed: Unnamed) -> FileConversation:
    listed = isinstance(document.value, list)
    sample: Unchecked = {} if listed else as_dict(document.value, Fact("place.sample"))
    sections = _listed(document) if listed else list(_sections(sample))
    if not sections:
        raise Unreadable("sample.no_labels", names=list(section_keys()))
    sample_id = id_of(sample) or unnamed.conversation or stem_of(name)
    annotator = as_text(sample.get("annotator"), '"annotator"').strip() or unnamed.annotator
    if not annotator:
        raise Unreadable("sample.no_annotator")
    conversion = _Conversion(document, f"{sample_id}\n{annotator}")
    known = {*names_in(sample), *section_keys()}
    for key in (key for key in sample if key not in known):
        conversion.note((key,), left_out_at(key, sample[key]))
    for path, value in head_left_out(sample):
        conversion.note(tuple(path.split(".", 1)), left_out_at(path, value))
    labels = conversion.converted(sections)
    in_sections = {section.layer.name for section in sections}
    answer = FileAnswer(
        annotator=annotator,
        payload=labels,
        empty=not any(labels.values()),
        submitted_at=past(sample.get("labeled_at"), '"labeled_at"'),
        unanswered=tuple(layer for layer in LAYERS if layer not in in_sections),
    )
    return FileConversation(
        id=sample_id,
        turns=tuple(_turns(sample)),
        answers=(answer,),
        notes=tuple(sorted(conversion.notes, key=lambda note: note.line)),
    )


def _turns(sample: Mapping[str, Any]) -> Iterator[Turn]:
    for index, value in enumerate(turns_in(sample)):
        message = with_line_feeds_in(as_dict(value, f"conversation[{index}]"))
        role = as_text(message.get("role"), f"conversation[{index}].role", required=True)
        content = as_text(message.get("content"), f"conversation[{index}].content", required=True)
        yield Turn(role, content)


def _listed(document: SampleDocument) -> list[_Section]:
    """A bare list holds labels of the first stage, as requirements are written down alone."""
    return [_Section(LAYERS[stages()[0]], (), document.value)]


def _sections(sample: Mapping[str, Any]) -> Iterator[_Section]:
    for name in stages():
        layer, wrapper = LAYERS[name], f"{name}_labels"
        if layer.key in sample and wrapper in sample:
            raise _Refused((wrapper,), Fact("sample.two_sections", names=[layer.key, wrapper]))
        if layer.key in sample:
            place: Place = (layer.key,)
            yield _Section(layer, place, as_list(sample[layer.key], f'"{layer.key}"'))
        elif wrapper in sample:
            within = as_dict(sample[wrapper], f'"{wrapper}"')
            unknown = next((key for key in within if key != layer.key), None)
            if unknown is not None:
                known = Fact("file.known_are", names=[layer.key])
                why = Fact("file.unknown_key", key=unknown[:60], hint=known)
                raise _Refused((wrapper, unknown), why)
            path = f"{wrapper}.{layer.key}"
            place = (wrapper, layer.key)
            yield _Section(layer, place, as_list(within.get(layer.key), f'"{path}"'))


# --- converting -----------------------------------------------------------------------------------


class _Named(NamedTuple):
    """A label that others may refer to by the id that it had in the file."""

    uid: str
    label: StoredLabel


@dataclass(slots=True)
class _Conversion:
    """The labels of one sample on their way. ``seed`` makes their uids: the same file, the same."""

    document: SampleDocument
    seed: str
    notes: list[FileNote] = field(default_factory=list)
    _named: dict[tuple[str, str], _Named] = field(default_factory=dict)
    """By layer and id."""

    def note(self, place: Place, why: Fact) -> None:
        self.notes.append(FileNote(self.document.line_of(place), why))

    def converted(self, sections: Sequence[_Section]) -> dict[str, list[StoredLabel]]:
        """In the order of the stages, so that what others refer to is known."""
        return {section.layer.key: self._section(section) for section in sections}

    def _section(self, section: _Section) -> list[StoredLabel]:
        if len(section.labels) > MOST_LABELS:
            raise _Refused(
                section.place, Fact(msgid("more than {most} labels of one layer"), most=MOST_LABELS)
            )
        taken = _ids_kept(section)
        return [
            self._label(section.layer, label, (*section.place, number), taken)
            for number, label in enumerate(section.labels)
        ]

    def _label(self, layer: Layer, value: Any, place: Place, taken: set[str]) -> StoredLabel:
        here = _Place(self, place)
        given = with_line_feeds_in(here.as_dict(value))
        fields = {field["name"]: field for field in form_fields(layer.name)}
        if WRAPPED not in fields and WRAPPED in given:
            given = _unwrapped(given, fields, here)
        label: StoredLabel = {"uid": ""}
        name = given.pop("id", None)
        if layer.stores_id:
            label["id"] = _id(layer, name, taken, here)
            taken.add(label["id"])
        label["uid"] = _uid(self.seed, layer.name, label.get("id", place[-1]))
        if any(field["within"] == "field" for field in fields.values()):
            given = self._placed(given, fields, here)
        for key in given:
            if key in fields:
                label[key] = self._value(fields[key], given[key], here.at(key))
            elif given[key] not in _NOTHING:
                here.note(left_out_at(f"{here.path}.{key}", given[key]), key)
        self._remember(layer, name, label, here)
        return label

    def _remember(self, layer: Layer, name: Any, label: StoredLabel, here: _Place) -> None:
        """Under the id of the file, and under its own where that is another."""
        for known in dict.fromkeys((str(name or ""), str(label.get("id", "")))):
            if not known:
                continue
            if (layer.name, known) in self._named and known == str(name):
                raise here.refusal(Fact("schema.repeated_name", field="id", name=known[:60]), "id")
            self._named.setdefault((layer.name, known), _Named(label["uid"], label))

    def _of(self, layers: Collection[str]) -> dict[str, _Named]:
        """What may be referred to, by its id."""
        return {name: each for (layer, name), each in self._named.items() if layer in layers}

    def _value(self, field: FormField, value: Any, here: _Place) -> Any:
        match field["widget"]:
            case "references":
                return self._references(field, value, here)
            case "choice" if isinstance(value, str):
                return _choice(field, value)
            case "lines":
                return _lines(value)
            case "messages" if isinstance(value, list):
                return _messages(value, here)
        if value == "" and not field["required"]:
            return None
        return value

    def _references(self, field: FormField, value: Any, here: _Place) -> Any:
        if not field["many"]:
            return self._reference(field, value, here)
        names = [value] if isinstance(value, str) else as_list(value or [], here.path)
        return list(dict.fromkeys(self._reference(field, name, here) for name in names))

    def _reference(self, field: FormField, name: Any, here: _Place) -> str:
        named = self._of(field["of"]).get(str(name))
        if named is None:
            raise here.refusal(Fact("sample.unknown_label", path=here.path, name=str(name)[:60]))
        return named.uid

    # --- issues: which requirement, which words ------------------------------------------------

    def _placed(self, given: Unchecked, fields: Mapping[str, FormField], here: _Place) -> Unchecked:
        """With the requirement that the label is about, and the place of its words there.

        The requirement is the one that the label names, in its own field or before the name
        of the field; else the only one whose field holds the words; else the only one.
        """
        of = next(field["of"] for field in fields.values() if field["widget"] == "references")
        candidates = self._of(of)
        named, field_name, line = _field_of(given.get("field"), candidates)
        prefix, words = _words_of(given.pop("location", None), candidates, here)
        name = given.pop(WRAPPED, None) or given.pop("requirement_id", None) or named or prefix
        if name is None:
            name = _only(candidates, field_name, words, here)
        elif str(name) not in candidates:
            why = Fact("sample.unknown_label", path=here.path, name=str(name)[:60])
            raise here.refusal(why)
        requirement = candidates[str(name)].label
        span = next(key for key, field in fields.items() if field["within"] == "field")
        if field_name is not None:
            given["field"] = field_name
        given[WRAPPED] = str(name)
        if span not in given:
            given[span] = _span(requirement.get(str(given.get("field"))), words, line, here)
        return given


class _Place(NamedTuple):
    """A value of the document, for notes and refusals."""

    conversion: _Conversion
    place: Place

    @property
    def path(self) -> str:
        """As people write it: ``requirements[2].title``.

        A list alone has no name, so its labels are called by their number.
        """
        parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.place]
        return "".join(parts).removeprefix(".")

    def at(self, key: str) -> _Place:
        return self._replace(place=(*self.place, key))

    def as_dict(self, value: Any) -> Unchecked:
        if not isinstance(value, dict):
            raise self.refusal(Fact("file.must_be_object", path=self.path))
        return dict(value)

    def note(self, why: Fact, *further: str) -> None:
        self.conversion.note((*self.place, *further), why)

    def refusal(self, why: Fact, *further: str) -> _Refused:
        return _Refused((*self.place, *further), why)


def _uid(seed: str, layer: str, name: Any) -> str:
    return hashlib.sha256(json.dumps([seed, layer, name]).encode()).hexdigest()[:16]


# --- ids ------------------------------------------------------------------------------------------


def _pattern(layer: Layer) -> re.Pattern[str]:
    return re.compile(rf"{layer.prefix}-\d{{3,}}")


def _ids_kept(section: _Section) -> set[str]:
    """The ids of the file that stay; the others get one that none of these is."""
    ids = [label.get("id") for label in section.labels if isinstance(label, dict)]
    fits = _pattern(section.layer).fullmatch
    return {name for name in ids if isinstance(name, str) and fits(name)}


def _id(layer: Layer, name: Any, taken: set[str], here: _Place) -> str:
    if isinstance(name, str) and _pattern(layer).fullmatch(name):
        return name
    digits = re.search(r"\d{1,6}$", str(name or ""))
    wished = f"{layer.prefix}-{int(digits[0]):03}" if digits else ""
    if not wished or wished in taken:
        number = 1
        while (wished := f"{layer.prefix}-{number:03}") in taken:
            number += 1
    if name not in (None, ""):
        here.note(Fact("sample.renamed", path=f"{here.path}.id", old=str(name)[:60], new=wished))
    return wished


# --- an inferred requirement in a requirement -----------------------------------------------------


def _unwrapped(given: Unchecked, fields: Mapping[str, FormField], here: _Place) -> Unchecked:
    """The requirement and what was said of it as one label.

    Where both give a reason, both are kept, in paragraphs; of other fields the outer one counts.
    """
    inner = here.at(WRAPPED).as_dict(given[WRAPPED])
    outer = {key: value for key, value in given.items() if key != WRAPPED}
    both = {key for key in inner.keys() & outer.keys() if inner[key] != outer[key]}
    merged = {**inner, **outer}
    for key in [key for key in inner if key not in fields and key not in ("id", *outer)]:
        del merged[key]
        if inner[key] not in _NOTHING:
            path = f"{here.path}.{WRAPPED}.{key}"
            here.note(left_out_at(path, inner[key]), WRAPPED, key)
    for key in sorted(both):
        texts = (outer[key], inner[key])
        if key in fields and fields[key]["widget"] == "textarea" and _are_texts(texts):
            merged[key] = f"{outer[key]}\n\n{inner[key]}"
        else:
            path = f"{here.path}.{WRAPPED}.{key}"
            here.note(left_out_at(path, inner[key]), WRAPPED, key)
    return merged


def _are_texts(values: Sequence[Any]) -> bool:
    return all(isinstance(value, str) and value.strip() for value in values)


# --- values ---------------------------------------------------------------------------------------


def _choice(field: FormField, value: str) -> str:
    """“Non-Functional” and “non_functional” are the same choice; an unknown one stays."""
    by_name = {_plain(str(choice["value"])): str(choice["value"]) for choice in field["choices"]}
    return by_name.get(_plain(value), value)


def _plain(word: str) -> str:
    return re.sub(r"[\s_-]+", "-", word.strip().casefold())


def _lines(value: Any) -> Any:
    """A list with a line each; one text with several lines, or such texts in the list, as well."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        return value
    return [line.strip() for text in value for line in text.split("\n") if line.strip()]


def _messages(value: list[Any], here: _Place) -> list[Any]:
    whole = [
        int(index) if isinstance(index, float) and index.is_integer() else index for index in value
    ]
    distinct = [index for number, index in enumerate(whole) if index not in whole[:number]]
    if len(distinct) < len(whole):
        here.note(Fact("sample.message_twice", path=here.path))
    return distinct


# --- the place of an issue ------------------------------------------------------------------------

_FIELD = re.compile(
    r"(?:(?P<of>[^\s.:/\[\]]+)[.:/]\s*)?(?P<field>[A-Za-z][A-Za-z _-]*)(?:\[(?P<line>\d{1,4})\])?"
)


def _field_of(
    value: Any, candidates: Mapping[str, _Named]
) -> tuple[str | None, str | None, int | None]:
    """Of ``REQ-001.acceptance_criteria[1]``: the requirement, the field, and the line in it."""
    match = _FIELD.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or (match["of"] and match["of"] not in candidates):
        return None, None, None
    line = None if match["line"] is None else int(match["line"])
    return match["of"], re.sub(r"[\s-]+", "_", match["field"].strip().casefold()), line


def _words_of(value: Any, candidates: Mapping[str, _Named], here: _Place) -> tuple[str | None, str]:
    """Of ``REQ-001: “quickly”``: the requirement, and the words."""
    text = as_text(value, f"{here.path}.location").strip()
    of, sign, rest = text.partition(":")
    prefix = of.strip() if sign and of.strip() in candidates else None
    if prefix is None and text in candidates:
        return text, ""
    words = rest.strip() if prefix else text
    if len(words) > 1 and (words[0], words[-1]) in _QUOTES:
        words = words[1:-1]
    return prefix, words


_QUOTES = {('"', '"'), ("'", "'"), ("“", "”"), ("„", "“"), ("«", "»")}


def _only(
    candidates: Mapping[str, _Named], field_name: str | None, words: str, here: _Place
) -> str:
    """The requirement that an issue is about that names none."""
    by_uid = {each.uid: name for name, each in candidates.items()}
    if len(by_uid) == 1:
        return next(iter(by_uid.values()))
    holding = {
        each.uid
        for each in candidates.values()
        if words and _find(field_text(each.label.get(field_name or "")), words) >= 0
    }
    if len(holding) == 1:
        return by_uid[holding.pop()]
    raise here.refusal(
        Fact("sample.which_requirement", path=here.path, fitting=len(holding), words=words[:60])
    )


def _span(value: Any, words: str, line: int | None, here: _Place) -> dict[str, int | str] | None:
    if not words:
        return None
    text, first = field_text(value), 0
    if line is not None and isinstance(value, list) and line < len(value):
        first = len(field_text(value[:line])) + (line > 0)
    start = _find(text, words, first)
    if start < 0:
        path = f"{here.path}.location"
        here.note(Fact("sample.words_elsewhere", path=path, words=words[:200]), "location")
        return None
    if line is None and _find(text, words, start + 1) >= 0:
        here.note(Fact("sample.words_twice", path=f"{here.path}.location"), "location")
    end = start + len(words)
    return {"start": start, "end": end, "text": text[start:end]}


def _find(text: str, words: str, first: int = 0) -> int:
    """As written, else in other capitals, where they leave every place as it is."""
    start = text.find(words, first)
    if start >= 0:
        return start
    folded = _same_length(text, str.lower)
    return folded.find(_same_length(words, str.lower), first)


def _same_length(text: str, change: Callable[[str], str]) -> str:
    return "".join(
        changed if len(changed := change(character)) == 1 else character for character in text
    )
