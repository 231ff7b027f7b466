"""Labels of several annotators leave a project as files and come into another one."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from labeling.models import (
    Annotation,
    AnnotationRevision,
    Conversation,
    Event,
    Project,
)
from labeling.settling import adjudications
from labeling.work import annotations
from labeling.work.stages import with_stage
from tests import factories
from tests.labeling.domain.formats import rich
from tests.labeling.imports import stored
from tests.labeling.label_files import (
    answers_of,
    export,
    labeled_project,
    lines_of,
    make_project,
    refused,
    run,
)

pytestmark = pytest.mark.django_db
DEEP = json.loads("[" * 700 + "]" * 700)


@pytest.fixture
def source(people: dict[str, User]) -> Project:
    return labeled_project()


@pytest.fixture
def target(people: dict[str, User]) -> Project:
    return make_project("target")


def test_labels_of_all_annotators_move_to_another_project(source, target, tmp_path):
    said = run(*export(source, tmp_path))

    assert answers_of(target) == answers_of(source)
    assert said == (
        "3 answers read, 3 new (1 empty, 1 skipped), 0 unchanged\n"
        "By ana, ben, cleo.\nStored as round 1.\n"
    )


def test_imported_answers_are_closed_locked_and_say_who_brought_them(source, target, tmp_path):
    run(*export(source, tmp_path))

    (imported,) = target.rounds.all()
    assert (imported.kind, imported.state, imported.overlap) == ("full", "closed", 3)
    assert imported.override_reason == "Made in the pilot."
    assert Annotation.objects.get(assignment__round=imported, status="submitted", empty=True)
    submitted = Annotation.objects.filter(assignment__round=imported, status="submitted")
    assert all(one.locked_at for one in submitted)
    revisions = AnnotationRevision.objects.filter(annotation__assignment__round=imported)
    assert sorted(revisions.values_list("version", "kind")) == [
        (1, "skipped"),
        (1, "submitted"),
        (1, "submitted"),
    ]
    event = Event.objects.get(verb="labels.imported")
    assert event.data["files"] == ["labels.jsonl"]
    assert (event.data["new"], event.data["rounds"]) == (3, [1])


def test_a_second_import_changes_nothing(source, target, tmp_path):
    path = export(source, tmp_path)[0]
    run(path)
    before = stored()

    assert "3 answers read, 0 new (0 empty, 0 skipped), 3 unchanged" in run(path)
    assert stored() == before


def test_a_dry_run_reports_and_stores_nothing(source, target, tmp_path):
    path = export(source, tmp_path)[0]
    before = stored()

    said = run(path, dry_run=True, reason="")

    assert "3 answers read, 3 new" in said
    assert "--reason will be needed" in said
    assert said.endswith("Dry run: nothing was stored.\n")
    assert stored() == before


def test_the_gate_holds_for_imported_labels(source, target, tmp_path):
    path = export(source, tmp_path)[0]

    with pytest.raises(CommandError, match="say with a reason why they count"):
        run(path, reason=" ")

    assert not target.rounds.exists()


def changed(path: Path, change: Any) -> Path:
    documents = lines_of(path)
    for document in documents:
        change(document)
    path.write_text(
        "".join(json.dumps(document) + "\n" for document in documents), encoding="utf-8"
    )
    return path


def test_unknown_annotators_become_accounts_that_nobody_can_use(source, target, tmp_path):
    path = changed(
        export(source, tmp_path)[0], lambda one: one["answers"][0].update(annotator="dora")
    )

    said = run(path, create_annotators=True)

    dora = User.objects.get(username="dora")
    assert not dora.is_active
    assert not dora.has_usable_password()
    assert not target.memberships.filter(user=dora).exists()
    assert "New inactive accounts: dora." in said
    assert "3 unchanged" in run(path)


def test_nobody_from_outside_of_the_project_is_made_to_have_labeled(source, target, tmp_path):
    path = changed(
        export(source, tmp_path)[0], lambda one: one["answers"][0].update(annotator="olga")
    )

    (said,) = refused(path, create_annotators=True)

    assert "has an account outside of the project" in said


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda one: one["answers"][0].update(annotator="anna"),
            "nobody called “anna” is in the project; add them as a member",
        ),
        (lambda one: one.update(id="other"), "is not in the project"),
        (lambda one: one["messages"][0].update(content="Other."), "its messages are not those"),
        (lambda one: one["answers"][2].update(skip_reason=""), "skipped without a reason"),
        (lambda one: one["answers"][0].update(guideline_version=9), "version 9 of the guidelines"),
        (lambda one: one["answers"][1].update(empty=False), "There is no label"),
        (lambda one: one["answers"][0].update(empty=True), "cannot be combined with labels"),
        (
            lambda one: one["answers"][0]["labels"]["events"][0]["trigger"].update(start=0),
            "events.0.trigger",
        ),
        (
            lambda one: one["answers"][0]["labels"]["requirements"][0].pop("title"),
            "requirements.0.title: This is empty",
        ),
        (lambda one: one["answers"][0].update(labels={"nope": [1]}), "no such layer"),
        (lambda one: one["answers"][0].update(active_seconds=10**12), "too large"),
        (lambda one: one["answers"][0].update(labels={"events": [{"uid": "\0"}]}), "cannot be"),
        (lambda one: one["answers"][0].update(labels={"requirements": DEEP}), "nested too deeply"),
        (lambda one: one.update(schema_version=7), "schema_version is 7, and this server reads 1"),
        (lambda one: one.update(schema_version=10**40), "schema_version is 1000"),
        (lambda one: one.update(schema_version="1"), "schema_version is '1'"),
        (
            lambda one: one["answers"][0].update(submitted_at="2999-01-01T00:00:00Z"),
            "answers[0].submitted_at is 2999-01-01T00:00:00+00:00, which has not come yet",
        ),
        (
            lambda one: one["answers"][0].update(submitted_at="0001-01-01T00:00:00+14:00"),
            "is outside of the years 1 to 9999",
        ),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_stored(source, target, tmp_path, change, reason):
    path = changed(export(source, tmp_path)[0], change)

    (said,) = refused(path)

    assert said.startswith("labels.jsonl:1: ")
    assert reason in said


@pytest.mark.parametrize("name", ["ANA", "аnа", "Αna", "ana\u200b"])
@pytest.mark.parametrize("create", [True, False])
def test_a_name_that_looks_like_a_members_is_nobody_new(source, target, tmp_path, name, create):
    path = changed(
        export(source, tmp_path)[0], lambda one: one["answers"][0].update(annotator=name)
    )
    people = User.objects.count()

    (said,) = refused(path, create_annotators=create)

    assert "did you mean “ana”?" in said
    assert User.objects.count() == people


def test_an_open_round_takes_no_imported_labels(source, target, tmp_path):
    factories.open_full(target, 1)

    said = refused(export(source, tmp_path)[0])

    assert len(said) == 3
    assert "is being labeled in round 1; close that round first" in said[0]


def test_drafts_and_what_is_in_an_open_calibration_round_are_not_exported(people, tmp_path):
    project = factories.make_project("blind")
    factories.answer(factories.open_calibration(project, 2).assignments.first())
    mine = factories.open_full(project, 1).assignments.first()
    annotations.save_draft(mine, factories.save_of(factories.labels([0])))
    assert export(project, tmp_path)[0].read_text() == ""


def test_answers_to_the_same_conversation_in_two_rounds_become_two_rounds(people, tmp_path):
    source = factories.make_project("twice")
    factories.answer_all(factories.open_full(source, 1), [0])
    second = factories.make_project("second")
    factories.make_conversations(second, 1)
    path = export(source, tmp_path)[0]

    def twice(document: dict[str, Any]) -> None:
        later = json.loads(json.dumps(document["answers"]))
        for answer in later:
            answer["labels"]["requirements"][0]["title"] = "Another one"
        document["answers"] += later

    run(changed(path, twice), project="second")

    assert [round.assignments.count() for round in second.rounds.order_by("number")] == [3, 3]


def test_a_conversation_with_fewer_answers_is_complete_too(people, tmp_path):
    source = factories.make_project("three")
    factories.answer_all(factories.open_full(source, 2), [0])
    second = factories.make_project("second")
    factories.make_conversations(second, 2)

    def fewer(document: dict[str, Any]) -> None:
        if document["id"] == "c-002":
            document["answers"] = document["answers"][:2]

    run(changed(export(source, tmp_path)[0], fewer), project="second")

    rounds = second.rounds.order_by("number")
    assert [(round.overlap, round.assignments.count()) for round in rounds] == [(3, 3), (2, 2)]
    assert [round.places.count() for round in rounds] == [1, 1]
    stages = with_stage(second.conversations.all()).values_list("stage", flat=True)
    assert list(stages) == ["labeled", "labeled"]
    factories.work(second)
    assert adjudications.workload(second, "extraction").numbers().total() == 2


def test_conversations_come_in_from_the_same_file(source, tmp_path):
    path = export(source, tmp_path)[0]

    call_command("import_conversations", path, project="fresh", stdout=StringIO())
    kept = Conversation.objects.get(project__slug="fresh")
    assert [said[1:] for said in kept.messages] == [
        (turn.role, turn.speaker, turn.content, turn.time) for turn in rich.TURNS
    ]


def test_a_text_of_doccano_is_split_where_somebody_else_speaks(people, tmp_path):
    path = tmp_path / "plain.jsonl"
    line = {"id": 7, "text": "Zoé: We need 🚚: now.\r\n\nBob: Yes.\nReally", "label": [[0, 3, "X"]]}
    path.write_text(json.dumps(line))

    call_command("import_conversations", path, project="fresh", format="doccano", stdout=StringIO())

    conversation = Conversation.objects.get(project__slug="fresh", external_id="7")
    assert [(said.role, said.content) for said in conversation.messages] == [
        ("Zoé", "We need 🚚: now."),
        ("Bob", "Yes."),
        ("text", "Really"),
    ]


def test_tasks_of_label_studio_without_our_keys_are_conversations(people, tmp_path):
    dialogue = [{"author": "Zoé", "text": "Hi\r\nall"}, {"author": "Bob", "text": "Hi"}]
    path = tmp_path / "tasks.json"
    foreign = [{"from_name": "mood", "type": "choices", "value": {"choices": ["good"]}}]
    path.write_text(
        json.dumps(
            [{"id": 3, "data": {"dialogue": dialogue}, "annotations": [{"result": foreign}]}]
        )
    )

    call_command(
        "import_conversations", path, project="fresh", format="labelstudio", stdout=StringIO()
    )

    messages = Conversation.objects.get(external_id="3").messages
    assert [(said.speaker, said.content) for said in messages] == [
        ("Zoé", "Hi\nall"),
        ("Bob", "Hi"),
    ]
