"""Samples and the labels that were saved about them become conversations and answers."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest

from labeling.conversations.formats import samples
from labeling.conversations.formats.answers import FileConversation, LineFault, Unnamed
from labeling.conversations.rules.importing import Problem, Record
from labeling.exchange.formats import sample_labels
from labeling.schema import check_payload
from labeling.schema.layers import stages
from tests.layers import REQUIREMENT

SAID = ["We need a way to book quickly.", "On the phone?", "No, online."]
TALK = {
    "domain": "restaurants",
    "difficulty": "Easy",
    "conversation": [
        {"role": role, "content": text}
        for role, text in zip(("user", "analyst", "user"), SAID, strict=True)
    ],
}
BOOKING = {
    **{name: value for name, value in REQUIREMENT.items() if name != "uid"},
    "title": "Online Booking",
    "action": "Book a table quickly",
    "acceptance_criteria": ["Booked without a call", "Confirmed quickly"],
    "source_messages": [0, 2],
    "rationale": "Asked for",
    "confidence": 1.0,
}
INFERRED = {
    "requirement": {
        **BOOKING,
        "id": "REQ-009",
        "title": "Booking Protection",
        "source_messages": [],
        "rationale": "Forms are open to programs",
        "confidence": 0.7,
    },
    "inference_type": "security",
    "triggered_by": ["REQ-001"],
    "necessity": "recommended",
    "rationale": "Forms are open to programs",
    "confidence": 0.7,
}
ISSUE = {
    "issue_type": "untestable",
    "severity": "warning",
    "field": "action",
    "location": "quickly",
    "message": "No time is named",
    "suggested_fix": "Book a table within two minutes",
}


def saved(**changes: Any) -> dict[str, Any]:
    return {"sample_id": "sample_001", "annotator": "ana", "requirements": [BOOKING]} | changes


def entries(document: Any, name: str = "labels.json", **unnamed: str) -> list[Any]:
    text = document if isinstance(document, str) else json.dumps(document)
    stream = BytesIO(text.encode())
    return list(sample_labels.read(stream, name=name, unnamed=Unnamed(**unnamed)))


def labeled(document: Any, name: str = "labels.json", **unnamed: str) -> FileConversation:
    [(_, conversation)] = entries(document, name, **unnamed)
    assert isinstance(conversation, FileConversation)
    return conversation


def payload(document: Any) -> Any:
    """What is converted is a complete answer on the layers that it names."""
    conversation = labeled(document)
    [answer] = conversation.answers
    found = check_payload(
        answer.payload,
        layers=stages(),
        message_count=3,
        complete=True,
        empty=answer.empty,
        messages=SAID,
    )
    assert found == []
    return answer.payload


def losses(document: Any) -> list[tuple[str, Any]]:
    return [(note.why.code, note.why.values["path"]) for note in labeled(document).notes]


def refusals(document: Any, name: str = "labels.json") -> list[tuple[int | None, str]]:
    read = entries(document, name)
    return [(entry.line, entry.reason.code) for entry in read if isinstance(entry, LineFault)]


# --- conversations --------------------------------------------------------------------------------


def talks(text: str, name: str) -> list[Any]:
    return list(samples.read_conversations(BytesIO(text.encode()), name=name))


def test_a_sample_is_called_like_its_file_and_says_what_it_is_about():
    [(line, record)] = talks(json.dumps(TALK, indent=2), "sample_001.json")

    assert (line, record.id, record.domain, record.difficulty) == (
        1,
        "sample_001",
        "restaurants",
        "easy",
    )
    assert [(turn.role, turn.content) for turn in record.turns][1] == ("analyst", "On the phone?")
    assert record.left_out == ()


@pytest.mark.parametrize("written", ["lines", "list"])
def test_several_samples_of_a_file_have_ids_of_their_own(written):
    named = TALK | {"sample_id": "named", "metadata": {"split": "dev"}}
    parts = [json.dumps(talk) for talk in (TALK, named, TALK)]
    text = "\n".join(parts) if written == "lines" else f"[{','.join(parts)}]"

    records = [entry[1] for entry in talks(text, "pilot.json")]

    assert [record.id for record in records] == ["pilot", "named", "pilot-3"]
    assert [record.split for record in records] == ["", "dev", ""]


def test_what_a_conversation_has_no_place_for_is_named():
    odd = {"role": "user", "content": "Hi", "mood": "glad"}
    talk = TALK | {"seed": 7, "requirements": [BOOKING], "conversation": [odd, odd]}

    [(_, record)] = talks(json.dumps(talk), "a.json")

    assert isinstance(record, Record)
    assert [each.reason.values["path"] for each in record.left_out] == [
        "conversation[0].mood",
        "conversation[1].mood",
        "seed",
    ]  # labels are another import


def test_samples_in_yaml_and_what_is_none():
    turns = "- {role: user, content: No}\n- {role: analyst, content: Why}\n"
    text = f"domain: shop\nconversation:\n{turns}"
    [(line, record)] = talks(text, "a.yaml")
    assert (line, [turn.content for turn in record.turns]) == (1, ["No", "Why"])

    assert [type(entry) for entry in talks('{"domain": "x"}', "a.json")] == [Problem]
    assert [type(entry) for entry in talks("domain: [", "a.yml")] == [Problem]
    assert [type(entry) for entry in talks("", "a.yml")] == [Problem]
    empty = TALK | {"conversation": [{"role": "user", "content": ""}] * 2}
    assert [type(entry) for entry in talks(json.dumps(empty), "a.json")] == [Problem]


# --- answers --------------------------------------------------------------------------------------


def test_saved_labels_are_an_answer_with_generated_uids():
    document = saved(labeled_at="2026-01-31T14:05:00.000Z")

    conversation = labeled(document)

    [answer] = conversation.answers
    [label] = answer.payload["requirements"]
    uid = label.pop("uid")
    assert label == BOOKING
    assert (conversation.id, answer.annotator, answer.empty) == ("sample_001", "ana", False)
    assert str(answer.submitted_at) == "2026-01-31 14:05:00+00:00"
    assert set(stages()) & set(answer.unanswered) == {"inference", "validation"}
    assert conversation.notes == ()
    assert payload(document) == payload(document)
    assert payload(saved(annotator="ben"))["requirements"][0]["uid"] != uid


def test_an_empty_list_says_that_nothing_is_there():
    [answer] = labeled(saved(requirements=[])).answers

    assert answer.empty
    assert "extraction" not in answer.unanswered


def test_all_three_stages_are_converted():
    document = saved(inferred_requirements=[INFERRED], issues=[ISSUE])

    labels = payload(document)

    [booking], [inferred], [issue] = labels.values()
    assert inferred["id"] == "INF-009"
    assert inferred["triggered_by"] == [booking["uid"]]
    assert inferred["rationale"] == "Forms are open to programs"
    assert issue["requirement"] == booking["uid"]
    assert issue["span"] == {"start": 13, "end": 20, "text": "quickly"}
    assert losses(document) == [("sample.renamed", "inferred_requirements[0].id")]


def test_what_an_inference_says_twice_is_joined_or_named():
    inner = INFERRED["requirement"] | {
        "rationale": "Inner",
        "confidence": 0.2,
        "source_messages": [1],
    }
    document = saved(inferred_requirements=[INFERRED | {"requirement": inner}])

    [inferred] = payload(document)["inferred_requirements"]

    assert inferred["rationale"] == "Forms are open to programs\n\nInner"
    assert inferred["confidence"] == 0.7
    path = "inferred_requirements[0].requirement"
    assert losses(document)[:2] == [
        ("sample.left_out", f"{path}.source_messages"),
        ("sample.left_out", f"{path}.confidence"),
    ]


@pytest.mark.parametrize(
    ("changes", "field", "text"),
    [
        ({"field": "REQ-001.action"}, "action", "quickly"),
        ({"field": "Acceptance Criteria"}, "acceptance_criteria", "quickly"),
        ({"field": "REQ-001: acceptance_criteria[1]"}, "acceptance_criteria", "quickly"),
        ({"location": "REQ-001: “Quickly”"}, "action", "quickly"),
        ({"location": "REQ-001"}, "action", None),
        ({"location": ""}, "action", None),
        ({"location": None, "requirement": "REQ-001"}, "action", None),
        ({"requirement_id": "REQ-001"}, "action", "quickly"),
    ],
)
def test_the_place_of_an_issue_is_read_from_each_of_its_forms(changes, field, text):
    second = BOOKING | {"id": "REQ-002", "action": "Pay", "acceptance_criteria": ["It", "works"]}
    if not {"requirement", "requirement_id"} & set(changes) and "REQ" not in str(changes):
        changes = changes | {"requirement": "REQ-001"}

    labels = payload(saved(requirements=[BOOKING, second], issues=[ISSUE | changes]))

    [issue] = labels["issues"]
    assert issue["requirement"] == labels["requirements"][0]["uid"]
    assert (issue["field"], (issue["span"] or {}).get("text")) == (field, text)


def test_a_numbered_criterion_is_where_its_words_are_looked_for():
    booking = BOOKING | {"acceptance_criteria": ["Booked quickly", "Confirmed quickly"]}
    issue = ISSUE | {"field": "acceptance_criteria[1]"}
    document = saved(requirements=[booking], issues=[issue])

    # the first has 14 characters and a line end, and “Confirmed ” has 10
    assert payload(document)["issues"][0]["span"]["start"] == 25
    assert losses(document) == []


def test_an_issue_that_names_no_requirement_is_about_the_only_one_that_holds_its_words():
    second = BOOKING | {"id": "REQ-002", "action": "Pay"}

    labels = payload(saved(requirements=[second, BOOKING], issues=[ISSUE]))

    assert labels["issues"][0]["requirement"] == labels["requirements"][1]["uid"]


def test_words_that_are_not_in_the_field_are_named_and_the_issue_stays():
    document = saved(issues=[ISSUE | {"location": "slowly"}])

    assert payload(document)["issues"][0]["span"] is None
    assert losses(document) == [("sample.words_elsewhere", "issues[0].location")]
    twice = saved(requirements=[BOOKING | {"action": "Go quickly, quickly"}], issues=[ISSUE])
    assert payload(twice)["issues"][0]["span"]["start"] == 3
    assert losses(twice) == [("sample.words_twice", "issues[0].location")]


def test_ids_of_other_shapes_get_new_ones_and_references_follow():
    first, second = BOOKING | {"id": "R1"}, BOOKING | {"id": "REQ-001", "title": "Other"}
    none = {key: value for key, value in BOOKING.items() if key != "id"}
    inferred = INFERRED | {"triggered_by": "R1"}
    document = saved(requirements=[first, second, none], inferred_requirements=[inferred])

    labels = payload(document)

    assert [label["id"] for label in labels["requirements"]] == ["REQ-002", "REQ-001", "REQ-003"]
    assert labels["inferred_requirements"][0]["triggered_by"] == [labels["requirements"][0]["uid"]]
    assert losses(document)[0] == ("sample.renamed", "requirements[0].id")


def test_spellings_and_lines_that_mean_the_same_are_read_without_a_loss():
    odd = {
        "type": "Non_Functional",
        "priority": "Must",
        "acceptance_criteria": ["Booked without a call\nConfirmed", ""],
        "condition": "",
        "source_messages": [0.0, 2],
        "rationale": "Line\r\nend",
    }

    [label] = payload(saved(requirements=[BOOKING | odd]))["requirements"]

    assert label["type"] == "non-functional"
    assert label["priority"] == "must"
    assert label["acceptance_criteria"] == ["Booked without a call", "Confirmed"]
    assert label["condition"] is None
    assert label["source_messages"] == [0, 2]
    assert label["rationale"] == "Line\nend"
    assert losses(saved(requirements=[BOOKING | odd])) == []


def test_every_other_loss_is_named_with_what_was_lost():
    label = BOOKING | {"note": "see mail", "tags": [], "source_messages": [0, 0]}
    document = saved(requirements=[label], tool={"version": 3})

    assert losses(document) == [
        ("sample.left_out", "tool"),
        ("sample.message_twice", "requirements[0].source_messages"),
        ("sample.left_out", "requirements[0].note"),
    ]
    left = labeled(document).notes[2].why.values["value"]
    assert left == "see mail"


def test_a_list_in_yaml_takes_its_names_from_the_person_and_the_file():
    text = "- id: REQ-001\n  title: No\n  extra: 1\n- id: REQ-002\n  title: Yes\n"

    conversation = labeled(text, "sample_007.yaml", annotator="ana")

    assert conversation.id == "sample_007"
    titles = [label["title"] for label in conversation.answers[0].payload["requirements"]]
    assert titles == ["No", "Yes"]
    assert [(note.line, note.why.values["path"]) for note in conversation.notes] == [
        (3, "[0].extra")
    ]
    assert labeled(json.dumps([BOOKING]), annotator="a", conversation="b").id == "b"


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("- id: REQ-001\n- id: REQ-001\n", 2, "schema.repeated_name"),
        ("requirements:\n- {}\n- 3\n", 3, "file.must_be_object"),
        ("requirements: 3\n", 1, "file.must_be_list"),
        ("requirements: []\nextraction_labels: {}\n", 2, "sample.two_sections"),
        ("extraction_labels:\n  requirments: []\n", 2, "file.unknown_key"),
        ("requirements: []\nlabeled_at: soon\n", 1, "file.not_a_time"),
        ("annotator: ana\n", 1, "sample.no_labels"),
        ("issues:\n- field: action\n", 2, "sample.which_requirement"),
        ("issues:\n- field: action\n  requirement: REQ-9\n", 2, "sample.unknown_label"),
        ("inferred_requirements:\n-\n  triggered_by:\n  - REQ-9\n", 3, "sample.unknown_label"),
        ("inferred_requirements:\n- id: 1\n  requirement: A text\n", 3, "file.must_be_object"),
        ("requirements:\n- a: [\n", 3, "yaml.not_yaml"),
    ],
)
def test_what_cannot_be_converted_is_refused_with_its_line(text, line, code):
    [refused] = entries(text, "labels.yaml", annotator="ana")

    assert isinstance(refused, LineFault)
    assert (refused.line, refused.reason.code) == (line, code)


def test_nobody_is_invented():
    assert refusals([BOOKING]) == [(1, "sample.no_annotator")]
    assert refusals(saved(annotator=None)) == [(1, "sample.no_annotator")]
    assert refusals("{") == [(1, "file.not_json")]


def test_other_names_and_metadata_of_a_sample_are_named_as_left_out():
    head = {
        "sample_id": "B",
        "id": ["A"],
        "domain": "restaurants",
        "metadata": {"domain": "bars", "difficulty": "easy", "recorded": "by telephone"},
    }
    talk = json.dumps({**head, "conversation": TALK["conversation"]}).encode()
    labels = json.dumps({**head, "annotator": "kim", "requirements": []}).encode()

    ((_, record),) = samples.read_conversations(BytesIO(talk), name="x.json")
    ((_, labeled),) = sample_labels.read(BytesIO(labels), name="x.json", unnamed=Unnamed())

    assert isinstance(record, Record)
    assert isinstance(labeled, FileConversation)
    named = {("id", "['A']"), ("metadata.domain", "bars"), ("metadata.recorded", "by telephone")}
    assert {(each.reason.values["path"], each.text) for each in record.left_out} == named
    assert {(each.why.values["path"], each.why.values["value"]) for each in labeled.notes} == named
