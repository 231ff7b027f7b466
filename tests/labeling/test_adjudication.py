"""Deciding what the labels are, by those who lead, over answers that workers have merged."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from labeling import tasks
from labeling.agreement import vectors
from labeling.domain.facts import Fact
from labeling.jobs import pending
from labeling.models import Adjudication, Conversation, GoldItem, Job, Merge, Project
from labeling.settling import adjudications, merges, processing, reviews
from labeling.work import annotations
from tests import factories
from tests.pages import page

pytestmark = pytest.mark.postgres


def merge(project: Project) -> None:
    """What the worker does."""
    merges.merge(project, ruler=factories.ruler)


def label(who: str, number: int = 1) -> dict[str, Any]:
    """A requirement that means the same to nobody else."""
    return factories.requirement(
        number, sources=[number], uid=f"{who}-{number}", title=f"Wish of {who}", action=who * 3
    )


@pytest.fixture
def disputed(project: Project) -> Conversation:
    """All have one label alike; each of Ana and Ben has one more, and Cleo has not."""
    shared = {name: factories.requirement(sources=[0], uid=f"{name}-0") for name in ANNOTATORS}
    round_ = factories.open_full(project, 1)
    own = {"ana": [label("ana", 2)], "ben": [label("ben", 3)], "cleo": []}
    factories.answer_each(round_, lambda who: {"requirements": [shared[who], *own[who]]})
    merge(project)
    return round_.places.get().conversation


ANNOTATORS = ("ana", "ben", "cleo")


def address(conversation: Conversation) -> str:
    return f"/api/adjudications/{conversation.pk}/extraction/"


def shown(client: Client, conversation: Conversation) -> dict[str, Any]:
    response = client.get(address(conversation))
    assert response.status_code == 200
    return dict(response.json())


def decide(client: Client, conversation: Conversation, labels: list[Any], **fields: Any) -> Any:
    answers = fields.pop("answers", shown(client, conversation)["answers"])
    body = {"answers": answers, "labels": labels, "kind": "ambiguous"} | fields
    return client.post(address(conversation), body, "application/json")


def test_what_is_agreed_stands_merged_and_what_is_not_stands_disputed(disputed, lead):
    result = shown(lead, disputed)

    assert result["state"] == "disputed"
    assert [cluster["how"] for cluster in result["clusters"]] == [
        "unanimous",
        "disputed",
        "disputed",
    ]
    assert result["agreement"] == pytest.approx((1 + 1 / 3 + 1 / 3) / 3)
    sides = {side["annotator"]: side["label"] for side in result["clusters"][1]["sides"]}
    assert sides["ana"]["title"] == "Wish of ana"
    assert (sides["ben"], sides["cleo"]) == (None, None)


def test_a_decision_says_why_they_differed_and_names_whose_label_it_took(disputed, lead):
    clusters = shown(lead, disputed)["clusters"]
    silent = decide(lead, disputed, [clusters[0]["label"], None, None], kind="")
    assert (silent.json()["code"], Adjudication.objects.count()) == ("reason_missing", 0)

    response = decide(
        lead,
        disputed,
        [clusters[0]["label"], clusters[1]["label"], None],
        guideline_flag=True,
    )

    assert response.status_code == 201
    decision = Adjudication.objects.get()
    first, second = decision.payload["requirements"]
    assert first["adopted_from"] == ["ana", "ben", "cleo"]
    assert second["adopted_from"] == ["ana"]
    assert (first["id"], second["id"]) == ("REQ-001", "REQ-002")
    assert (decision.kind, decision.guideline_flag) == ("ambiguous", True)
    assert (decision.reason, decision.why) == ("", Fact("decision.ambiguous"))
    release = factories.freeze(disputed.project)
    provenance = factories.with_names(release.items.get())["provenance"]
    assert provenance["labels"]["ana-2"]["by"] == ["ana"]


@pytest.mark.parametrize("case", ["edited", "left out though all have it", "added"])
def test_what_overrules_everybody_needs_a_note(disputed, case, lead):
    agreed = shown(lead, disputed)["clusters"][0]["label"]
    labels: list[Any] = {
        "edited": [agreed | {"title": "My own words"}, None, None],
        "left out though all have it": [None, label("ana", 2), None],
        "added": [agreed, None, None],
    }[case]
    added = [factories.requirement(9, sources=[3])] if case == "added" else []

    refused = decide(lead, disputed, labels, added=added, note="\u200b\u2060")
    accepted = decide(lead, disputed, labels, added=added, note="Message 3 says so")

    assert (refused.status_code, refused.json()["code"]) == (400, "reason_missing")
    assert accepted.status_code == 201
    assert Adjudication.objects.get().reason == "Message 3 says so"


def test_a_decision_about_other_answers_is_refused(disputed, rita, lead):
    before = shown(lead, disputed)
    assignment = disputed.assignments.get(annotator__username="cleo")
    annotations.send_back(assignment, by=rita, reason="Look at message 2")
    factories.answer_with(assignment, {"requirements": [label("cleo", 2)]})
    merge(disputed.project)

    labels = [cluster["label"] for cluster in before["clusters"]]
    response = decide(lead, disputed, labels, answers=before["answers"])

    assert (response.status_code, response.json()["code"]) == (409, "answers_changed")
    assert not Adjudication.objects.exists()


def test_deciding_again_starts_from_the_earlier_decision_and_keeps_it(disputed, lead):
    agreed = shown(lead, disputed)["clusters"][0]["label"]
    decide(lead, disputed, [agreed, None, None])

    body = lead.get(f"/adjudicate/{disputed.pk}/").context["page"]["decision"]
    decide(lead, disputed, [agreed, label("ana", 2), None], kind="error")

    assert [label["uid"] for label in body["labels"]] == [agreed["uid"]]
    assert body["kind"] == "ambiguous"
    versions = Adjudication.objects.values_list("version", "kind")
    assert list(versions) == [(1, "ambiguous"), (2, "error")]


def test_researchers_read_and_only_leads_decide(disputed, annotator, researcher):
    assert decide(researcher, disputed, [None, None, None]).status_code == 403
    assert annotator.get(address(disputed)).status_code == 404


def test_an_open_calibration_round_shows_and_decides_nothing(project, lead):
    round_ = factories.open_calibration(project, 1)
    for assignment in round_.assignments.all()[:2]:
        factories.answer(assignment)
    conversation = round_.places.get().conversation

    result = shown(lead, conversation)

    assert (result["state"], result["clusters"]) == ("waiting", [])
    assert "blind while it is open" in page(lead, f"/adjudicate/{conversation.pk}/")
    response = decide(lead, conversation, [], answers="0" * 64)
    assert (response.status_code, response.json()["code"]) == (409, "blind")


def test_what_no_worker_has_merged_yet_is_said_to_be_prepared(project, monkeypatch, lead):
    round_ = factories.open_full(project, 1)
    factories.answer_all(round_)
    conversation = round_.places.get().conversation
    assert "Being prepared" in page(lead, f"/adjudicate/{conversation.pk}/")
    assert "1 conversation is being prepared" in page(lead, "/projects/orders/adjudication/")

    monkeypatch.setattr(vectors, "ruler", factories.ruler)
    tasks.process_answers(project.pk)
    tasks.process_answers(project.pk)  # repeating it changes nothing

    assert Merge.objects.get().state == "unanimous"
    polled = lead.get(f"/adjudicate/{conversation.pk}/", HTTP_HX_REQUEST="true")
    assert polled.headers["HX-Refresh"] == "true"


def test_a_worker_lets_other_messages_through_while_answers_keep_coming(project, monkeypatch):
    monkeypatch.setattr(vectors, "ruler", factories.ruler)
    monkeypatch.setattr(processing, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(processing, "AT_ONCE", 1)
    factories.answer_all(factories.open_full(project, 2))

    tasks.process_answers(project.pk)
    assert (Merge.objects.count(), list(pending.due())) == (1, [project.pk])

    tasks.process_answers(project.pk)
    assert (Merge.objects.count(), list(pending.due())) == (2, [])


def test_the_last_answer_has_a_worker_merge(project, django_capture_on_commit_callbacks):
    round_ = factories.open_full(project, 1)
    *first, last = round_.assignments.order_by("pk")
    with django_capture_on_commit_callbacks(execute=True):
        for assignment in first:
            factories.answer(assignment)
    assert not Job.objects.exists()

    with django_capture_on_commit_callbacks(execute=True):
        factories.answer(last)

    assert str(Job.objects.get()) == f"answers {project.pk}"


def queue_of(project: Project) -> list[Conversation]:
    """Three conversations: unanimous, disputed among three, and two against one."""
    round_ = factories.open_full(project, 3)
    result = [place.conversation for place in round_.places.select_related("conversation")]
    for assignment in round_.assignments.select_related("annotator"):
        who = assignment.annotator.username
        at = [one.pk for one in result].index(assignment.conversation_id)
        shared = factories.requirement(sources=[0], uid=f"shared-{who}-{at}")
        own = [shared, label(who, 2)] if who == "ana" else [shared]
        given = {0: [shared], 1: [label(who)], 2: own if who == "ana" else [shared]}[at]
        factories.answer_with(assignment, {"requirements": given})
    merge(project)
    return result


def test_the_queue_has_the_lowest_agreement_first(project, lead):
    _, three_ways, two_to_one = queue_of(project)

    response = lead.get("/projects/orders/adjudication/")
    following = lead.get("/projects/orders/adjudication/next/")

    rows = [row.merge.conversation.external_id for row in response.context["page"].rows]
    assert rows == [three_ways.external_id, two_to_one.external_id]
    assert {name: number for name, _, number in response.context["tabs"]} == {
        "disputed": 2,
        "agreed": 1,
        "decided": 0,
    }
    assert following.url == f"/adjudicate/{three_ways.pk}/?layer=extraction"
    after = lead.get(f"/projects/orders/adjudication/next/?after={three_ways.pk}")
    assert after.url == f"/adjudicate/{two_to_one.pk}/?layer=extraction"


def test_the_queue_shows_a_merge_only_while_it_is_of_the_current_answers_and_rules(project, rita):
    round_ = factories.open_full(project, 3)
    places = list(round_.assignments.select_related("annotator"))
    for place in places:
        factories.answer_with(place, {"requirements": [label(place.annotator.username)]})

    def shown() -> tuple[int, int]:
        """How many cases are shown, and how many conversations a worker has to merge."""
        workload = adjudications.workload(project, "extraction")
        return workload.numbers().total(), workload.preparing

    assert shown() == (0, 3)
    merge(project)
    assert shown() == (3, 0)

    annotations.reopen(places[0])
    assert shown() == (2, 0)
    factories.answer_with(places[0], {"requirements": [label("ana", 2)]})
    assert shown() == (2, 1)
    merge(project)

    answer_to = places[1].annotation
    reviews.review(answer_to, reviews.Opinion(answer_to.version, "accepted"), by=rita)
    assert shown() == (3, 0)
    fixed = reviews.Opinion(answer_to.version, "fixed", payload=answer_to.payload)
    reviews.review(answer_to, fixed, by=rita)
    assert shown() == (2, 1)

    merge(project)
    Project.objects.filter(pk=project.pk).update(match_threshold=0.5)
    project.refresh_from_db()
    assert shown() == (0, 3)


def test_what_was_accepted_before_stays_on_record_while_the_answers_agree(project, rita):
    unanimous = queue_of(project)[0]
    Adjudication.objects.create(
        conversation=unanimous,
        layer="extraction",
        version=1,
        guideline=project.guidelines.get(),
        payload=factories.labels([0]),
        kind="accepted",
        decided_by=rita,
    )
    item = factories.freeze(project).items.get()
    assert item.how == GoldItem.How.UNANIMOUS
    assert factories.with_names(item)["provenance"]["accepted_by"] == "rita"
