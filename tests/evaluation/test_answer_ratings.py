"""People rate answers blindly; the pages of judges show what they are worth and ask for more."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from evaluation.models import Rating, RatingPanel, RatingSample, Run
from evaluation.services.judging import ratings, samples
from evaluation.services.run import execution
from labeling.models import Project
from tests.evaluation import answers as asked
from tests.evaluation import launching
from tests.llm_server import LanguageServer
from tests.pages import markup

PLACES = 4 * 3 - 1
"""Three answers of four kinds each; one has no reference answer."""


@pytest.fixture
def run(server: LanguageServer, project: Project, people: dict[str, User], script: Any) -> Run:
    server.default = asked.speak
    script(asked.retrieve)
    options = {"requested_by": people["noor"], "queue": False, "evaluate_answers": True}
    made = launching.launch(asked.questions(project), pipeline="lexical", **options)
    execution.work(made.pk, uuid4())
    return Run.objects.select_related("release__project").get(pk=made.pk)


@pytest.fixture
def panel(run: Run, people: dict[str, User]) -> RatingPanel:
    return samples.draw(run, by=people["rita"])[0].panel


def test_raters_see_neither_pipeline_nor_model_nor_the_judge(panel, signed_in):
    text = markup(signed_in("noor"), panel.get_absolute_url())
    assert "It was Rome, and it rained." in text
    assert "Message 3 of Chat_1" in text
    assert f"You have rated 0 of {PLACES}" in text
    for hidden in ("lexical", "small-1", "As the messages say.", ">8.0", f"/runs/{panel.run_id}"):
        assert hidden not in text, hidden


def test_only_what_was_drawn_is_offered_and_a_closed_sample_takes_no_rating(run, people, signed_in):
    drawn = samples.draw(run, size=2, kinds=["relevance", "faithfulness"], by=people["rita"])
    panel = drawn[0].panel
    kinds = ratings.places(panel).values_list("sample__kind", flat=True)
    assert list(kinds) == ["faithfulness", "relevance"] * 2
    noor = signed_in("noor")
    assert "You have rated 0 of 4" in markup(noor, panel.get_absolute_url())

    samples.give_up(drawn[0], by=people["rita"], reason="Enough.")
    closed, still_open = (reverse("rating-store", args=[panel.code, number]) for number in (1, 2))
    htmx = {"HX-Request": "true"}
    assert noor.post(closed, {"score": "5"}, headers=htmx).status_code == 400
    assert noor.post(still_open, {"score": "5"}, headers=htmx).status_code == 200
    assert Rating.objects.count() == 1


def test_a_rating_is_stored_changed_taken_back_and_held_to_its_scale(panel, people, signed_in):
    noor, htmx = signed_in("noor"), {"HX-Request": "true"}
    address = reverse("rating-store", args=[panel.code, 2])
    own = Rating.objects.filter(rater=people["noor"])
    place = ratings.places(panel)[1]

    noor.post(address, {"score": "10", "note": "because"})
    assert list(own.values_list("case", "kind", "score", "note")) == [
        (place.case_id, place.sample.kind, 10, "because")
    ]
    swapped = noor.post(address, {"score": "0"}, headers=htmx).content.decode()
    assert 'name="score" value="" data-score="0"' in swapped  # once more takes it back
    assert f"You have rated 1 of {PLACES}" in swapped
    for wrong in ("11", "-1", "x", "9.5"):
        assert noor.post(address, {"score": wrong}, headers=htmx).status_code == 400
    assert own.get().score == 0
    noor.post(address, {"score": ""})
    assert not own.exists()
    beyond = reverse("rating-store", args=[panel.code, PLACES + 1])
    assert noor.post(beyond, {"score": "1"}).status_code == 404


def test_a_lead_closes_a_sample_on_the_page_when_all_of_it_is_rated(run, people, signed_in):
    rita, change = signed_in("rita"), reverse("run-ratings-change", args=[run.pk])
    beside = reverse("run-ratings", args=[run.pk])
    rita.post(change, {"action": "draw", "size": "2", "kind": ["relevance"]})
    (sample,) = RatingSample.objects.all()
    end = {"sample": str(sample.pk), "reason": "Only noor rates."}
    assert "0/2" in markup(rita, beside)
    assert "People have rated 0 of the 2" in markup(
        rita, rita.post(change, {"action": "close", **end}).url
    )
    noor = signed_in("noor")
    for place in ratings.places(sample.panel):
        noor.post(reverse("rating-store", args=[sample.panel.code, place.number]), {"score": "7"})
    assert signed_in("noor").post(change, {"action": "close", **end}).status_code == 403
    rita.post(change, {"action": "close", **end})
    sample.refresh_from_db()
    assert (sample.closed_by, sample.given_up) == (people["rita"], False)
    assert "Only noor rates." in markup(rita, beside)
    assert "Draw another sample" in markup(rita, beside)
