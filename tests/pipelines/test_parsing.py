from __future__ import annotations

import doctest
from typing import Any

import pytest

from pipelines import mending, parsing
from pipelines.chat import failures, redaction
from pipelines.chat.redaction import redacted
from pipelines.parsing import Unparsable, parse_json, schema_problem


@pytest.mark.parametrize("module", [mending, parsing, failures, redaction])
def test_the_examples_hold(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


ASKED = {"type": "object", "properties": {"a": {}, "b": {}}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[1, 2]", [1, 2]),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```\n{"a": 1}\n```', {"a": 1}),
        ('{"a": "```json\\n{}\\n```"}', {"a": "```json\n{}\n```"}),
        ('{"a": 1,}', {"a": 1}),
        ("{'a': 'it'}", {"a": "it"}),
        ('The answer is {"a": "}"} and more', {"a": "}"}),
        ('{"a": "\\"}"} {"b": 2}', {"b": 2}),
        ('<think>{"a": []}?</think>{"a": ["</think>"]} {sic}', {"a": ["</think>"]}),
        ('First {"a": []}, then:\n{"a": [1]}', {"a": [1]}),
        ('{"c": 1}', {"c": 1}),  # what was not asked for is named by the schema
    ],
)
def test_what_can_be_read_is_read(text: str, expected: Any) -> None:
    assert parse_json(text, ASKED) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "reply.empty"),
        ("  \n", "reply.empty"),
        ("No idea.", "reply.no_json"),
        ('{"a": [1, 2', "reply.broken_off"),
        ('{"a": "half a sen', "reply.broken_off"),
        ('```json\n{"a": 1', "reply.broken_off"),
        ('{"a": [0]} was too short: {"a": [1, 2', "reply.broken_off"),
        ('<think>{"a": []}</think>', "reply.only_reasoning"),
        ('<think>{"a": []}', "reply.only_reasoning"),
        ('{"a": 1e999}', "reply.no_number {'name': '1e999'}"),
        ('{"a": -Infinity}', "reply.no_number {'name': '-Infinity'}"),
        ('{"a": 1, "a": 2}', "reply.no_json"),
        ("{" * 5000, "reply.no_json"),
        ("[" * 100_000 + "]" * 100_000, "reply.too_deep"),
    ],
)
def test_what_cannot_be_read_is_never_guessed(text: str, problem: str) -> None:
    with pytest.raises(Unparsable, match=problem):
        parse_json(text, ASKED)


def test_a_problem_with_the_schema_names_its_place() -> None:
    schema = {"properties": {"a": {"items": {"type": "integer"}}}, "required": ["a"]}

    assert schema_problem({"a": [1, "x"]}, schema) == "a.1: 'x' is not of type 'integer'"
    assert schema_problem({}, schema) == "the reply: 'a' is a required property"
    assert schema_problem({"a": []}, schema) == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Bearer abc.def-123", "Bearer [key]"),
        ("key sk-proj-a1B2c3D4e5 used", "key [key] used"),
        ("hidden secret-7", "hidden [key]"),
        ("https://user:pw@host/v1", "https://[key]@host/v1"),
        ("risk-averse task-oriented", "risk-averse task-oriented"),
        ("a cat", "a cat"),
    ],
)
def test_a_key_is_taken_out_of_a_text(text: str, shown: str) -> None:
    assert redacted(text, ["secret-7", "cat", ""]) == shown
