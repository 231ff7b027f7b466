"""A second look at submitted answers: sampled, judged, fixed or sent back."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from labeling.models import Annotation, Membership, Project, Review
from labeling.settling import reviews
from labeling.work.models.assignments import draw_of
from tests import factories
from tests.pages import page


@pytest.fixture
def answers(project: Project) -> list[Annotation]:
    """Of Ana, Ben and Cleo about one conversation, all alike."""
    round_ = factories.open_full(project, 1)
    factories.answer_all(round_)
    return list(Annotation.objects.order_by("assignment__annotator__username"))


def say(client: Client, annotation: Annotation, verdict: str, **fields: Any) -> Any:
    body = {"version": annotation.version, "verdict": verdict, **fields}
    return client.post(f"/api/reviews/{annotation.pk}/", body, "application/json")


def test_the_page_says_beforehand_that_what_gold_holds_cannot_be_returned(answers, project, lead):
    url = f"/review/{answers[0].pk}/"
    returns = 'data-action="return" disabled'
    free = lead.get(url)
    assert returns not in free.content.decode()

    factories.freeze(project)

    held = lead.get(url)
    assert returns in held.content.decode()
    assert "A gold release holds this answer" in held.content.decode()


def test_gold_takes_what_was_fixed_and_the_answer_stays_what_it_was(project, answers, lead):
    fixed = [label | {"title": "Parcel Tracking"} for label in answers[0].payload["requirements"]]
    for annotation in answers[:2]:
        say(lead, annotation, "fixed", payload={"requirements": fixed})

    item = factories.freeze(project).items.get()

    titles = {label["title"] for label in item.content["gold"]["requirements"]}
    assert titles == {"Parcel Tracking"}
    annotators = factories.with_names(item)["provenance"]["annotators"]
    assert [row.get("fixed_by") for row in annotators] == ["rita", "rita", None]
    answers[0].refresh_from_db()
    assert answers[0].payload["requirements"][0]["title"] == "Order Tracking 1"


def test_a_fix_must_be_complete(answers, lead):
    broken = [factories.requirement(title="")]

    response = say(lead, answers[0], "fixed", payload={"requirements": broken})

    assert (response.status_code, response.json()["code"]) == (400, "invalid_payload")
    assert not Review.objects.exists()


def test_nobody_reviews_their_own_answer(project, answers, ana, annotator):
    Membership.objects.create(project=project, user=ana, role="lead")

    response = say(annotator, answers[0], "accepted")

    assert (response.status_code, response.json()["code"]) == (400, "own_work")
    names = reviews.listed(project, viewer=ana).values_list("assignment__annotator__username")
    assert {name for (name,) in names} == {"ben", "cleo"}
    assert "This is your own answer" in page(annotator, f"/review/{answers[0].pk}/")


def test_a_verdict_about_an_earlier_version_or_a_draft_is_refused(answers, lead):
    say(lead, answers[0], "returned", comment="Look again")

    response = say(lead, answers[0], "accepted")
    answers[0].refresh_from_db()
    draft = say(lead, answers[0], "accepted")

    assert (response.status_code, response.json()["code"]) == (409, "stale_version")
    assert draft.json()["code"] == "not_submitted"


def test_a_calibration_answer_is_not_reviewed(project, lead):
    round_ = factories.open_calibration(project, 1)
    annotation = factories.answer(round_.assignments.all()[0])

    assert say(lead, annotation, "accepted").status_code == 404
    assert lead.get(f"/review/{annotation.pk}/").status_code == 404


def test_leads_give_verdicts_researchers_read_them_and_an_accepted_answer_stays_as_it_is(
    answers, signed_in, rita, ben, lead, researcher
):
    assert say(lead, answers[0], "accepted", comment="Well done").status_code == 201
    stored = Review.objects.get()
    assert (stored.verdict, stored.reviewer, stored.version) == ("accepted", rita, 1)
    answers[0].refresh_from_db()
    assert answers[0].status == "submitted"
    assert say(researcher, answers[0], "accepted").status_code == 403
    assert say(signed_in(ben), answers[0], "accepted").status_code == 404
    assert "Well done" in page(researcher, f"/review/{answers[0].pk}/")


def test_a_sample_is_drawn_evenly_and_by_the_seed():
    """An answer is in it below the rate: a higher one adds to the sample of a lower one."""
    draws = [draw_of(seed=7, conversation=n, annotator=3) for n in range(2000)]

    assert min(draws) >= 0
    assert max(draws) < 1
    assert 140 < sum(draw < 0.1 for draw in draws) < 260  # 200 expected
    assert draws != [draw_of(seed=8, conversation=n, annotator=3) for n in range(2000)]
    assert draws != [draw_of(seed=7, conversation=n, annotator=4) for n in range(2000)]


def test_every_assignment_has_a_draw_and_the_rate_says_which_are_listed(project, lead):
    round_ = factories.open_full(project, 4)
    factories.answer_all(round_)
    by_draw = list(round_.assignments.order_by("draw"))
    assert [place.draw for place in by_draw] == sorted(
        draw_of(seed=round_.seed, conversation=each.conversation_id, annotator=each.annotator_id)
        for each in by_draw
    )
    project.review_rate = by_draw[5].draw
    project.save()

    shown = lead.get("/projects/orders/review/").context

    assert {row.pk for row in shown["page"].rows} == {each.annotation.pk for each in by_draw[:5]}


def test_the_list_offers_the_sample_then_goes_on_to_the_next(project, answers, lead):
    project.review_rate = 1.0
    project.save()
    url = "/projects/orders/review/"
    first, second, _ = lead.get(url).context["page"].rows

    say(lead, first, "accepted")
    following = lead.get(f"{url}next/?after={first.pk}")

    assert following.url == f"/review/{second.pk}/?"
    assert [row.pk for row in lead.get(f"{url}?tab=done").context["page"].rows] == [first.pk]
    only = lead.get(f"{url}?annotator=cleo").context["page"].rows
    assert [row.assignment.annotator.username for row in only] == ["cleo"]
