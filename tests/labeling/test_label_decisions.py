"""What was decided about labels goes with them from one project to another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from labeling.core import acting
from labeling.models import Adjudication, Event, Project
from labeling.settling import adjudications
from tests.factories import make_people
from tests.labeling.label_files import (
    PAYLOAD,
    export,
    labeled_project,
    make_project,
    refused,
    run,
)

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


@pytest.fixture
def people() -> dict[str, User]:
    return make_people()


@pytest.fixture
def source(people: dict[str, User]) -> Project:
    """Rita decided twice about the requirements, and once about what follows from them."""
    project = labeled_project()
    for reason in ("Ana is right", "Ana is right, see 2.1"):
        decide(project, "extraction", people["rita"], reason, guideline_flag=True, kind="guideline")
    decide(project, "inference", people["rita"], "It follows", kind="ambiguous")
    return project


@pytest.fixture
def target(people: dict[str, User]) -> Project:
    return make_project("target")


def decide(project: Project, layer: str, by: User, reason: str, **more: Any) -> Adjudication:
    key = {"extraction": "requirements", "inference": "inferred_requirements"}[layer]
    labels = [{**one, "adopted_from": "ana"} for one in PAYLOAD[key]]
    return adjudications.decide(
        conversation=project.conversations.get(),
        layer=layer,
        payload={key: labels},
        reason=reason,
        by=by,
        **more,
    )


def decisions_of(project: Project) -> list[tuple[Any, ...]]:
    rows = Adjudication.objects.filter(conversation__project=project).select_related("guideline")
    return [
        (
            row.layer,
            row.version,
            row.payload,
            row.reason,
            row.kind,
            row.guideline_flag,
            row.guideline.version,
            row.decided_by.username,
            row.decided_at,
        )
        for row in rows
    ]


def changed(path: Path, **decision: Any) -> Path:
    line = json.loads(path.read_text("utf-8"))
    line["decisions"][0] |= decision
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return path


def test_a_label_that_was_adopted_from_a_suggestion_is_read_back(source, target, tmp_path):
    (path,) = export(source, tmp_path)
    line = json.loads(path.read_text("utf-8"))
    label = line["decisions"][0]["labels"][0] | {"adopted_from": None}

    run(changed(path, labels=[label]))

    assert len(decisions_of(target)) == 3


def test_decisions_go_once_with_the_answers_they_are_about_and_stay_whose_they_are(
    source, target, tmp_path
):
    files = export(source, tmp_path)
    assert "Decisions about them: 3 new." in run(*files)
    assert "Decisions" not in run(*files)
    assert "Decisions" not in run(*files, project=source.slug)
    assert len(decisions_of(target)) == 3
    assert decisions_of(target) == decisions_of(source)
    assert not Event.objects.filter(verb="adjudication.decided", project=target).exists()
    assert acting.is_console(Event.objects.get(verb="decisions.imported").actor)


def test_what_was_decided_here_since_stands(source, target, tmp_path):
    run(*export(source, tmp_path))
    rita = User.objects.get(username="rita")
    decide(source, "extraction", rita, "Elsewhere")
    decide(target, "extraction", rita, "Here")

    said = run(*export(source, tmp_path / "later"))

    assert "Left out: 1 decisions older than those made here." in said
    assert Adjudication.objects.filter(conversation__project=target).latest("pk").reason == "Here"


def test_a_decision_about_labels_that_stand_no_more_is_taken_over(source, target, tmp_path):
    (path,) = export(source, tmp_path)
    line = json.loads(path.read_text("utf-8"))
    for one in line["decisions"]:
        for label in one["labels"]:
            label["triggered_by"] = ["gone"] if "triggered_by" in label else None
            if label["triggered_by"] is None:
                del label["triggered_by"]
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")

    run(path)

    assert len(decisions_of(target)) == 3


def test_people_in_a_decision_have_the_names_that_they_have_here(source, target, tmp_path, people):
    (path,) = export(source, tmp_path)
    User.objects.filter(username="ana").update(email="ana@example.org")
    text = path.read_text("utf-8").replace('"ana"', '"ana@example.org"')
    path.write_text(text, encoding="utf-8")

    run(path)

    assert decisions_of(target)[0][2] == decisions_of(source)[0][2]


@pytest.mark.parametrize(
    ("decision", "reason"),
    [
        ({"decided_by": "nora"}, "a decision: nobody called “nora” is in the project"),
        ({"kind": "mood"}, "“mood” is not a kind of decision"),
        ({"guideline_version": 7}, "was made under version 7 of the guidelines"),
        ({"labels": [{"uid": "u1"}]}, "are not complete"),
        ({"labels": "none"}, "decisions[0].labels must be a list"),
        ({"layer": "moods"}, "decisions[0].layer must be one of extraction"),
        ({"reason": " "}, "decisions[0].reason must be text and not empty"),
        ({"guideline_flag": "yes"}, "decisions[0].guideline_flag must be true or false"),
        ({"reason": "\u200b"}, "a decision: it is without a reason"),
        ({"decided_at": "2999-01-01T00:00:00Z"}, "which has not come yet"),
        ({"labels": [{"uid": "a", "adopted_from": 7}]}, "labels[0].adopted_from must be a list"),
        ({"labels": [{"uid": "a", "adopted_from": [["x"]]}]}, "adopted_from must be text"),
        ({"labels": [{"uid": "a", "uids": ["ana"]}]}, "labels[0].uids must be an object"),
        ({"labels": [{"uid": "a", "uids": {"ana": ["x"]}}]}, "labels[0].uids must be text"),
        ({"labels": [{"uid": "a", "uids": {"nora": "x"}}]}, "nobody called “nora”"),
        ({"labels": [{"uid": "a", "uids": {"ana": "\x00"}}]}, "character that cannot be stored"),
        ({"labels": [{"uid": "a", "title": "\x00"}]}, "a decision: "),
    ],
)
def test_a_decision_that_cannot_be_taken_stores_nothing(source, target, tmp_path, decision, reason):
    (path,) = export(source, tmp_path)

    (said,) = refused(changed(path, **decision))

    assert said.startswith("labels.jsonl:1: ")
    assert reason in said
    assert decisions_of(target) == []


def test_a_layer_that_is_not_labeled_is_not_decided_either(source, people, tmp_path):
    make_project("target", layers=["extraction"])
    (path,) = export(source, tmp_path)
    line = json.loads(path.read_text("utf-8"))
    for one in line["answers"]:
        one["labels"] = {
            key: labels for key, labels in one["labels"].items() if key == "requirements"
        }
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")

    (said,) = refused(path)

    assert "the project does not label “inference”" in said


def test_nobody_decides_alone_about_what_only_they_labeled(source, target, tmp_path):
    (path,) = export(source, tmp_path)
    line = json.loads(path.read_text("utf-8"))
    line["answers"] = [answer for answer in line["answers"] if answer["annotator"] == "ana"]
    line["decisions"] = [line["decisions"][0] | {"decided_by": "ana"}]
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")

    (said,) = refused(path)

    assert "somebody else has to decide about it" in said


def test_labels_without_their_text_are_held_against_what_is_stored(source, target, tmp_path):
    (path,) = export(source, tmp_path)
    line = json.loads(path.read_text("utf-8"))
    del line["messages"]
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")

    run(path)

    assert decisions_of(target) == decisions_of(source)
