from __future__ import annotations

from typing import Any

import jsonschema
import pytest
import yaml

from labeling.schema import (
    LAYERS,
    check_payload,
    form_fields,
    form_layers,
    json_schema,
    yaml_schema,
)
from labeling.words import in_english
from tests.layers import REQUIREMENT

LABEL = REQUIREMENT | {"uid": "a1", "source_messages": [0, 2], "confidence": 1}


def problems(*labels: Any, complete: bool = True, **options: Any) -> dict[str, str]:
    result = check_payload(
        {"requirements": list(labels)},
        layers=["extraction"],
        message_count=4,
        complete=complete,
        **options,
    )
    return {problem.path: in_english(problem.fact) for problem in result}


def test_a_draft_may_hold_blanks():
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
def test_a_broken_shape_is_refused_even_in_a_draft(label):
    assert problems(label, complete=False)


def test_labels_are_told_apart_by_uid_and_id():
    result = check_payload(
        {"requirements": [LABEL, LABEL]}, layers=["extraction"], message_count=4, complete=False
    )

    assert [in_english(problem.fact) for problem in result] == [
        "Two labels have the uid a1.",
        "Two labels have the id REQ-001.",
    ]


def test_nothing_here_and_labels_exclude_each_other():
    assert "empty" in problems(LABEL, empty=True)
    assert "empty" in problems()
    assert problems(empty=True) == {}
    assert problems(complete=False) == {}


def test_the_form_offers_every_field_that_a_person_fills_in():
    fields = {field["name"]: field for field in form_fields("extraction")}

    assert set(fields) == set(LABEL) - {"uid", "id"}
    assert [choice["value"] for choice in fields["priority"]["choices"]] == [
        "must",
        "should",
        "could",
    ]
    assert all(field["help"] for field in fields.values())


def test_json_schema_and_yaml_say_the_same_and_accept_what_we_accept():
    schema = json_schema()

    assert yaml.safe_load(yaml_schema()) == schema
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate({"requirements": [LABEL]}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"requirements": [LABEL | {"type": "wish"}]}, schema)
    assert {layer.key for layer in LAYERS.values()} == set(schema["properties"])


MESSAGES = ["Ship it 🚀 on Monday", "Refund Ana", "Fine", "Bye"]
EVENTS = {"shipping": ["item", "time"], "refund": ["person"]}


def span(message: int, text: str) -> dict[str, Any]:
    start = MESSAGES[message].index(text)
    return {"message": message, "start": start, "end": start + len(text), "text": text}


SHARED = {name: value for name, value in LABEL.items() if name != "source_messages"}
COMPLETE: dict[str, dict[str, Any]] = {
    "extraction": LABEL,
    "inference": SHARED
    | {
        "uid": "i1",
        "id": "INF-001",
        "inference_type": "security",
        "triggered_by": ["a1"],
        "necessity": "necessary",
    },
    "validation": {
        "uid": "v1",
        "requirement": "a1",
        "issue_type": "ambiguous_verb",
        "severity": "warning",
        "field": "action",
        "span": {"start": 0, "end": 4, "text": "View"},
        "message": "What does view mean?",
        "suggested_fix": "Show the status of an order",
    },
    "qa": {
        "uid": "q1",
        "question": "When is it shipped?",
        "answer": "On Monday",
        "evidence": [0],
        "category": "temporal",
    },
    "arc": {
        "uid": "n1",
        "question": "How did the order go?",
        "phases": [
            {"uid": "p1", "title": "Shipped", "time_range": "Monday", "evidence": [0]},
            {"uid": "p2", "title": "Refunded", "time_range": None, "evidence": [1]},
        ],
    },
    "events": {
        "uid": "e1",
        "type": "shipping",
        "trigger": span(0, "Ship"),
        "arguments": [{"role": "time", "span": span(0, "Monday")}],
    },
    "relevance": {"uid": "r1", "target": "i1", "score": 2},
}


def problems_of(layer: str, label: Any, *, complete: bool = True) -> dict[str, str]:
    """One label beside the others that it may refer to."""
    labels = COMPLETE | {layer: label}
    result = check_payload(
        {LAYERS[name].key: [one] for name, one in labels.items()},
        layers=list(LAYERS),
        message_count=len(MESSAGES),
        messages=MESSAGES,
        event_schema=EVENTS,
        complete=complete,
    )
    prefix = f"{LAYERS[layer].key}.0."
    return {problem.path.removeprefix(prefix): in_english(problem.fact) for problem in result}


@pytest.mark.parametrize("layer", COMPLETE)
def test_a_complete_label_of_each_layer_has_no_problem(layer):
    assert problems_of(layer, COMPLETE[layer]) == {}


@pytest.mark.parametrize(
    ("layer", "field"),
    [
        (layer, name)
        for layer, label in COMPLETE.items()
        for name in label
        if name not in ("uid", "condition", "span", "arguments")
    ],
)
def test_each_layer_must_be_complete_and_its_drafts_need_not(layer, field):
    partial = {name: value for name, value in COMPLETE[layer].items() if name != field}

    assert problems_of(layer, partial)[field] == "This is empty."
    assert problems_of(layer, partial, complete=False) == {}


@pytest.mark.parametrize(
    ("layer", "changes", "path", "message"),
    [
        ("extraction", {"title": "  "}, "title", "This is empty."),
        ("extraction", {"title": "x" * 201}, "title", "should have at most 200 characters."),
        ("extraction", {"type": ""}, "type", "This is empty."),
        ("extraction", {"type": "wish"}, "type", "Input should be 'functional'"),
        ("extraction", {"priority": None}, "priority", "Input should be 'must'"),
        (
            "extraction",
            {"acceptance_criteria": ["one", " "]},
            "acceptance_criteria",
            "at least two",
        ),
        ("extraction", {"source_messages": []}, "source_messages", "Link at least one message."),
        ("extraction", {"source_messages": [1, 1]}, "source_messages", "is linked twice."),
        ("extraction", {"source_messages": [4]}, "source_messages", "There is no message 4."),
        ("extraction", {"confidence": 1.5}, "confidence", "should be less than or equal to 1."),
        ("extraction", {"id": "R1"}, "id", "String should match pattern"),
        ("extraction", {"origin": "machine"}, "origin", "Input should be"),
        ("inference", {"triggered_by": ["gone"]}, "triggered_by", "names is not there"),
        ("inference", {"triggered_by": []}, "triggered_by", "at least one"),
        ("inference", {"id": "REQ-002"}, "id", "pattern"),
        ("validation", {"requirement": "gone"}, "requirement", "names is not there"),
        ("validation", {"field": "title"}, "span", "does not say this"),
        ("validation", {"field": "confidence"}, "field", "Input should be"),
        ("qa", {"evidence": [4]}, "evidence", "There is no message 4."),
        ("qa", {"evidence": []}, "evidence", "at least one message"),
        ("arc", {"phases": COMPLETE["arc"]["phases"][:1]}, "phases", "at least two phases"),
        ("arc", {"phases": [COMPLETE["arc"]["phases"][0]] * 2}, "phases", "same uid"),
        ("events", {"type": "party"}, "type", "no event type party"),
        ("events", {"type": "refund"}, "arguments.0.role", "refund has no role time"),
        ("relevance", {"target": "gone"}, "target", "names is not there"),
        ("relevance", {"score": 3}, "score", "Input should be 0, 1 or 2"),
        ("relevance", {"score": "2"}, "score", "Input should be 0, 1 or 2"),
    ],
)
def test_what_is_wrong_in_a_layer_is_said_at_its_field(layer, changes, path, message):
    assert message in problems_of(layer, COMPLETE[layer] | changes)[path]


@pytest.mark.parametrize(
    "wrong",
    [
        {"start": 8, "end": 10, "text": "🚀"},  # UTF-16 units: the rocket is one code point
        {"start": 1, "end": 5, "text": "Ship"},
        {"start": 4, "end": 4, "text": ""},
        {"start": 0, "end": 4, "text": "Ship it"},
        {"start": 0, "end": 4, "text": "Ship", "message": 4},
        {"start": -1, "end": 3, "text": "Ship"},
    ],
)
@pytest.mark.parametrize("complete", [True, False])
def test_a_span_quotes_what_stands_at_its_place_even_in_a_draft(wrong, complete):
    label = COMPLETE["events"] | {"trigger": {"message": 0} | wrong}

    assert any(
        path.startswith("trigger") for path in problems_of("events", label, complete=complete)
    )


def test_what_became_stale_never_blocks_a_draft():
    for layer, changes in [
        ("inference", {"triggered_by": ["gone"]}),
        ("validation", {"field": "title"}),
        ("events", {"type": "refund"}),
        ("relevance", {"target": "gone"}),
    ]:
        assert problems_of(layer, COMPLETE[layer] | changes, complete=False) == {}


def test_a_uid_names_one_label_of_the_whole_payload():
    result = problems_of("qa", COMPLETE["qa"] | {"uid": "a1"}, complete=False)

    assert result == {"questions": "Two labels have the uid a1."}


def test_forms_of_events_offer_the_types_and_roles_of_the_project():
    fields = {field["name"]: field for field in form_fields("events", event_schema=EVENTS)}

    assert [choice["value"] for choice in fields["type"]["choices"]] == ["shipping", "refund"]
    assert fields["arguments"]["roles"] == EVENTS
    assert form_fields("events")[0]["choices"] == []


def test_each_layer_tells_a_form_everything_it_needs():
    for layer in form_layers(list(LAYERS)):
        names = {field["name"] for field in layer["fields"]}
        assert {layer["heading"], *layer["badges"]} <= names
        for field in layer["fields"]:
            assert field["help"]
            assert field["label"]
            assert (field["widget"] == "choice") == bool(field["choices"]) or field[
                "name"
            ] == "type"
            assert bool(field["of"]) == (field["widget"] == "references")
            assert bool(field["fields"]) == (field["widget"] in ("phases", "arguments"))


def test_a_project_may_do_without_fields_that_do_not_decide_what_is_the_same():
    label = {
        name: value
        for name, value in LABEL.items()
        if name not in ("acceptance_criteria", "priority", "confidence", "actor")
    }
    around = {"layers": ["extraction"], "message_count": 9, "complete": True}
    open_fields = {"extraction": ["acceptance_criteria", "priority", "confidence", "actor"]}

    problems = check_payload({"requirements": [label]}, open_fields=open_fields, **around)

    assert [problem.path for problem in problems] == ["requirements.0.actor"]
    broken = {"requirements": [LABEL | {"priority": "soon"}]}
    assert check_payload(broken, open_fields=open_fields, **around)
    fields = form_layers(["extraction"], open_fields=open_fields)[0]["fields"]
    required = {field["name"] for field in fields if field["required"]}
    assert {"title", "type", "source_messages"} <= required
    assert not required & {"acceptance_criteria", "priority", "confidence"}
