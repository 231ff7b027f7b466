"""People rate what a run inferred: blind, at any size, counted once it is closed for good."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from config.version import VERSION
from evaluation import adapters
from evaluation.models import RatingPanel, RatingSample, Run
from evaluation.services.judging import ratings, samples
from evaluation.services.run import execution, results
from labeling.models import Event, Project
from pipelines.types import Case, Output
from tests.concurrency import Pause, both
from tests.evaluation.requirement_releases import inferred, make_release
from tests.pages import markup
from tests.refusals import refused

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


@pytest.fixture
def run(project: Project, script: Any, finished: Any) -> Run:
    """Two cases: Lock (which is in gold) and Dance; Sing."""
    return _run(project, script, finished, {"case-1": ["Lock", "Dance"], "case-2": ["Sing"]})


def _run(project: Project, script: Any, finished: Any, titles: dict[str, list[str]]) -> Run:
    def behave(case: Case) -> Output:
        own = titles[case.case_id]
        return {"inferred_requirements": [inferred(one, confidence=0.9) for one in own]}

    script(behave)
    golds = [{"inferred_requirements": [inferred("Lock")]} for _ in titles]
    found: Run = finished(release=make_release(project, "inference", *golds))
    return found


@pytest.fixture
def sample(run: Run, people: dict[str, User]) -> RatingSample:
    (drawn,) = samples.draw(run, by=people["rita"])
    return drawn


@pytest.fixture
def panel(sample: RatingSample) -> RatingPanel:
    return sample.panel


def rate(panel: RatingPanel, rater: User, *scores: int) -> None:
    for place, score in zip(ratings.places(panel), scores, strict=False):
        ratings.rate(place, rater=rater, score=score)


def figure(run: Run, metric: str) -> tuple[float | None, str]:
    row = next(row for row in results.aggregates_of(run) if row.metric == metric)
    return row.mean, row.detail.get("basis", "")


def test_ratings_of_whole_cases_count_once_the_sample_is_closed(run, sample, people):
    with refused(samples.RatingRefused, match="rated 0 of the 3"):
        samples.close(sample, by=people["rita"])
    rate(sample.panel, people["noor"], 2, 1, 0)
    rate(sample.panel, people["ana"], 0)  # half of the first case: counts for nothing
    assert figure(run, "inference_relevance") == ((0.5 + 0.0) / 2, "gold")

    samples.close(sample, by=people["rita"])
    execution.work(run.pk, uuid4())

    assert figure(run, "inference_relevance") == ((3 / 4 + 0.0) / 2, "human")
    assert figure(run, "false_inference_rate")[0] == (0.0 + 1.0) / 2
    for rater, score in (("noor", 0), ("noor", None), ("rita", 1)):
        with refused(samples.RatingRefused, match="closed"):
            ratings.rate(ratings.places(sample.panel)[0], rater=people[rater], score=score)


def test_what_is_given_up_counts_for_nothing(run, sample, people):
    rate(sample.panel, people["noor"], 2, 1, 0)
    samples.give_up(sample, by=people["rita"], reason="The wrong people.")
    assert adapters.ratings_of(run) is None


def test_runs_without_anything_to_rate_are_refused(project, script, finished, people, release):
    with refused(samples.RatingRefused, match="inferred nothing"):
        samples.draw(_run(project, script, finished, {"case-1": []}), by=people["rita"])
    script(lambda case: {"requirements": []})
    with refused(samples.RatingRefused, match="launch a run on such gold"):
        samples.draw(finished(release=release), by=people["rita"])


# --- the page ---


def test_the_page_tells_neither_the_pipeline_nor_what_it_thinks_nor_gold(panel, signed_in):
    address = panel.get_absolute_url()
    text = markup(signed_in("noor"), address).replace(VERSION, "")

    assert address == f"/ratings/{panel.code}/"
    assert "Dance" in text
    for hidden in ("everything", "necessary", "0.9", f"/runs/{panel.run_id}"):
        assert hidden not in text, hidden
    assert "everything" not in markup(signed_in("noor"), reverse("ratings"))


def test_how_others_rate_stays_hidden_until_the_sample_is_closed(sample, people, signed_in):
    panel, noor = sample.panel, signed_in("noor")
    pages = (panel.get_absolute_url(), reverse("run-ratings", args=[panel.run_id]))
    rate(panel, people["rita"], 2, 1, 0)
    rate(panel, people["noor"], 2, 1, 1)
    assert not any("κ" in markup(noor, address) for address in pages)

    close = {"action": "close", "sample": sample.pk}
    signed_in("rita").post(reverse("run-ratings-change", args=[panel.run_id]), close)
    assert all("κ" in markup(noor, address) for address in pages)
    (pair,) = ratings.agreement(sample)
    # Σd² = 1; 5 + 6 − 2·3·4/3 = 3
    assert (pair.n, pair.kappa) == (3, pytest.approx(1 - 1 / 3))


def test_annotators_rate_when_they_are_invited_and_still_members(panel, people, project, signed_in):
    ana, address = signed_in("ana"), panel.get_absolute_url()
    assert ana.get(address).status_code == 404

    data = {"action": "invite", "judge": ["ana", "olga"]}
    signed_in("rita").post(reverse("run-ratings-change", args=[panel.run_id]), data)

    assert ana.get(address).status_code == 200
    assert "1 rating waits for you" in markup(ana, reverse("home"))
    assert "Rating" in markup(ana, reverse("ratings"))
    assert signed_in("olga").get(address).status_code == 404
    project.memberships.filter(user=people["ana"]).delete()
    assert ana.get(address).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_of_two_who_draw_a_sample_of_a_run_one_has_it(run, people, monkeypatch):
    pause = Pause(monkeypatch, samples, "_record")

    one, other = both(
        lambda: samples.draw(run, by=people["rita"]),
        pause,
        lambda: samples.draw(run, by=people["admin"]),
    )

    assert [sample.kind for sample in one.result()] == ["need"]
    with pytest.raises(samples.RatingRefused, match="nothing_left"):
        other.result()
    assert RatingSample.objects.count() == 1
    assert Event.objects.filter(verb="answers.sample_drawn").count() == 1
