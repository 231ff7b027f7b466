""" "Nothing here" is said of each layer; a layer of which nothing is said is not answered."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from django.test import Client

from labeling.domain.facts import Fact
from labeling.exchange.formats import native
from labeling.models import Annotation, Assignment, ConversationAgreement, Project, Round
from labeling.settling import settling
from labeling.work import annotations
from tests import factories

pytestmark = pytest.mark.django_db
BOTH = ["extraction", "inference"]


def body(seq: int = 1, **fields: Any) -> dict[str, Any]:
    said = {"base_version": 0, "client": str(UUID(int=1)), "seq": seq}
    return said | {"payload": {"requirements": [factories.requirement()]}} | fields


@pytest.fixture
def round_(project: Project) -> Round:
    Project.objects.filter(pk=project.pk).update(layers=BOTH)
    project.refresh_from_db()
    return factories.open_full(project, 1)


@pytest.fixture
def send(signed_in: Callable[[User], Client], ana: User) -> Callable[..., Any]:
    client = signed_in(ana)

    def sent(assignment: Assignment, verb: str, **fields: Any) -> Any:
        url = f"/api/annotations/{assignment.pk}/{verb}"
        call = client.post if verb else client.put
        return call(url, body(**fields), content_type="application/json")

    return sent


@pytest.fixture
def mine(round_: Round, ana: User) -> Assignment:
    return round_.assignments.get(annotator=ana)


@pytest.mark.parametrize(
    ("said", "unanswered", "empty"),
    [
        ({}, ["inference"], False),
        ({"nothing": ["inference"]}, [], False),
        ({"payload": {}, "nothing": ["extraction"]}, ["inference"], False),
        ({"payload": {}, "nothing": BOTH}, [], True),
        ({"payload": {}, "empty": True}, [], True),
    ],
)
def test_what_is_not_said_is_not_answered(mine, send, said, unanswered, empty):
    stored = send(mine, "submit/", **said).json()

    assert stored["status"] == "submitted", stored
    assert (stored["unanswered"], stored["empty"]) == (unanswered, empty)
    assert Annotation.objects.get().revisions.get().unanswered == unanswered


def test_an_answer_that_says_nothing_at_all_is_refused(mine, send):
    assert send(mine, "submit/", payload={}).status_code == 400
    assert send(mine, "", nothing=["extraction"]).status_code == 400  # there is a label
    assert send(mine, "", nothing=["events"]).status_code == 400  # the project has no such layer


def test_reopening_and_restoring_keep_what_is_open(mine, send):
    send(mine, "submit/")
    annotations.reopen(mine)
    assert Annotation.objects.get().unanswered == ["inference"]

    send(mine, "", seq=2, base_version=2, nothing=["inference"])
    assert Annotation.objects.get().unanswered == []
    annotations.restore(mine, 1, annotations.Save(3, UUID(int=1), 3, {}))
    assert Annotation.objects.get().unanswered == ["inference"]


def test_agreement_and_gold_leave_out_who_has_not_answered(project, round_, ana):
    for assignment in round_.assignments.select_related("annotator"):
        nothing = [] if assignment.annotator == ana else ["inference"]
        save = factories.save_of({"requirements": [factories.requirement()]})
        annotations.submit(assignment, save._replace(nothing=nothing))
    factories.work(project)
    factories.measure(round_)

    stored = ConversationAgreement.objects.filter(round=round_, selection="")
    people = {row.layer: row.annotators for row in stored}
    assert people == {"extraction": ["ana", "ben", "cleo"], "inference": ["ben", "cleo"]}
    outcomes = settling_of(project)
    inferred = outcomes.of("inference")
    assert not isinstance(inferred, Fact)
    assert [row["username"] for row in inferred.provenance["annotators"]] == ["ben", "cleo"]


def test_what_nobody_has_answered_is_not_gold(project, round_):
    for assignment in round_.assignments.all():
        save = factories.save_of({"requirements": [factories.requirement()]})
        annotations.submit(assignment, save._replace(nothing=[]))
    factories.work(project)

    outcomes = settling_of(project)

    assert not isinstance(outcomes.of("extraction"), Fact)
    assert outcomes.of("inference") == Fact("gold.layer_not_answered")


def settling_of(project: Project) -> settling.Outcomes:
    (conversation,) = settling.labeled(project.conversations.all(), *BOTH)
    answers = settling.answers_of(conversation)
    return settling.Outcomes(answers, project, settling.stored(answers, lambda merge: True))


def test_answers_from_before_count_on_every_layer(project, round_):
    for assignment in round_.assignments.all():
        factories.answer_with(assignment, {"requirements": [factories.requirement()]})
    factories.work(project)

    assert set(Annotation.objects.values_list("unanswered", flat=True)) == {None}
    assert not isinstance(settling_of(project).of("inference"), Fact)


def test_a_submitted_answer_cannot_get_another_meaning(mine, send):
    send(mine, "submit/")

    with pytest.raises(DatabaseError), transaction.atomic():
        Annotation.objects.update(unanswered=[])


def test_files_say_what_is_not_answered():
    line = '{"id": "c", "messages": [{"role": "user", "content": "Hello"}], "answers": [%s]}'
    answer = '{"annotator": "ana", "labels": {}, "unanswered": ["inference"]}'

    ((_, read),) = native.read(BytesIO((line % answer).encode()))

    assert read.answers[0].unanswered == ("inference",)
    ((_, again),) = native.read(BytesIO(native.write(read).encode()))
    assert again.answers == read.answers


# --- fields that a project does without --------------------------------------------------------


OPEN = {"extraction": ["acceptance_criteria", "confidence", "priority", "rationale"]}


def short(number: int) -> dict[str, Any]:
    whole = factories.requirement(number)
    return {name: value for name, value in whole.items() if name not in OPEN["extraction"]}


def test_a_round_judges_submissions_by_what_held_when_it_was_opened(project):
    before = factories.open_full(project, 1)
    Project.objects.filter(pk=project.pk).update(open_fields=OPEN)
    project.refresh_from_db()
    factories.make_conversations(project, 2)
    after = factories.open_full(project, 1)
    Project.objects.filter(pk=project.pk).update(open_fields={})
    strict, lenient = (round_.assignments.all()[0] for round_ in (before, after))

    with pytest.raises(annotations.InvalidPayload) as refused:
        factories.answer_with(strict, {"requirements": [short(1)]})
    wrong = {problem["path"] for problem in refused.value.details["problems"]}
    assert wrong == {f"requirements.0.{name}" for name in OPEN["extraction"]}

    assert factories.answer_with(lenient, {"requirements": [short(1)]}).status == "submitted"


def test_short_labels_become_gold(project):
    Project.objects.filter(pk=project.pk).update(open_fields=OPEN)
    project.refresh_from_db()
    round_ = factories.open_full(project, 1)
    for assignment in round_.assignments.all():
        factories.answer_with(assignment, {"requirements": [short(1)]})
    factories.work(project)

    release = factories.freeze(project)

    (item,) = release.items.all()
    (label,) = item.content["gold"]["requirements"]
    assert "priority" not in label
    assert label["title"] == short(1)["title"]
    assert Round.objects.get().open_fields == OPEN
