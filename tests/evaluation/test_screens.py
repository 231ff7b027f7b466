from __future__ import annotations

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from evaluation.models import Run
from pipelines.types import Case, Output
from tests.evaluation.conftest import perfect, requirement

pytestmark = pytest.mark.django_db


def queries(client: Any, url: str) -> int:
    client.get(url)  # content types, session
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


@pytest.mark.parametrize("name", ["ana", "olga"])
@pytest.mark.parametrize(
    "page", ["runs", "run-new", "run", "run-progress", "run-results", "run-cases-csv", "run-case"]
)
def test_runs_do_not_exist_for_annotators_and_outsiders(
    finished: Any, signed_in: Any, name: str, page: str
) -> None:
    run = finished(pipeline="nothing")
    case = run.cases.first()
    arguments = {"runs": [], "run-new": [], "run-case": [run.pk, case.pk]}.get(page, [run.pk])

    response = signed_in(name).get(reverse(page, args=arguments))

    assert response.status_code == 404


@pytest.mark.parametrize("name", ["ana", "olga"])
def test_only_readers_steer_a_run(launch: Any, signed_in: Any, name: str) -> None:
    run = launch()

    response = signed_in(name).post(reverse("run-control", args=[run.pk]), {"action": "pause"})

    assert response.status_code == 404
    run.refresh_from_db()
    assert not run.paused


@pytest.mark.parametrize("name", ["rita", "noor", "admin"])
def test_leads_and_researchers_see_the_history(finished: Any, signed_in: Any, name: str) -> None:
    run = finished(pipeline="nothing")

    page = text(signed_in(name).get(reverse("runs")))

    assert run.get_absolute_url() in page
    assert "demo@1" in page


def test_the_history_is_empty_in_words(project: Any, signed_in: Any) -> None:
    page = text(signed_in("noor").get(reverse("runs")))

    assert "Nothing has been measured yet" in page


def test_the_history_can_be_filtered(launch: Any, finished: Any, signed_in: Any) -> None:
    nothing, everything = finished(pipeline="nothing"), launch(pipeline="everything")
    noor = signed_in("noor")

    def shown(query: str) -> set[int]:
        rows = noor.get(reverse("runs") + query).context["runs"]
        return {row["run"].pk for row in rows}

    assert shown("?pipeline=nothing") == {nothing.pk}
    assert shown("?status=queued") == {everything.pk}
    assert shown("?release=demo@1") == {nothing.pk, everything.pk}
    assert shown("?release=demo@2") == set()
    assert shown(f"?before={everything.pk}") == {nothing.pk}


def test_the_home_page_loads_ones_own_newest_runs(launch: Any, people: Any, signed_in: Any) -> None:
    noor = signed_in("noor")
    assert "You have launched no run yet" in text(noor.get(reverse("runs-mine")))

    for name in ("rita", *["noor"] * 6):
        launch(pipeline="nothing", requested_by=people[name])

    rows = noor.get(reverse("runs-mine")).context["runs"]
    assert [row["run"].requested_by.username for row in rows] == ["noor"] * 5
    assert f'hx-get="{reverse("runs-mine")}"' in text(noor.get(reverse("home")))


def test_the_history_asks_the_same_number_of_queries_for_any_number_of_runs(
    launch: Any, signed_in: Any
) -> None:
    noor = signed_in("noor")
    launch()
    few = queries(noor, reverse("runs"))

    for _ in range(8):
        launch()

    assert queries(noor, reverse("runs")) == few


def test_a_run_is_launched_from_the_form(
    release: Any, signed_in: Any, people: Any, django_capture_on_commit_callbacks: Any
) -> None:
    fields = {
        "release": release.pk,
        "pipeline": "everything",
        "everything.confidence": "0.7",
        "split": "",
        "repetitions": "2",
        "seed": "3",
    }

    response = signed_in("noor").post(reverse("run-new"), fields)

    run = Run.objects.get()
    assert response.status_code == 302
    assert response["Location"] == run.get_absolute_url()
    assert run.config == {"confidence": 0.7}
    assert (run.repetitions, run.seed, run.requested_by) == (2, 3, people["noor"])
    assert run.cases.count() == 6


def test_a_broken_rule_is_told_on_the_form(release: Any, signed_in: Any) -> None:
    fields = {"release": release.pk, "pipeline": "nothing", "split": "test", "reason": ""}

    response = signed_in("noor").post(reverse("run-new"), fields)

    assert response.status_code == 422
    assert "Say why the test split is looked at" in text(response)
    assert not Run.objects.exists()


def test_a_setting_out_of_range_is_told_at_its_field(release: Any, signed_in: Any) -> None:
    fields = {"release": release.pk, "pipeline": "everything", "everything.confidence": "7"}

    response = signed_in("noor").post(reverse("run-new"), fields)

    assert "less than or equal to 1" in text(response)
    assert not Run.objects.exists()


def test_the_run_page_shows_figures_floors_plots_and_cases(
    finished: Any, script: Any, signed_in: Any
) -> None:
    finished(pipeline="nothing")
    script(perfect)
    run = finished(pipeline="requirements-local")

    response = signed_in("noor").get(run.get_absolute_url())

    page = text(response)
    assert "Floor: nothing" in page
    assert "Reliability diagram" in page
    assert "Scores over the similarity threshold" in page
    f1 = next(one for one in response.context["summary"] if one["metric"].id == "requirement_f1")
    assert f1["figures"][0] == "1.000"
    assert f1["floors"] == ["0.000"]
    assert "3 matches of 3 gold and 3 predicted" in page
    assert "Bins of equal mass" in page
    plot = response.context["reliability"]
    assert [row["metric"].id for row in plot["figures"]] == ["ece", "mce"]
    assert all(row["mass"] != "–" and row["mass_interval"] != "–" for row in plot["figures"])


def test_floors_baselines_and_earlier_runs_are_those_on_the_same_cases(
    finished: Any, script: Any, signed_in: Any
) -> None:
    script(perfect)
    finished(pipeline="nothing", size=1)
    earlier = finished(pipeline="requirements-local", size=100, repetitions=2)  # there are fewer
    run = finished(pipeline="everything")

    context = signed_in("noor").get(run.get_absolute_url()).context

    assert context["floors"] == []
    assert [one.pk for one in context["gate"]["baselines"]] == [earlier.pk]
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
        return [row["case"].item.item_id for row in rows]

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
    assert "goes on by itself in 60 seconds at most" in told
    assert "No worker" not in held(-30)  # the next sweep wakes one
    now = timezone.now()
    Run.objects.update(created_at=now - timedelta(minutes=9), woken_at=now - timedelta(seconds=91))
    assert "No worker has taken up this run for 90 seconds" in held(-200)
    assert "#a-worker-that-is-gone" in held(-200)
    Run.objects.update(paused=True)
    assert "No worker" not in held(-200)


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


def mixed(case: Case) -> Output:
    """One match, one that differs in type and message, one extra; gold has one requirement."""
    number = int(case.case_id[-3:])
    same = requirement(number, type="security", source_messages=[1])
    extra = requirement(77, title="Coffee machine", action="Brew espresso daily")
    return {"requirements": [same, extra], "model": None}


def test_a_case_shows_gold_and_prediction_aligned_with_the_people_behind_the_gold(
    finished: Any, script: Any, signed_in: Any
) -> None:
    script(mixed)
    run = finished()
    case = run.cases.order_by("pk")[1]

    response = signed_in("noor").get(case.get_absolute_url())

    page = text(response)
    near, extra = response.context["rows"]
    assert (near["kind"], near["why_not"]) == ("near", "type differs")
    assert extra["kind"] == "extra"
    differing = {field["title"] for field in near["fields"] if field["differs"]}
    assert differing == {"Type", "Messages"}
    first, second = response.context["conversation"]
    assert (first["gold"], first["predicted"]) == ([1], [2])
    assert (second["gold"], second["predicted"]) == ([], [1])
    assert "ana" in page
    assert "by ana; in other words by ana;" in page
    assert "not by ben<" in page
    assert "version 2" in page
    assert "Label what they want." in page
    assert 'rel="prev"' in page
    assert 'rel="next"' in page


def test_the_steps_of_a_pipeline_are_shown_as_json(
    script: Any, finished: Any, signed_in: Any
) -> None:
    script(lambda case: perfect(case) | {"steps": [{"node": "Größe", "kept": None, "all": True}]})
    case = finished().cases.first()

    page = html.unescape(text(signed_in("noor").get(case.get_absolute_url())))

    assert '<code>{ "node": "Größe", "kept": null, "all": true }</code>' in page


def test_a_case_that_is_not_scored_yet_can_be_opened(launch: Any, signed_in: Any) -> None:
    case = launch().cases.first()

    page = text(signed_in("noor").get(case.get_absolute_url()))

    assert "no scores yet" in page


def test_a_case_belongs_to_its_run(launch: Any, signed_in: Any) -> None:
    one, other = launch(), launch()

    response = signed_in("noor").get(reverse("run-case", args=[one.pk, other.cases.first().pk]))

    assert response.status_code == 404


def test_settings_of_pipelines_are_named_in_the_language_of_the_reader(
    release: Any, signed_in: Any
) -> None:
    german = {"accept-language": "de"}

    page = signed_in("noor").get(reverse("run-new"), headers=german).content.decode()

    assert "Doppelte zusammenführen" in page
    assert "Merge duplicates" not in page
    assert '<option value="as above" selected>wie oben</option>' in page
    assert '<option value="local" selected>local</option>' in page  # as the help text names it


def test_no_page_needs_inline_script_or_style(finished: Any, script: Any, signed_in: Any) -> None:
    script(mixed)
    run = finished()
    noor = signed_in("noor")

    for url in (
        reverse("runs"),
        reverse("run-new"),
        run.get_absolute_url(),
        run.cases.first().get_absolute_url(),
    ):
        page = noor.get(url).content.decode()
        assert " style=" not in page
        assert "<style" not in page
        assert " onclick=" not in page
        assert "<script>" not in page
        assert "NaN" not in page


@pytest.mark.parametrize(
    "query",
    [
        f"?before={10**30}",
        "?before=²",
        "?before=-1",
        f"?release=demo@{10**30}",
        "?release=@",
        "?status=x",
        f"?before={'1' * 5000}",
        f"?release=demo@{'1' * 5000}",
    ],
)
def test_a_mangled_address_of_the_history_shows_something(
    launch: Any, signed_in: Any, query: str
) -> None:
    launch()

    assert signed_in("noor").get(reverse("runs") + query).status_code == 200


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
