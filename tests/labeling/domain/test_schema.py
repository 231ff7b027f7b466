from __future__ import annotations

from typing import Any

import jsonschema
import pytest
import yaml

from labeling.domain.schema import (
    LAYERS,
    check_payload,
    form_fields,
    json_schema,
    yaml_schema,
)

LABEL: dict[str, Any] = {
    "uid": "a1",
    "id": "REQ-001",
    "title": "Order Tracking",
    "type": "functional",
    "actor": "Customer",
    "action": "View the status of an order",
    "condition": None,
    "acceptance_criteria": ["Page shows the status", "Page shows the history"],
    "priority": "must",
    "source_messages": [0, 2],
    "rationale": "Asked for in message 0",
    "confidence": 1,
}


def problems(*labels: Any, complete: bool = True, **options: Any) -> dict[str, str]:
    found = check_payload(
        {"requirements": list(labels)},
        layers=["extraction"],
        message_count=4,
        complete=complete,
        **options,
    )
    return {problem.path: problem.message for problem in found}


def test_a_complete_label_has_no_problem() -> None:
    assert problems(LABEL) == {}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("title", "  ", "This is empty."),
        ("title", "x" * 201, "String should have at most 200 characters."),
        ("type", "", "This is empty."),
        ("type", "wish", "Input should be 'functional'"),
        ("priority", None, "Input should be 'must'"),
        ("acceptance_criteria", ["one", " "], "Write at least two criteria, one per line."),
        ("source_messages", [], "Link at least one message."),
        ("source_messages", [1, 1], "A message is linked twice."),
        ("source_messages", [4], "There is no message 4."),
        ("confidence", 1.5, "Input should be less than or equal to 1."),
        ("id", "R1", "String should match pattern"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(field: str, value: Any, message: str) -> None:
    found = problems(LABEL | {field: value})

    assert found[f"requirements.0.{field}"].startswith(message)


@pytest.mark.parametrize("field", [name for name in LABEL if name not in ("uid", "condition")])
def test_a_submitted_label_lacks_nothing_and_a_draft_may(field: str) -> None:
    partial = {name: value for name, value in LABEL.items() if name != field}

    assert problems(partial) == {f"requirements.0.{field}": "This is empty."}
    assert problems(partial, complete=False) == {}


def test_a_draft_may_hold_blanks() -> None:
    blanks = dict.fromkeys(LABEL, "") | {
        "uid": "a1",
        "id": "REQ-001",
        "confidence": None,
        "acceptance_criteria": [],
        "source_messages": [],
    }

    assert problems(blanks, complete=False) == {}


@pytest.mark.parametrize(
    "label",
    [
        LABEL | {"confidence": "1"},
        LABEL | {"title": 7},
        LABEL | {"colour": "red"},
        LABEL | {"source_messages": [-1]},
        LABEL | {"source_messages": ["1"]},
        LABEL | {"source_messages": 1},
        {name: value for name, value in LABEL.items() if name != "uid"},
        LABEL | {"uid": ""},
        "a label",
        None,
    ],
)
def test_a_broken_shape_is_refused_even_in_a_draft(label: Any) -> None:
    assert problems(label, complete=False)


def test_labels_are_told_apart_by_uid_and_id() -> None:
    found = check_payload(
        {"requirements": [LABEL, LABEL]}, layers=["extraction"], message_count=4, complete=False
    )

    assert [problem.message for problem in found] == [
        "Two labels have the uid a1.",
        "Two labels have the id REQ-001.",
    ]


def test_nothing_here_and_labels_exclude_each_other() -> None:
    assert "empty" in problems(LABEL, empty=True)
    assert "empty" in problems()
    assert problems(empty=True) == {}
    assert problems(complete=False) == {}


def test_a_key_of_no_layer_is_refused() -> None:
    found = check_payload({"wishes": []}, layers=["extraction"], message_count=1, complete=False)

    assert [problem.path for problem in found] == ["wishes"]


def test_the_form_offers_every_field_that_a_person_fills_in() -> None:
    fields = {field["name"]: field for field in form_fields("extraction")}

    assert set(fields) == set(LABEL) - {"uid", "id"}
    assert [choice["value"] for choice in fields["priority"]["choices"]] == [
        "must",
        "should",
        "could",
    ]
    assert all(field["help"] for field in fields.values())


def test_json_schema_and_yaml_say_the_same_and_accept_what_we_accept() -> None:
    schema = json_schema()

    assert yaml.safe_load(yaml_schema()) == schema
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate({"requirements": [LABEL]}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"requirements": [LABEL | {"type": "wish"}]}, schema)
    assert {layer.key for layer in LAYERS.values()} == set(schema["properties"])
