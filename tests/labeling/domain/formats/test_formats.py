"""Every format is written and read with everything that a label can hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from labeling.conversations.formats.answers import (
    FileAnswer,
    FileConversation,
    LineFault,
    Unreadable,
)
from labeling.domain.canonical import with_line_feeds
from labeling.domain.facts import Fact
from labeling.exchange.formats import doccano, labelstudio, native
from labeling.exchange.formats.labelstudio_config import config
from labeling.exchange.formats.labelstudio_reading import from_utf16, to_utf16
from labeling.schema import LAYERS, check_payload
from labeling.words import in_english
from tests.labeling.domain.formats import rich

READERS = {"native": native.read, "labelstudio": labelstudio.read, "doccano": doccano.read}
WRITTEN = {"native": set(), "labelstudio": {"round", "guideline_version", "skip_reason"}}
"""What each format that is written loses of an answer."""

OF_0_4 = (Path(__file__).parent / "doccano_0_4.jsonl").read_bytes().splitlines(keepends=True)
"""Written by 0.4.0 for doccano: :mod:`rich`, and an answer that was begun and skipped."""


def written(format: str, given: FileConversation) -> bytes:
    lines = [native.write(given)] if format == "native" else ["[", labelstudio.write(given), "]"]
    return ("\n".join(lines) + "\n").encode()


def read(format: str, data: bytes) -> list[FileConversation]:
    result = list(READERS[format](BytesIO(data)))
    assert not [one for one in result if isinstance(one, LineFault)], result
    return [one[1] for one in result]


def there_and_back(
    format: str, given: FileConversation
) -> list[tuple[FileConversation, FileAnswer, FileAnswer]]:
    back = [(one, answer) for one in read(format, written(format, given)) for answer in one.answers]
    return [(one, before, after) for before, (one, after) in zip(given.answers, back, strict=True)]


def lost_of(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """The dotted names of what is missing or different, positions in lists left out."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            yield from lost_of(before.get(key), after.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for one, other in zip(before, after, strict=True):
            yield from lost_of(one, other, path)
    elif before != after:
        yield path


def test_the_rich_answer_uses_every_field_and_is_a_correct_submission():
    assert (
        check_payload(
            rich.PAYLOAD,
            layers=list(LAYERS),
            message_count=3,
            complete=True,
            messages=rich.TEXTS,
        )
        == []
    )
    for layer in LAYERS.values():
        for name in layer.label.model_fields:
            assert any(label.get(name) not in (None, []) for label in rich.PAYLOAD[layer.key]), name


@pytest.mark.parametrize("format", WRITTEN)
@pytest.mark.parametrize("layer", LAYERS)
def test_a_format_loses_of_a_layer_what_is_declared_and_nothing_else(format, layer):
    given = rich.answer(payload=rich.only(layer))

    ((_, before, after),) = there_and_back(format, rich.labeled(given))

    key = LAYERS[layer].key
    lost = {"suggestion"} if format == "labelstudio" else set()
    assert set(lost_of(before.payload[key], after.payload[key])) == lost


@pytest.mark.parametrize("format", WRITTEN)
def test_a_format_loses_of_an_answer_what_is_declared_and_nothing_else(format):
    pairs = there_and_back(format, rich.labeled())

    names = {field.name for field in fields(FileAnswer)} - {"payload"}
    lost = {
        name
        for _, before, after in pairs
        for name in names
        if getattr(before, name) != getattr(after, name)
    }
    assert lost == WRITTEN[format]
    assert [after.annotator for _, _, after in pairs] == ["ana", "ben", "cleo"]


@pytest.mark.parametrize("format", WRITTEN)
def test_the_conversation_comes_back_whole(format):
    for one, _, _ in there_and_back(format, rich.labeled()):
        assert (one.id, one.turns) == ("shop/017 😀", rich.TURNS)
        assert (one.domain, one.difficulty, one.split) == ("retail", "hard", "test")


# --- places -------------------------------------------------------------------------------------


def test_label_studio_counts_utf16_units_as_browsers_do():
    (task,) = json.loads(written("labelstudio", rich.labeled(rich.answer())))

    triggers = [
        one["value"] for one in task["annotations"][0]["result"] if one.get("from_name") == "events"
    ]
    for value, words in zip(triggers, ["ship", "💌 confirm"], strict=True):
        units = rich.TEXTS[int(value["start"])].encode("utf-16-le")
        quoted = units[2 * value["startOffset"] : 2 * value["endOffset"]].decode("utf-16-le")
        assert quoted == words
        assert value["startOffset"] > rich.TEXTS[0].index(words)


def test_an_offset_inside_of_a_character_is_refused():
    assert [to_utf16("a😀b", n) for n in range(4)] == [0, 1, 3, 4]
    assert [from_utf16("a😀b", n) for n in (0, 1, 3, 4)] == [0, 1, 2, 3]
    for offset in (2, 5):
        with pytest.raises(Unreadable, match=f"offset={offset}"):
            from_utf16("a😀b", offset)


def test_places_follow_when_line_ends_become_line_feeds():
    text = "one\r\ntwo 😀\r\nthree"
    task = {
        "data": {"id": "a", "dialogue": [{"author": "user", "text": text}]},
        "annotations": [
            {
                "completed_by": 7,
                "result": [
                    {
                        "id": "e",
                        "from_name": "events",
                        "to_name": "dialogue",
                        "type": "paragraphlabels",
                        "value": {
                            "start": "0",
                            "end": "0",
                            "startOffset": to_utf16(text, text.index("three")),
                            "endOffset": to_utf16(text, len(text)),
                            "paragraphlabels": ["count"],
                        },
                    }
                ],
            }
        ],
    }

    (one,) = read("labelstudio", json.dumps([task]).encode())

    trigger = one.answers[0].payload["events"][0]["trigger"]
    assert trigger["text"] == "three"
    assert with_line_feeds(text)[trigger["start"] : trigger["end"]] == "three"
    assert one.answers[0].annotator == "7"


# --- files that are wrong -----------------------------------------------------------------------


def faults(format: str, data: bytes) -> list[LineFault]:
    return [one for one in READERS[format](BytesIO(data)) if isinstance(one, LineFault)]


@pytest.mark.parametrize("format", READERS)
@pytest.mark.parametrize("data", [b"", b" \n\n"])
def test_an_empty_file_is_a_fault(format, data):
    assert faults(format, data) == [LineFault(None, Fact("file.empty"))]


@pytest.mark.parametrize(
    "data", [b"[1", b"{}", b'["a"', b"[{},]", b"[{} {}]", b'["\xff"]', b"[NaN]", b"[" * 5000, b"1"]
)
def test_a_file_that_is_no_list_of_tasks_is_a_fault(data):
    assert faults("labelstudio", data)


@pytest.mark.parametrize("format", ["native", "doccano"])
@pytest.mark.parametrize("line", [b"{", b"[]", b"1", b"\xff", b"{}", b'{"a": NaN}', b"[" * 99999])
def test_a_bad_line_is_a_fault_with_its_number(format, line):
    (fault,) = faults(format, b"\n" + line + b"\n")

    assert fault.line == 2


def test_a_task_is_named_by_the_line_on_which_it_begins():
    good = labelstudio.write(rich.labeled())
    data = f"[\n{good},\n\n{{}},\n{good}]".encode()

    result = list(labelstudio.read(BytesIO(data)))

    assert [one.line if isinstance(one, LineFault) else one[0] for one in result] == [2, 4, 5]


def test_what_an_unknown_control_says_is_not_dropped_silently():
    data = written("labelstudio", rich.labeled()).replace(b'"requirements"', b'"sentiment"', 1)

    (fault,) = faults("labelstudio", data)

    assert "unknown control “sentiment”" in in_english(fault.reason)


@pytest.mark.parametrize("format", READERS)
def test_no_field_of_another_type_breaks_a_reader(format):
    data = OF_0_4[0] if format == "doccano" else written(format, rich.labeled(rich.answer()))
    document = json.loads(data)
    for path in _paths(document):
        for wrong in (None, 1, -1, "x", [], {}, [None], True):
            data = json.dumps(_with(document, path, wrong)).encode()
            list(READERS[format](BytesIO(data)))  # a fault or an answer, never an exception


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from _paths(item, (*path, key))


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _with(value[path[0]], path[1:], new)
    return copy


def test_the_interface_for_label_studio_has_a_control_for_everything_written():
    schema = {"ship/send": ["place", "item", "face 😀"], "confirm": []}
    tree = ElementTree.fromstring(config(list(LAYERS), event_schema=schema))
    (task,) = json.loads(written("labelstudio", rich.labeled(rich.answer())))
    results = task["annotations"][0]["result"]

    controls = {one.get("name"): one for one in tree.iter() if one.get("name")}
    relations = {one.get("value") for one in tree.iter("Relation")}
    for result in results:
        if result["type"] == "relation":
            assert set(result["labels"]) <= relations
            continue
        control = controls[result["from_name"]]
        assert control.tag.lower() == result["type"]
        offered = {one.get("value") for one in control}
        if result["type"] in ("choices", "paragraphlabels"):
            assert set(result["value"][result["type"]]) <= offered


def test_what_was_changed_in_doccano_comes_back_as_it_stands_there():
    line = json.loads(OF_0_4[0])
    first, second = rich.PAYLOAD["requirements"]
    kinds = [entity["label"] for entity in line["entities"]]
    drawn = [at for at, kind in enumerate(kinds) if kind == "Requirement/security"]
    line["entities"][drawn[-1]]["label"] = "Requirement/data"  # what was the second
    gone = {entity["id"] for entity in line["entities"] if entity["label"].startswith("Question/")}
    line["entities"] = [entity for entity in line["entities"] if entity["id"] not in gone][::-1]
    line["relations"] = [
        relation for relation in line["relations"] if relation["from_id"] not in gone
    ]

    ((back,),) = [one.answers for one in read("doccano", json.dumps(line).encode())]

    kept, changed = back.payload["requirements"]
    assert kept == first
    assert {**changed, "uid": ""} == {
        "uid": "",
        "type": "data",
        "source_messages": second["source_messages"],
    }
    assert "questions" not in back.payload
    for key in ("arcs", "events", "inferred_requirements", "issues", "ratings"):
        assert back.payload[key] == rich.PAYLOAD[key]


def test_what_version_0_4_wrote_for_doccano_is_read_whole():
    *back, skipped = read("doccano", b"".join(OF_0_4))

    assert [one.turns for one in back] == [rich.TURNS] * 3
    assert [one.answers[0] for one in back] == list(rich.labeled().answers)
    assert skipped.answers[0].payload == {
        "requirements": [{"uid": "r1", "title": "Ship", "source_messages": []}],
        "arcs": [{"uid": "a1", "phases": [{"uid": "p1", "evidence": []}]}],
        "events": [{"uid": "e1", "trigger": None, "arguments": []}],
    }
