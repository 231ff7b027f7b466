"""Judges rate what a run inferred: blind, at any size, counted anew, closed for good."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation import tasks
from evaluation.management import summary
from evaluation.models import Rating, RatingPanel, Run
from evaluation.services.run import execution, ratings, results
from evaluation.services.work import steering
from labeling.models import Project
from pipelines.types import Case, Output
from tests.evaluation.requirement_releases import inferred, make_release
from tests.pages import markup, page
from tests.refusals import refused

pytestmark = pytest.mark.django_db


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
def panel(run: Run, people: dict[str, User]) -> RatingPanel:
    return ratings.open_panel(run, by=people["rita"])


def rate(panel: RatingPanel, judge: User, *scores: int | None) -> None:
    for number, score in enumerate(scores, start=1):
        if score is not None:
            ratings.rate(panel, number, judge=judge, score=score)
    ratings.recount(panel.pk)


def figure(panel: RatingPanel, metric: str) -> tuple[float | None, str]:
    row = next(row for row in results.aggregates_of(panel.run) if row.metric == metric)
    return row.mean, row.detail.get("basis", "")


def test_figures_follow_the_ratings_of_whole_cases_while_the_run_stays_finished(
    panel: RatingPanel, people: dict[str, User]
) -> None:
    assert figure(panel, "inference_relevance") == ((0.5 + 0.0) / 2, "gold")

    rate(panel, people["noor"], 2)  # half of the first case: gold still judges
    assert figure(panel, "inference_relevance") == (0.25, "gold")

    rate(panel, people["noor"], 2, 1, 0)
    assert figure(panel, "inference_relevance") == ((3 / 4 + 0.0) / 2, "human")
    assert figure(panel, "false_inference_rate")[0] == (0.0 + 1.0) / 2

    ratings.rate(panel, 3, judge=people["noor"], score=2)
    assert RatingPanel.objects.get().is_stale
    tasks.recount_ratings(panel.pk)
    assert figure(panel, "inference_relevance") == ((3 / 4 + 1.0) / 2, "human")
    assert not RatingPanel.objects.get().is_stale
    assert Run.objects.get().scored_at == panel.run.scored_at


def test_a_run_of_older_metrics_waits_to_be_scored_again_and_says_so(
    panel: RatingPanel, people: dict[str, User], signed_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[int] = []
    monkeypatch.setattr(ratings, "_wake", woken.append)
    rate(panel, people["noor"], 2, 1, 0)
    ratings.rate(panel, 1, judge=people["noor"], score=0)
    older = panel.run.spec.metrics | {"inference_relevance": 0}
    Run.objects.update(spec=panel.run.spec.with_values(metrics=older))

    ratings.wake_unattended()

    text = signed_in("rita").get(reverse("run-ratings", args=[panel.run_id])).content.decode()
    assert "Choose “Score again”" in text
    assert woken == []
    steering.rescore(panel.run, by=people["rita"])
    execution.work(panel.run_id, uuid4())
    ratings.wake_unattended()
    assert woken == [panel.pk]


def test_older_figures_never_replace_newer_ones(
    panel: RatingPanel, people: dict[str, User]
) -> None:
    """A slow worker that began before the last rating stores nothing over a quick one."""
    rate(panel, people["noor"], 2, 2, 2)
    ratings.rate(panel, 1, judge=people["noor"], score=0)
    now = RatingPanel.objects.get()

    assert ratings._take(now.pk, now.changes)
    assert not ratings._take(now.pk, now.changes)
    assert not ratings._take(now.pk, now.changes - 1)


def test_closing_freezes_every_rating_in_the_database_too(
    panel: RatingPanel, people: dict[str, User]
) -> None:
    with refused(ratings.RatingRefused, match="Nobody has rated"):
        ratings.close(panel, by=people["rita"])
    rate(panel, people["noor"], 2, 1, 0)
    ratings.close(panel, by=people["rita"])

    for judge, score in (("noor", 0), ("noor", None), ("rita", 1)):
        with refused(ratings.RatingRefused, match="closed"):
            ratings.rate(panel, 1, judge=people[judge], score=score)
    for change in (lambda: Rating.objects.update(score=0), lambda: Rating.objects.all().delete()):
        with pytest.raises(DatabaseError, match="closed"), transaction.atomic():
            change()


def test_runs_without_anything_to_rate_are_refused(
    project: Project, script: Any, finished: Any, people: dict[str, User], release: Any
) -> None:
    with refused(ratings.RatingRefused, match="inferred nothing"):
        ratings.open_panel(_run(project, script, finished, {"case-1": []}), by=people["rita"])
    script(lambda case: {"requirements": []})
    with refused(ratings.RatingRefused, match="launch the pipeline on such gold"):
        ratings.open_panel(finished(release=release), by=people["rita"])


def test_a_run_that_inferred_nothing_says_so_beside_its_figures(
    project: Project, script: Any, finished: Any, signed_in: Any
) -> None:
    run = _run(project, script, finished, {"case-1": [], "case-2": ["Lock"], "case-3": []})
    rita, said = signed_in("rita"), "Nothing was inferred in 2 of 3 cases"

    assert said in page(rita, reverse("run", args=[run.pk]))
    assert said in " ".join(summary.notes(run))
    case = run.cases.order_by("pk")[0]
    assert "nothing was inferred" in page(rita, case.get_absolute_url())


def test_a_rating_of_nothing_is_not_offered(
    project: Project, script: Any, finished: Any, signed_in: Any
) -> None:
    run = _run(project, script, finished, {"case-1": []})
    rita = signed_in("rita")

    for name in ("run", "run-ratings"):
        shown = page(rita, reverse(name, args=[run.pk]))
        assert "inferred nothing, so there is nothing to rate" in shown
        assert "Open the rating" not in shown


# --- the page ---


def test_the_page_tells_neither_the_pipeline_nor_what_it_thinks_nor_gold(
    panel: RatingPanel, signed_in: Any
) -> None:
    address = panel.get_absolute_url()
    text = markup(signed_in("noor"), address)

    assert address == f"/ratings/{panel.code}/"
    assert "Dance" in text
    for hidden in ("everything", "necessary", "0.9", f"/runs/{panel.run_id}"):
        assert hidden not in text, hidden
    assert "everything" not in markup(signed_in("noor"), reverse("ratings"))


def test_others_ratings_stay_hidden_until_a_judge_is_done(
    panel: RatingPanel, people: dict[str, User], signed_in: Any
) -> None:
    rate(panel, people["rita"], 2, 1, 0)
    rate(panel, people["ana"], 2, 1, 0)
    noor, beside = signed_in("noor"), reverse("run-ratings", args=[panel.run_id])
    assert "κ" not in markup(noor, panel.get_absolute_url())
    assert "κ" in markup(noor, beside)  # who only runs it
    ratings.rate(panel, 1, judge=people["noor"], score=1, note="mine")

    assert "κ" not in markup(noor, panel.get_absolute_url())
    assert "κ" not in markup(noor, beside)

    rate(panel, people["noor"], 2, 1, 1)
    assert "κ" in markup(noor, panel.get_absolute_url())
    pair = next(one for one in ratings.agreement(panel) if (one.a, one.b) == ("noor", "rita"))
    # Σd² = 1; 5 + 6 − 2·3·4/3 = 3
    assert (pair.n, pair.kappa) == (3, pytest.approx(1 - 1 / 3))


def test_annotators_rate_when_they_are_invited_and_still_members(
    panel: RatingPanel, people: dict[str, User], project: Project, signed_in: Any
) -> None:
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


def test_a_rating_is_stored_changed_and_taken_back(
    panel: RatingPanel, people: dict[str, User], signed_in: Any
) -> None:
    noor = signed_in("noor")
    address = reverse("rating-label", args=[panel.code, 2])
    own = Rating.objects.filter(judge=people["noor"])

    noor.post(address, {"score": "2", "note": "because"})
    assert list(own.values_list("position", "score", "note")) == [(1, 2, "because")]
    swapped = noor.post(address, {"score": "0"}, headers={"HX-Request": "true"}).content.decode()
    assert 'name="score" value="2"' in swapped  # undo leads back to it
    assert "You have rated 1 of 3" in swapped
    noor.post(address, {"score": ""})
    assert not own.exists()
    for wrong in ("3", "-1", "x"):
        refused = noor.post(address, {"score": wrong}, headers={"HX-Request": "true"})
        assert refused.status_code == 400


def test_thousands_of_labels_are_paged_with_as_many_queries_as_ten(
    project: Project, script: Any, finished: Any, people: dict[str, User], signed_in: Any
) -> None:
    few = _run(project, script, finished, {"case-1": [f"Few {n}" for n in range(10)]})
    panel_few = ratings.open_panel(few, by=people["rita"])
    case = few.cases.get()
    case.output = {"inferred_requirements": [inferred(f"Many {n}") for n in range(5000)]}
    RatingPanel.objects.filter(pk=panel_few.pk).delete()
    case.save()
    with CaptureQueriesContext(connection) as opening:
        panel = ratings.open_panel(few, by=people["rita"])
    assert panel.n_labels == 5000
    assert len(opening) < 40  # SQLite takes few rows at once
    noor = signed_in("noor")

    def queries(after: int) -> int:
        with CaptureQueriesContext(connection) as asked:
            text = markup(noor, panel.get_absolute_url(), after=after)
        assert f"Many {after}" in text
        assert f"Many {after + 25}<" not in text
        return len(asked)

    assert queries(0) == queries(4900)
