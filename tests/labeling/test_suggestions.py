"""Who sees suggestions and when, and what a label may say of its origin."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse

from labeling.models import (
    Annotation,
    Assignment,
    Conversation,
    Event,
    FirstPass,
    Membership,
    Project,
)
from labeling.settling import adjudications
from labeling.work import annotations, suggestions
from tests import factories

SECRET = "Zebra Crossing Alarm"


@pytest.fixture
def mine(project: Project, ana: User) -> Assignment:
    return suggest_to(factories.open_full(project, 1).assignments.get(annotator=ana))


def suggest_to(assignment: Assignment, *titles: str) -> Assignment:
    factories.suggest(
        assignment.conversation,
        [
            factories.requirement(number, sources=[number], title=title)
            for number, title in enumerate(titles or [SECRET, "Giraffe Plan"], start=1)
        ],
    )
    return assignment


def save(assignment: Assignment, labels: list[dict[str, Any]], **fields: Any) -> Annotation:
    known = Annotation.objects.filter(assignment=assignment).first()
    version = known.version if known else 0
    payload = {"requirements": labels}
    save_of = factories.save_of(payload, base_version=version, **fields)
    return annotations.save_draft(assignment, save_of)


def see(assignment: Assignment) -> dict[str, Any]:
    """Ana's first pass is done; the first suggested label as she would take it over."""
    save(assignment, [factories.requirement(1)])
    suggestions.declare_first_pass(assignment)
    (shown,) = suggestions.shown(assignment)
    first = shown.payload["requirements"][0]
    taken = {"id": shown.pk, "uid": first["uid"]}
    return {**first, "uid": "mine", "id": "REQ-002", "origin": "accepted", "suggestion": taken}


def stored(assignment: Assignment) -> list[dict[str, Any]]:
    return Annotation.objects.get(assignment=assignment).payload["requirements"]


# --- blindness ----------------------------------------------------------------------------------


def everything_ana_can_read(client: Client, assignment: Assignment) -> str:
    """Every page and every API answer about her work, as one text."""
    pk, project = [assignment.pk], [assignment.round.project.slug]
    addresses = [
        reverse("home"),
        reverse("workspace", args=pk),
        reverse("api-queue"),
        reverse("api-projects"),
        reverse("api-project", args=project),
        reverse("api-annotation", args=pk),
        reverse("api-annotation-suggestions", args=pk),
        reverse("work-comments", args=pk),
        reverse("api-annotation-revisions", args=pk),
        reverse("conversation", args=[*project, assignment.conversation_id]),
        reverse("suggestions", args=project),
        reverse("project", args=project),
        reverse("guidelines", args=project),
    ]
    return "".join(client.get(address).content.decode() for address in addresses)


def test_nothing_leaks_before_the_first_pass(mine, annotator):
    save(mine, [factories.requirement(1)])

    assert suggestions.sight(mine).state == "waiting"
    assert SECRET not in everything_ana_can_read(annotator, mine)


def test_after_the_first_pass_only_the_api_of_suggestions_has_them(mine, ana, ben, signed_in):
    see(mine)
    url = reverse("api-annotation-suggestions", args=[mine.pk])
    of_ben = mine.round.assignments.get(annotator=ben)

    answer = signed_in(ana).get(url).json()
    assert answer["state"] == "shown"
    assert answer["suggestions"][0]["pipeline"] == "requirements-local"
    assert answer["suggestions"][0]["labels"][0]["title"] == SECRET
    assert SECRET not in signed_in(ana).get(reverse("workspace", args=[mine.pk])).content.decode()
    assert signed_in(ben).get(url).status_code == 404
    assert SECRET not in everything_ana_can_read(signed_in(ben), of_ben)


def test_a_calibration_round_shows_nothing_to_anybody(project, ana, admin, rita, signed_in):
    mine = suggest_to(factories.open_calibration(project, 1).assignments.get(annotator=ana))
    save(mine, [factories.requirement(1)])

    reply = signed_in(ana).post(reverse("api-annotation-first-pass", args=[mine.pk]))

    assert reply.status_code == 409
    assert reply.json()["code"] == "suggestions_hidden"
    for person in (ana, rita, admin):
        assert SECRET not in everything_ana_can_read(signed_in(person), mine)
    kept = mine.conversation.suggestions.get()
    page = signed_in(admin).get(reverse("admin:labeling_suggestion_change", args=[kept.pk]))
    assert page.status_code == 200
    assert SECRET not in page.content.decode()


def test_the_test_split_shows_nothing_even_if_there_is_something(project, ana, signed_in):
    factories.make_conversations(project, 1, split="test")
    mine = suggest_to(factories.open_full(project, 1).assignments.get(annotator=ana))
    save(mine, [factories.requirement(1)])

    with pytest.raises(suggestions.SuggestionsHidden, match="test_or_blind"):
        suggestions.declare_first_pass(mine)
    assert SECRET not in everything_ana_can_read(signed_in(ana), mine)


def test_what_is_labeled_blind_elsewhere_is_not_suggested_either(mine, project):
    see(mine)
    factories.rounds.open_round(
        project=project, kind="calibration", by=None, conversations=[mine.conversation]
    )

    assert suggestions.sight(mine).state == "off"
    assert suggestions.shown(mine) == []


def test_a_lead_switches_suggestions_off_and_on(mine, project, lead, annotator):
    see(mine)
    url = reverse("suggestions-switch", args=[project.slug])
    lead.post(url, {"suggestions": "off"})
    mine = Assignment.objects.get(pk=mine.pk)
    assert suggestions.sight(mine).state == "off"
    assert SECRET not in everything_ana_can_read(annotator, mine)

    lead.post(url, {"suggestions": "on"})
    lead.post(url, {"suggestions": "on"})

    assert suggestions.sight(Assignment.objects.get(pk=mine.pk)).state == "shown"
    verbs = Event.objects.filter(verb__startswith="suggestions.").order_by("pk")
    assert [*verbs.values_list("verb", flat=True)] == [
        "suggestions.switched_off",
        "suggestions.switched_on",
    ]


# --- the first pass -----------------------------------------------------------------------------


def test_a_first_pass_is_recorded_once_with_what_was_found_by_then(mine, ana):
    with pytest.raises(suggestions.FirstPassEmpty):
        suggestions.declare_first_pass(mine)
    save(mine, [])  # "nothing here" is a finding
    first = suggestions.declare_first_pass(mine)
    save(mine, [factories.requirement(1)])
    again = suggestions.declare_first_pass(mine)

    assert (again.pk, again.version) == (first.pk, 1)
    assert Event.objects.filter(verb="annotation.first_pass", actor=ana).count() == 1
    with pytest.raises(DatabaseError), transaction.atomic():
        FirstPass.objects.update(version=7)
    with pytest.raises(DatabaseError), transaction.atomic():
        mine.conversation.suggestions.update(payload={})


# --- origins ------------------------------------------------------------------------------------


def test_an_accepted_label_is_one_that_equals_its_suggestion(mine):
    label = see(mine)
    save(mine, [label, {**label, "uid": "b", "id": "REQ-003", "title": "Something else"}])
    assert [one["origin"] for one in stored(mine)] == ["accepted", "edited"]
    save(mine, [label | {"origin": "edited"}])  # the words are back, who edited stays
    assert stored(mine)[0]["origin"] == "edited"


def test_a_label_cannot_hide_where_it_came_from(mine):
    label = see(mine)
    save(mine, [label])
    bare = {name: value for name, value in label.items() if name not in ("origin", "suggestion")}
    save(mine, [bare | {"title": "Reworded"}])

    assert stored(mine)[0]["origin"] == "edited"
    assert stored(mine)[0]["suggestion"] == label["suggestion"]


def test_nobody_accepts_what_they_have_not_seen(mine, ben, project):
    label = see(mine)
    of_ben = mine.round.assignments.get(annotator=ben)
    save(of_ben, [label])

    assert stored(of_ben)[0]["origin"] == "typed"
    assert "suggestion" not in stored(of_ben)[0]


def test_origins_survive_submitting_reopening_and_the_switch(mine, project):
    label = see(mine)
    known = save(mine, [label])
    payload = {"requirements": [label]}
    annotations.submit(mine, factories.save_of(payload, base_version=known.version))
    Project.objects.update(suggestions=False)
    annotations.reopen(mine)
    annotations.restore(mine, known.version, factories.save_of({}, base_version=known.version + 2))

    assert stored(mine)[0]["origin"] == "accepted"


# --- agreement and gold -------------------------------------------------------------------------


def answer_assisted(project: Project, people: dict[str, User]) -> Any:
    """Ana and Ben mark 0 and 1 by hand, differently, and both accept what marks message 2."""
    Membership.objects.filter(user=people["cleo"]).delete()
    round_ = factories.open_full(project, 2, overlap=2)
    for conversation in Conversation.objects.filter(project=project):
        factories.suggest(conversation, [factories.requirement(9, sources=[2])])
    for assignment in round_.assignments.all():
        own = [0] if assignment.annotator.username == "ana" else [1]
        save(assignment, factories.labels(own)["requirements"])
        suggestions.declare_first_pass(assignment)
        (shown,) = suggestions.shown(assignment)
        taken = {
            **shown.payload["requirements"][0],
            "uid": f"taken-{assignment.pk}",
            "id": "REQ-002",
            "origin": "accepted",
            "suggestion": {"id": shown.pk, "uid": "s1"},
        }
        labels = [*stored(assignment), taken]
        save_of = factories.save_of({"requirements": labels}, base_version=1)
        annotations.submit(assignment, save_of)
    return round_


def test_agreement_is_reported_apart_for_typed_labels(project, people):
    round_ = answer_assisted(project, people)

    result = factories.measure(round_)

    pair = result["pairs"][0]
    assert (pair["n"], pair["raw"]) == (8, 0.5)  # two conversations of four messages: 2, 3 alike
    typed = result["by_origin"]["typed"]["pairs"][0]
    assert (typed["n"], typed["raw"]) == (6, pytest.approx(1 / 3))  # without message 2


def test_gold_keeps_who_took_a_label_over_beside_a_label_that_is_like_any_other(project, people):
    answer_assisted(project, people)
    for conversation in Conversation.objects.filter(project=project)[:1]:
        own = Annotation.objects.get(
            assignment__conversation=conversation, assignment__annotator=people["ana"]
        ).payload["requirements"]
        adjudications.decide(
            conversation=conversation,
            layer="extraction",
            payload={"requirements": [own[1] | {"adopted_from": ["ana"]}]},
            reason="The rest is noise.",
            by=people["rita"],
        )

    release = factories.freeze(project)

    content = factories.with_names(release.items.first())
    (label,) = content["gold"]["requirements"]
    assert not {"origin", "suggestion"} & label.keys()
    origins = content["provenance"]["labels"][label["uid"]]["origins"]
    assert origins["ana"]["origin"] == "accepted"


def test_agreed_gold_names_who_accepted_and_who_typed(project, people):
    round_ = factories.open_full(project, 1, overlap=2)
    ana_s, ben_s = round_.assignments.order_by("annotator__username")
    suggest_to(ana_s, "Order Tracking 1")
    label = see(ana_s)
    known = Annotation.objects.get(assignment=ana_s)
    accepted = factories.save_of({"requirements": [label]}, base_version=known.version)
    annotations.submit(ana_s, accepted)
    typed = {name: value for name, value in label.items() if name not in ("origin", "suggestion")}
    factories.answer_with(ben_s, {"requirements": [typed | {"uid": "typed-by-ben"}]})

    release = factories.freeze(project)

    (provenance,) = factories.with_names(release.items.first())["provenance"]["labels"].values()
    assert provenance["origins"] == {
        "ana": {"origin": "accepted", "suggestion": label["suggestion"]}
    }
