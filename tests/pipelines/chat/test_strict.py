"""Schemas to which a server can bind a reply."""

from __future__ import annotations

from pipelines.chat.strict import strict
from pipelines.memory.query.reading import schema_of


def test_what_a_schema_refers_to_is_put_in_its_place() -> None:
    asked = strict(schema_of(5))

    assert asked is not None
    phase = asked["properties"]["phases"]["items"]
    assert phase["required"] == ["title", "summary", "evidence"]
    assert phase["additionalProperties"] is False
    assert "$defs" not in asked


def test_a_schema_that_holds_itself_is_not_strict() -> None:
    tree = {
        "type": "object",
        "properties": {"inner": {"$ref": "#/$defs/Tree"}},
        "required": ["inner"],
    }

    assert strict({**tree, "$defs": {"Tree": tree}}) is None
    assert (
        strict({"type": "object", "properties": {"a": {"$ref": "#/x"}}, "required": ["a"]}) is None
    )
