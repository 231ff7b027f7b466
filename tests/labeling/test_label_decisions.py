"""What was decided about labels goes with them from one project to another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from labeling.domain.similarity import Ruler
from labeling.models import Adjudication, Event, Project
from labeling.services import adjudications, gold
from tests.factories import make_people
from tests.fakes import WordOverlap
from tests.labeling.domain.formats import rich
from tests.labeling.test_label_files import (
    export,
    labelled_project,
    make_project,
    refused,
    run,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> dict[str, User]:
    return make_people()


@pytest.fixture
def source(people: dict[str, User]) -> Project:
    """Rita decided twice about the requirements, and once about what follows from them."""
    project = labelled_project()
    for reason in ("Ana is right", "Ana is right, see 2.1"):
        decide(project, "extraction", people["rita"], reason, guideline_flag=True, kind="guideline")
    decide(project, "inference", people["rita"], "It follows", kind="ambiguous")
    return project


@pytest.fixture
def target(people: dict[str, User]) -> Project:
    return make_project("target")


def decide(project: Project, layer: str, by: User, reason: str, **more: Any) -> Adjudication:
    key = {"extraction": "requirements", "inference": "inferred_requirements"}[layer]
    labels = [{**one, "adopted_from": "ana"} for one in rich.PAYLOAD[key]]
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
            one.layer,
            one.version,
            one.payload,
            one.reason,
            one.kind,
            one.guideline_flag,
            one.guideline.version,
            one.decided_by.username,
            one.decided_at,
        )
        for one in rows
    ]


def changed(path: Path, **decision: Any) -> Path:
    line = json.loads(path.read_text("utf-8"))
    line["decisions"][0] |= decision
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return path


def test_decisions_go_with_the_answers_they_are_about(source, target, tmp_path):
    said = run(*export(source, tmp_path))

    assert len(decisions_of(target)) == 3
    assert decisions_of(target) == decisions_of(source)
    assert "Decisions about them: 3 new." in said


def test_a_second_import_decides_nothing_again(source, target, tmp_path):
    files = export(source, tmp_path)
    run(*files)

    assert "Decisions" not in run(*files)
    assert "Decisions" not in run(*files, project=source.slug)
    assert len(decisions_of(target)) == 3


def test_a_decision_about_answers_that_are_known_comes_in_later(source, target, tmp_path):
    run(*export(source, tmp_path))
    rita = User.objects.get(username="rita")
    decide(source, "extraction", rita, "Ben is right after all")

    said = run(*export(source, tmp_path / "later"))

    assert "0 new (0 empty, 0 skipped), 3 unchanged\nDecisions about them: 1 new." in said
    assert decisions_of(target) == decisions_of(source)
    assert Event.objects.filter(verb="labels.imported").latest("pk").data["decisions"] == 1


def test_who_imports_is_not_said_to_have_decided_nor_the_other_way_round(source, target, tmp_path):
    run(*export(source, tmp_path))

    events = Event.objects.filter(verb="adjudication.decided", project=target)
    assert [one.actor for one in events] == [None] * 3  # from a terminal
    assert {one.decided_by.username for one in Adjudication.objects.all()} == {"rita"}


def test_gold_of_a_project_that_moved_is_the_same(source, target, tmp_path):
    run(*export(source, tmp_path))

    was, now = (
        gold.freeze(project=one, layer="extraction", ruler=Ruler(WordOverlap())).items.get()
        for one in (source, target)
    )

    assert now.content["provenance"]["adjudicated_by"] == "rita"
    assert now.sha256 == was.sha256


@pytest.mark.parametrize(
    ("decision", "reason"),
    [
        ({"decided_by": "nora"}, "a decision: nobody called 'nora' is in the project"),
        ({"kind": "mood"}, "'mood' is no kind of decision"),
        ({"guideline_version": 7}, "was made under version 7 of the guidelines"),
        ({"labels": [{"uid": "u1"}]}, "are not complete"),
        ({"labels": "none"}, "decisions[0].labels must be a list"),
        ({"layer": "moods"}, "decisions[0].layer must be one of extraction"),
        ({"reason": " "}, "decisions[0].reason must be text and not empty"),
        ({"guideline_flag": "yes"}, "decisions[0].guideline_flag must be true or false"),
    ],
)
def test_a_decision_that_cannot_be_taken_stores_nothing(source, target, tmp_path, decision, reason):
    (path,) = export(source, tmp_path)

    (said,) = refused(changed(path, **decision))

    assert said.startswith("labels.jsonl:1: ")
    assert reason in said
    assert decisions_of(target) == []


def test_nobody_decides_alone_about_what_only_they_labelled(source, target, tmp_path):
    (path,) = export(source, tmp_path)
    line = json.loads(path.read_text("utf-8"))
    line["answers"] = [one for one in line["answers"] if one["annotator"] == "ana"]
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
