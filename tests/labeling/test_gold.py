"""Freezing, proving and exporting gold."""

import json
from unicodedata import is_normalized

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from labeling.conversations.rules.importing import Turn
from labeling.core.models import guards
from labeling.domain.facts import Fact
from labeling.gold import gold
from labeling.gold.verification import verify
from labeling.models import (
    AnnotationRevision,
    Event,
    GoldItem,
    Guideline,
)
from labeling.settling import adjudications
from labeling.words import words_of
from labeling.work import annotations, rounds
from tests import factories

pytestmark = pytest.mark.postgres


def test_what_everybody_labeled_alike_becomes_gold(project, rita):
    release = factories.make_release(project, items=2, by=rita)

    item = release.items.get(position=0)
    assert (item.how, release.items.count(), release.left_out) == ("unanimous", 2, [])
    assert item.content["gold"]["requirements"][0]["source_messages"] == [0]
    provenance = factories.with_names(item)["provenance"]
    assert [row["username"] for row in provenance["annotators"]] == ["ana", "ben", "cleo"]
    assert provenance["guideline_version"] == 1
    assert Event.objects.get(verb="gold.frozen").data["sha256"] == release.sha256
    [override] = json.loads(release.header)["overrides"]
    assert override["reason"] == "A test of what comes after the gate."


def test_everybody_finding_nothing_is_gold_too(project):
    release = factories.make_release(project, items=1, sources=())

    assert release.items.get().content["gold"] == {"requirements": []}


def test_what_is_disputed_or_unfinished_is_left_out_with_its_reason(project):
    round_ = factories.open_full(project, 3)
    one, two, three = (place.conversation for place in round_.places.all())
    for assignment in round_.assignments.filter(conversation=one):
        factories.answer(assignment)
    factories.answer(round_.assignments.filter(conversation=two)[0])
    for assignment in round_.assignments.filter(conversation=three).select_related("annotator"):
        sources = {"ana": [0], "ben": [1], "cleo": []}[assignment.annotator.username]
        payload = factories.labels(sources)
        for label in payload["requirements"]:
            label["title"] = f"Wish of {assignment.annotator.username}"
            label["action"] = assignment.annotator.username * 3
        factories.answer_with(assignment, payload)

    release = factories.freeze(project)

    assert [item.item_id for item in release.items.all()] == [one.external_id]
    reasons = {row["conversation"]: row["reason"] for row in release.left_out}
    assert reasons[two.external_id] == (
        Fact("gold.not_all_submitted", submitted=1, overlap=3).as_json()
    )
    assert words_of(reasons[three.external_id]).startswith("disputed: “Wish of ana”")


def test_a_skip_with_a_reason_does_not_hold_the_others_up(project):
    round_ = factories.open_full(project, 1)
    for assignment in round_.assignments.select_related("annotator"):
        if assignment.annotator.username == "cleo":
            annotations.skip(assignment, factories.save_of({}), reason="Knows the speaker")
        else:
            factories.answer(assignment)

    provenance = factories.with_names(factories.freeze(project).items.get())["provenance"]

    assert provenance["how"] == "unanimous"
    assert provenance["skipped"] == [{"username": "cleo", "reason": "Knows the speaker"}]


def test_a_skip_that_was_handed_on_waits_for_the_other_answer(project):
    round_ = factories.open_full(project, 3, overlap=2)
    shared = round_.assignments.filter(conversation=round_.places.first().conversation)
    first, second = shared
    annotations.skip(first, factories.save_of({}), reason="Not my language")
    factories.answer(second)

    with pytest.raises(gold.NothingToFreeze, match="not_all_submitted submitted=1 overlap=2"):
        factories.freeze(project)

    factories.answer(shared.get(annotation__isnull=True))
    assert factories.freeze(project).items.get().how == "unanimous"


def test_a_decision_stands_above_the_labels_and_keeps_the_dissent(project, rita):
    round_ = factories.open_full(project, 1)
    factories.answer_each(round_, {"ana": [0], "ben": [1], "cleo": []}.get)
    decided = factories.requirement(sources=[1]) | {"adopted_from": "ben"}
    adjudications.decide(
        conversation=round_.places.get().conversation,
        layer="extraction",
        payload={"requirements": [decided]},
        reason="Message 1 says it",
        by=rita,
    )

    content = factories.with_names(factories.freeze(project).items.get())

    assert "adopted_from" not in content["gold"]["requirements"][0]
    assert content["provenance"]["adjudicated_by"] == "rita"
    assert content["provenance"]["reason"] == "Message 1 says it"
    assert content["provenance"]["labels"][decided["uid"]]["by"] == ["ben"]
    assert set(content["provenance"]["answers"]) == {"ana", "ben", "cleo"}


def test_nobody_decides_alone_about_their_own_work(project, ana):
    round_ = factories.open_full(project, 1, annotators=[ana], overlap=1)
    factories.answer_all(round_)

    with pytest.raises(adjudications.OwnWorkAlone):
        adjudications.decide(
            conversation=round_.places.get().conversation,
            layer="extraction",
            payload=factories.labels([0]),
            reason="I know best",
            by=ana,
        )


def test_a_second_freeze_without_change_is_refused_and_a_change_is_a_new_version(project):
    first = factories.make_release(project, items=1)
    with pytest.raises(gold.NothingChanged, match="nothing_changed parent=orders@1"):
        factories.freeze(project)

    factories.answer_all(factories.open_full(project, 1))
    second = factories.freeze(project)

    assert (str(second), second.parent) == ("orders@2", first)
    assert gold.find("orders") == second
    assert gold.find("orders@1") == first


def test_a_name_belongs_to_one_project_and_an_unknown_one_is_named_with_what_there_is(project):
    factories.make_release(project, items=1)

    with pytest.raises(CommandError, match=r"no gold release ordres\. Newest releases: orders@1"):
        call_command("verify", release="ordres")
    with pytest.raises(CommandError, match="orders@x"):
        call_command("verify", release="orders@x")
    with pytest.raises(CommandError, match=r"no gold release orders@9\.0\.0"):
        call_command("verify", release="orders@9.0.0")
    with pytest.raises(gold.NameTaken, match="name_taken"):
        factories.freeze(factories.make_project("other"), name="orders")


def test_gold_names_who_labeled_under_which_guideline(project):
    factories.answer_all(factories.open_full(project, 1))
    Guideline.objects.create(project=project, version=2, body="# Guide 2")
    factories.answer_all(factories.open_full(project, 1))

    release = factories.freeze(project, waive={"superseded": "Version 2 only adds an example."})
    items = GoldItem.objects.filter(release=release)

    versions = {item.item_id: item.content["provenance"]["guideline_version"] for item in items}
    assert versions == {"c-001": 1, "c-002": 2}
    assert AnnotationRevision.objects.filter(kind="submitted").count() == 6


@pytest.mark.parametrize("name", ["a/b", "a@1", "..", "a b", "a\n", "x" * 101])
def test_a_name_that_cannot_stand_in_an_address_is_refused(project, name):
    factories.open_full(project, 1)

    with pytest.raises(gold.BadName, match="bad_name"):
        factories.freeze(project, name=name)


def test_an_open_calibration_round_stays_blind_in_gold(project, rita):
    factories.make_release(project, items=1)
    again = rounds.open_round(
        project=project, kind="calibration", by=rita, conversations=project.conversations.all()
    )
    for assignment in again.assignments.all()[:2]:
        factories.answer(assignment)
    other = factories.make_conversations(project, 1)
    full = rounds.open_round(
        project=project, kind="full", by=rita, conversations=other, override_reason="Agreed."
    )
    for assignment in full.assignments.all():
        factories.answer(assignment)

    release = factories.freeze(project)

    assert [row["reason"] for row in release.left_out] == [
        Fact("gold.calibration_open", number=again.number).as_json()
    ]
    assert again.number not in [row["round"] for row in release.agreement["rounds"]]


def test_an_item_is_in_normal_form_whatever_its_conversation_was_written_in(project):
    """ "Café" as one system writes it, and as another one does."""
    factories.make_talk(project, "c-001", [Turn("user", "Cafe\u0301"), Turn("user", "Yes")])
    factories.answer_all(factories.open_full(project, 1))

    release = factories.freeze(project)

    text = release.items.get().canonical
    assert "Café" in text
    assert is_normalized("NFC", text)
    assert verify(release) == []


# --- guards ------------------------------------------------------------------------------------


def test_the_guards_survive_a_table_rebuild(project):
    """SQLite drops a table's triggers when Django alters it; migrate puts them back."""
    factories.make_release(project, items=1)
    guards.remove(connection)

    call_command("migrate", verbosity=0)

    with pytest.raises(DatabaseError, match="frozen"):
        run_sql("DELETE FROM labeling_golditem")


def run_sql(statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
