"""The page of a run: figures, progress, and what can be done with it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluation.models import Run
from labeling.domain.facts import Fact
from labeling.services import health
from pipelines.types import Case, Output
from tests.evaluation.conftest import perfect
from tests.evaluation.screens import queries, text

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", ["ana", "olga"])
def test_only_readers_steer_a_run(launch: Any, signed_in: Any, name: str) -> None:
    run = launch()

    response = signed_in(name).post(reverse("run-control", args=[run.pk]), {"action": "pause"})

    assert response.status_code == 404
    run.refresh_from_db()
    assert not run.paused


def test_the_run_page_shows_figures_floors_plots_and_cases(
    finished: Any, script: Any, signed_in: Any
) -> None:
    script(perfect)
    run = finished(pipeline="requirements-local")

    response = signed_in("noor").get(run.get_absolute_url())

    page = text(response)
    assert "Floor: nothing" in page
    assert "Reliability diagram" in page
    assert "Scores over the similarity threshold" in page
    summary = response.context["summary"]
    f1 = next(line for line in summary if line.metric.id == "requirement_f1")
    assert f1.figure == "1.000"
    assert [(floor.name, floor.text) for floor in f1.floors][:1] == [("nothing", "0.000")]
    assert response.context["headline"] == f1
    assert "3 matches of 3 gold and 3 predicted" in page
    assert "Bins of equal mass" in page
    plot = response.context["reliability"]
    assert [row.metric.id for row in plot["figures"]] == ["ece", "mce"]
    assert all(row.mass != "–" and row.mass_interval != "–" for row in plot["figures"])


def test_baselines_and_earlier_runs_are_those_on_the_same_cases(
    finished: Any, script: Any, signed_in: Any
) -> None:
    script(perfect)
    finished(pipeline="nothing", size=1)
    earlier = finished(pipeline="requirements-local", size=100, repetitions=2)  # there are fewer
    run = finished(pipeline="everything")

    context = signed_in("noor").get(run.get_absolute_url()).context

    assert {floor.n for floor in context["headline"].floors} == {3}
    assert [baseline.pk for baseline in context["gate"]["baselines"]] == [earlier.pk]
    assert [row["run"] for row in context["over_runs"]["rows"]] == [earlier.pk, run.pk]


def test_an_undefined_score_is_a_dash_with_its_reason(finished: Any, signed_in: Any) -> None:
    run = finished(pipeline="nothing")

    page = text(signed_in("noor").get(run.get_absolute_url()))

    assert 'title="no extracted requirement has similar text to a gold one">–' in page


def one_fails(case: Case) -> Output:
    if case.case_id == "case-001":
        raise ValueError("no <b>luck</b>")
    return perfect(case)


def test_a_failed_case_is_red_and_says_why(finished: Any, script: Any, signed_in: Any) -> None:
    script(one_fails)
    run = finished()
    noor = signed_in("noor")

    page = text(noor.get(run.get_absolute_url()))
    failed = run.cases.get(state="failed")
    case_page = text(noor.get(failed.get_absolute_url()))

    assert '<tr class="failed">' in page
    assert "ValueError: no &lt;b&gt;luck&lt;/b&gt;" in case_page


def test_cases_are_sorted_by_a_metric_with_the_undefined_last(
    finished: Any, script: Any, signed_in: Any
) -> None:
    script(one_fails)
    run = finished()
    noor = signed_in("noor")

    def order(sort: str) -> list[str]:
        rows = noor.get(f"{run.get_absolute_url()}?sort={sort}").context["cases"]
        return [row.case.item.item_id for row in rows]

    assert order("requirement_f1") == ["case-001", "case-000", "case-002"]
    assert order("-requirement_f1") == ["case-000", "case-002", "case-001"]
    assert order("nonsense") == ["case-000", "case-001", "case-002"]


def test_pages_ask_the_same_number_of_queries_for_10_and_for_200_cases(
    make_release: Any, finished: Any, script: Any, signed_in: Any
) -> None:
    script(perfect)
    small = finished(release=make_release(10, name="ten"))
    large = finished(release=make_release(200, name="many"))
    noor = signed_in("noor")

    for page in ("run", "run-results"):
        few = queries(noor, reverse(page, args=[small.pk]))
        assert queries(noor, reverse(page, args=[large.pk])) == few, page


def test_the_page_says_when_no_worker_reports(launch: Any, signed_in: Any, settings: Any) -> None:
    settings.CASE_LEASE_SECONDS = 120
    run = launch()
    noor, url = signed_in("noor"), reverse("run-progress", args=[run.pk])
    assert "No worker" not in text(noor.get(url))

    def held(seconds: int) -> str:
        end = timezone.now() + timedelta(seconds=seconds)
        run.cases.filter(pk=run.cases.first().pk).update(state="running", lease_expires_at=end)
        return text(noor.get(url))

    assert "No worker" not in held(118)  # it renews after 40 seconds
    told = held(59)  # renewed 61 seconds ago
    assert "No worker has reported for 60 seconds." in told
    assert "continues by itself in 60 seconds at most" in told
    assert "No worker" not in held(-30)  # the next sweep wakes one
    now = timezone.now()
    Run.objects.update(created_at=now - timedelta(minutes=9), woken_at=now - timedelta(seconds=91))
    assert "No worker has taken up this run for 90 seconds" in held(-200)
    assert "#a-worker-that-is-gone" in held(-200)
    Run.objects.update(paused=True)
    assert "No worker" not in held(-200)


def test_progress_says_that_conversations_are_made_ready_first(launch: Any, signed_in: Any) -> None:
    run, noor = launch(), signed_in("noor")
    url = reverse("run-progress", args=[run.pk])
    end = timezone.now() + timedelta(seconds=118)

    def said(pipeline: str, *states: str) -> bool:
        Run.objects.update(pipeline=pipeline)
        for case, state in zip(run.cases.all(), states, strict=False):
            run.cases.filter(pk=case.pk).update(
                state=state,
                lease_expires_at=end,
                error=Fact("answer.called_off") if state == "failed" else None,
            )
        return "made ready before its first question" in text(noor.get(url))

    assert not said("memory", "queued")
    assert said("memory", "running")
    assert not said("everything", "running")
    assert not said("forgotten", "running")
    assert not said("memory", "running", "failed")


def test_progress_says_that_no_worker_is_running(launch: Any, signed_in: Any) -> None:
    url = reverse("run-progress", args=[launch().pk])
    noor = signed_in("noor")

    assert "no worker is running" in text(noor.get(url))
    health.pulse("a worker")
    assert "no worker is running" not in text(noor.get(url))
    assert "waiting for a worker" in text(noor.get(url))


def test_progress_polls_until_the_run_ends(launch: Any, finished: Any, signed_in: Any) -> None:
    noor = signed_in("noor")
    waiting, done = launch(), finished(pipeline="nothing")

    polled = noor.get(reverse("run-progress", args=[waiting.pk]))
    ended = noor.get(reverse("run-progress", args=[done.pk]))

    assert polled.status_code == 200
    assert "0 of 3 cases done" in text(polled)
    assert ended.status_code == 286
    assert ended["HX-Refresh"] == "true"


def test_cancelling_asks_first(launch: Any, signed_in: Any) -> None:
    run = launch()
    noor = signed_in("noor")
    control = reverse("run-control", args=[run.pk])

    asked = noor.post(control, {"action": "cancel"})
    run.refresh_from_db()
    assert "Cancel run" in text(asked)
    assert not run.cancelled

    noor.post(control, {"action": "cancel", "confirm": "yes"})
    run.refresh_from_db()
    assert run.cancelled


def test_the_buttons_pause_resume_and_score_again(
    launch: Any, finished: Any, signed_in: Any
) -> None:
    run, done = launch(), finished(pipeline="nothing")
    noor = signed_in("noor")
    control = reverse("run-control", args=[run.pk])

    noor.post(control, {"action": "pause"})
    run.refresh_from_db()
    assert run.paused
    noor.post(control, {"action": "resume"})
    run.refresh_from_db()
    assert not run.paused
    noor.post(reverse("run-control", args=[done.pk]), {"action": "rescore"})
    done.refresh_from_db()
    assert done.scored_at is None

    refused = noor.post(control, {"action": "rescore"}, follow=True)
    assert "Only a run whose cases are all done" in text(refused)


@pytest.mark.parametrize("query", [f"?page={10**30}", "?page=x", "?sort=x", "?page=-1"])
def test_a_mangled_address_of_a_run_shows_something(
    launch: Any, signed_in: Any, query: str
) -> None:
    run = launch()

    assert signed_in("noor").get(run.get_absolute_url() + query).status_code == 200
    assert signed_in("noor").get(reverse("run", args=[10**30])).status_code == 404
    case = run.cases.first()
    assert signed_in("noor").get(reverse("run-case", args=[10**30, case.pk])).status_code == 404


def test_charts_are_drawn_in_german_too(
    make_release: Any, script: Any, finished: Any, signed_in: Any
) -> None:
    """A coordinate such as 36,5 is none: the browser leaves out what stands there."""
    release = make_release(4, name="drawn")
    script(perfect)
    finished(release=release)
    run = finished(release=release)

    url = reverse("run", args=[run.pk])
    page = signed_in("noor").get(url, headers={"accept-language": "de"}).content.decode()

    assert 'class="plot-dot' in page
    assert re.findall(r'\s(?:[xy][12]?|c[xy]|r|width|height)="-?\d+,\d+"', page) == []


def test_counts_over_all_cases_say_what_a_failed_case_adds(
    make_release: Any, script: Any, finished: Any, signed_in: Any
) -> None:
    def breaks_once(case: Case) -> Output:
        if case.case_id.endswith("1"):
            raise ValueError("It broke.")
        return perfect(case)

    script(breaks_once)
    url = reverse("run", args=[finished(release=make_release(3, name="broken")).pk])

    assert "A failed case counts as if as many wrong labels" in text(signed_in("noor").get(url))
