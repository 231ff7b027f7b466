"""Every format is written and read with everything that a label can hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest

from labeling.conversations.formats.answers import (
    FileAnswer,
    FileConversation,
    LineFault,
)
from labeling.domain.facts import Fact
from labeling.exchange.formats import native
from labeling.schema import LAYERS, check_payload
from tests.labeling.domain.formats import rich


def written(given: FileConversation) -> bytes:
    return f"{native.write(given)}\n".encode()


def read(data: bytes) -> list[FileConversation]:
    result = list(native.read(BytesIO(data)))
    assert not [one for one in result if isinstance(one, LineFault)], result
    return [one[1] for one in result]


def there_and_back(
    given: FileConversation,
) -> list[tuple[FileConversation, FileAnswer, FileAnswer]]:
    back = [(one, answer) for one in read(written(given)) for answer in one.answers]
    return [(one, before, after) for before, (one, after) in zip(given.answers, back, strict=True)]


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


@pytest.mark.parametrize("layer", LAYERS)
def test_nothing_of_a_layer_is_lost(layer):
    given = rich.answer(payload=rich.only(layer))

    ((_, before, after),) = there_and_back(rich.labeled(given))

    key = LAYERS[layer].key
    assert before.payload[key] == after.payload[key]


def test_nothing_of_an_answer_or_a_conversation_is_lost():
    pairs = there_and_back(rich.labeled())

    assert [before for _, before, _ in pairs] == [after for _, _, after in pairs]
    for one, _, _ in pairs:
        assert (one.id, one.turns) == ("shop/017 😀", rich.TURNS)
        assert (one.domain, one.difficulty, one.split) == ("retail", "hard", "test")


# --- places -------------------------------------------------------------------------------------


# --- files that are wrong -----------------------------------------------------------------------


def faults(data: bytes) -> list[LineFault]:
    return [one for one in native.read(BytesIO(data)) if isinstance(one, LineFault)]


@pytest.mark.parametrize("data", [b"", b" \n\n"])
def test_an_empty_file_is_a_fault(data):
    assert faults(data) == [LineFault(None, Fact("file.empty"))]


@pytest.mark.parametrize("line", [b"{", b"[]", b"1", b"\xff", b"{}", b'{"a": NaN}', b"[" * 99999])
def test_a_bad_line_is_a_fault_with_its_number(line):
    (fault,) = faults(b"\n" + line + b"\n")

    assert fault.line == 2


def test_no_field_of_another_type_breaks_the_reader():
    document = json.loads(written(rich.labeled(rich.answer())))
    for path in _paths(document):
        for wrong in (None, 1, -1, "x", [], {}, [None], True):
            data = json.dumps(_with(document, path, wrong)).encode()
            list(native.read(BytesIO(data)))  # a fault or an answer, never an exception


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
