"""The page of a run: figures, progress, and what can be done with it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluation.models import Run
from evaluation.services.run.baselines import baseline_of
from evaluation.services.run.pace import per_second
from evaluation.services.work import steering
from evaluation.views import run_cases
from labeling.domain.facts import Fact
from labeling.operation import health
from pipelines.types import Case, Output
from tests.evaluation.conftest import fails, perfect, requirement, sometimes_right
from tests.evaluation.screens import queries, text


def test_the_run_page_shows_figures_floors_plots_and_cases(finished, script, signed_in):
    script(perfect)
    run = finished(pipeline="requirements-local")

    response = signed_in("noor").get(run.get_absolute_url())

    page = text(response)
    assert "0.000 (nothing)" in page
    summary = response.context["summary"]
    f1 = next(row for row in summary if row.metric == "requirement_f1")
    assert f1.mean == 1
    assert f1.yardsticks["floors"]["nothing"]["mean"] == 0
    assert response.context["headline"] == f1
    assert "3 matches of 3 gold and 3 predicted" in page
    curves = signed_in("noor").get(f"{run.get_absolute_url()}?tab=curves")
    for shown in ("Reliability diagram", "Scores over the similarity threshold"):
        assert shown in text(curves)


def test_cases_are_sorted_by_a_metric_with_the_undefined_last(finished, script, signed_in):
    script(one_fails)
    run = finished()
    noor = signed_in("noor")

    def order(sort: str) -> list[str]:
        rows = noor.get(f"{run.get_absolute_url()}?sort={sort}").context["cases"]
        return [row.case.item.item_id for row in rows]

    assert order("requirement_f1") == ["case-001", "case-000", "case-002"]
    assert order("-requirement_f1") == ["case-000", "case-002", "case-001"]
    assert order("nonsense") == ["case-000", "case-001", "case-002"]


one_fails = fails(ValueError("no <b>luck</b>"), at="case-001")


def one_in_three_is_right(case: Case) -> Output:
    number = int(case.case_id[-3:])
    if number == 4:
        raise ValueError("It broke.")
    return perfect(case) if number % 3 == 0 else {"requirements": [], "model": None}


def test_cases_are_filtered_by_what_came_out(make_release, finished, script, signed_in):
    script(one_in_three_is_right)
    run = finished(release=make_release(6, name="six"))
    noor, url = signed_in("noor"), run.get_absolute_url()

    def shown(query: str) -> list[str]:
        rows = noor.get(f"{url}?{query}").context["cases"]
        return [row.case.case_id[-1] for row in rows]

    assert shown("outcome=failed") == ["4"]
    assert shown("outcome=failure") == ["1", "2", "4", "5"]
    assert shown("outcome=waiting") == []
    assert len(shown("outcome=nonsense&tab=cases")) == 6
    assert shown("text=CASE-004") == ["4"]
    assert shown("text=CASE-004&outcome=waiting") == shown("text=no+such+word") == []


def test_a_view_of_cases_is_an_address(make_release, finished, script, signed_in, monkeypatch):
    """Filters hold together, and stay when the order or the page changes."""
    script(one_in_three_is_right)
    run = finished(release=make_release(6, name="six", splits=("train", "dev")))
    query = "outcome=failure&split=train"
    noor, url = signed_in("noor"), run.get_absolute_url()

    response = noor.get(f"{url}?{query}&sort=requirement_f1")

    assert [row.case.case_id[-1] for row in response.context["cases"]] == ["2", "4"]
    assert "2 of 6" in text(response)
    monkeypatch.setattr(run_cases, "PAGE_SIZE", 1)
    second = noor.get(f"{url}?{query}&page=2")
    assert [row.case.case_id[-1] for row in second.context["cases"]] == ["4"]
    assert f"?{query.replace('&', '&amp;')}&amp;page=1#cases" in text(second)


def test_the_run_is_set_beside_the_one_before_it(make_release, finished, script, signed_in):
    release, noor = make_release(6, name="six"), signed_in("noor")
    script(one_in_three_is_right)
    other = finished(release=release, pipeline="requirements-local")
    before = finished(release=release)
    script(perfect)
    run = finished(release=release)
    verdict = reverse("run-verdict", args=[run.pk])

    page = text(noor.get(run.get_absolute_url()))
    said = text(noor.get(verdict))

    assert baseline_of(run) == (before, [])
    assert f'hx-get="{verdict}"' in page
    assert f"?baseline={before.pk}&amp;run={run.pk}" in page  # without a script, too
    assert f"Run {run.pk}" in said or f"run {run.pk}" in said
    assert not noor.get(reverse("run-verdict", args=[other.pk])).content  # nothing was before it


def test_repetitions_are_read_as_one_and_all_of_k(finished, script, signed_in):
    script(sometimes_right())
    run = finished(repetitions=3)
    noor, url = signed_in("noor"), f"{run.get_absolute_url()}?tab=repetitions"

    page = noor.get(url)

    shown = [[row.one_right.mean, row.all_right.mean] for row in page.context["repeated"].rows]
    assert shown == [
        pytest.approx([4 / 9] * 2),  # (1/3 + 1 + 0) / 3, as the run's own figure
        pytest.approx([5 / 9, 1 / 3]),  # one of two: 1 − C(2, 2)/C(3, 2) = 2/3
        pytest.approx([2 / 3, 1 / 3]),
    ]
    assert page.context["headline"].mean == pytest.approx(4 / 9)
    assert "9 results (3 repetitions of each case)" in text(page)
    once = finished()
    tabs = noor.get(once.get_absolute_url()).context["tabs"]
    assert "repetitions" not in [tab.name for tab in tabs]


def test_pages_ask_the_same_number_of_queries_for_3_and_for_9_cases(
    make_release, finished, script, signed_in
):
    script(perfect)
    few, many = make_release(3, name="few"), make_release(9, name="many")
    finished(release=few), finished(release=many)  # the baselines
    small, large = finished(release=few), finished(release=many)
    noor = signed_in("noor")

    tabs = [f"?tab={name}" for name in ("summary", "cases", "slices", "curves", "provenance")]
    sorts = ["?sort=-requirement_f1&outcome=failure", "progress/?tab=cases", "verdict/"]
    for part in ("report.json", "", *tabs, *sorts):
        spent = queries(noor, reverse("run", args=[small.pk]) + part)
        assert queries(noor, reverse("run", args=[large.pk]) + part) == spent, part


def test_the_page_says_when_no_worker_reports(launch: Any, signed_in: Any, settings: Any) -> None:
    settings.CASE_LEASE_SECONDS = 120
    run = launch()
    noor, url = signed_in("noor"), reverse("run-progress", args=[run.pk])
    assert "no worker is running" in text(noor.get(url))
    health.pulse("a worker")
    assert "waiting for a worker" in text(noor.get(url))

    def held(seconds: int) -> str:
        end = timezone.now() + timedelta(seconds=seconds)
        run.cases.filter(pk=run.cases.first().pk).update(state="running", lease_expires_at=end)
        return text(noor.get(url))

    now = timezone.now()
    Run.objects.update(created_at=now - timedelta(minutes=9), woken_at=now - timedelta(seconds=91))
    assert "No worker" not in held(59)
    assert "No worker" not in held(-30)  # another one takes it over
    assert "No worker has been at this run for a minute" in held(-200)
    Run.objects.update(paused=True)
    assert "No worker" not in held(-200)


def test_progress_says_that_conversations_are_made_ready_first(launch, signed_in):
    run, end = launch(), timezone.now() + timedelta(seconds=118)
    for pipeline, states, said in (
        ("memory", ["queued"], False),
        ("everything", ["running"], False),
        ("forgotten", ["running"], False),
        ("memory", ["running"], True),
        ("memory", ["running", "failed"], False),
    ):
        Run.objects.update(pipeline=pipeline)
        for case, state in zip(run.cases.all(), states, strict=False):
            error = Fact("answer.called_off") if state == "failed" else None
            run.cases.filter(pk=case.pk).update(state=state, lease_expires_at=end, error=error)
        page = text(signed_in("noor").get(reverse("run-progress", args=[run.pk])))
        assert ("made ready before its first question" in page) is said, (pipeline, states)


def test_progress_tells_pace_and_time_left(make_release, launch, signed_in, monkeypatch):
    run, noor = launch(release=make_release(10, name="ten")), signed_in("noor")
    url, now = reverse("run-progress", args=[run.pk]), timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    keys = list(run.cases.order_by("pk").values_list("pk", flat=True))
    for pk, seconds in zip(keys, (60, 30), strict=False):
        at = now - timedelta(seconds=seconds)
        run.cases.filter(pk=pk).update(state="done", output={}, finished_at=at)
    for pk, left in ((keys[8], -1), (keys[9], 3600)):
        held = now + timedelta(seconds=left)
        run.cases.filter(pk=pk).update(state="running", lease_expires_at=held)
    assert "three cases have to end first" in text(noor.get(url))
    late = Fact("answer.called_off")
    run.cases.filter(pk=keys[2]).update(
        state="failed", error=late, error_class="transient", finished_at=now
    )

    page = noor.get(f"{url}?tab=cases")

    told = text(page)
    assert "2.0 a minute" in told  # two more since the oldest, in a minute
    assert "3\xa0minutes" in page.content.decode()  # for seven of ten
    assert "<title>3/10 · Run" in told
    assert f'id="case-{keys[9]}"' in told
    run.cases.update(state="done", output={}, error=None, error_class="")
    Run.objects.filter(pk=run.pk).update(scored_cases=2)
    part = noor.get(url).content.decode()
    assert "2 of 10 scored" in part
    assert 'id="case-rows"' not in part


def test_the_pace_of_a_resumed_run_leaves_out_the_pause(
    make_release, launch, people, monkeypatch, django_capture_on_commit_callbacks
):
    run, now = launch(release=make_release(10, name="ten")), timezone.now()
    keys = list(run.cases.values_list("pk", flat=True))
    # three cases in the first minute, a pause of nine, and three in the last
    for pk, minutes in zip(keys, (10, 9.5, 9, 1, 0.5, 0), strict=False):
        ended = now + timedelta(minutes=10 - minutes)
        run.cases.filter(pk=pk).update(state="done", output={}, finished_at=ended)
    steering.pause(run, by=people["noor"])
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(minutes=8.9))
    with django_capture_on_commit_callbacks(execute=True):
        steering.resume(run, by=people["noor"])
    run.refresh_from_db()
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(minutes=10))

    assert per_second(run) == pytest.approx(2 / 60)


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


def test_the_menu_tries_again_and_repeats(make_release, launch, finished, script, signed_in):
    script(one_in_three_is_right)
    run = finished(release=make_release(5, name="five"))
    whole = finished(pipeline="nothing")
    waiting, noor = launch(), signed_in("noor")

    def offers(run: Run) -> list[bool]:
        page = text(noor.get(run.get_absolute_url()))
        offered = ('value="retry"', f"?like={run.pk}")
        return [each in page for each in offered]

    assert offers(run) == [True, True]
    assert offers(whole) == offers(waiting) == [False, True]
    noor.post(reverse("run-control", args=[run.pk]), {"action": "retry"})
    assert run.cases.filter(state="queued").count() == 1


MANGLED = [f"?tab=cases&page={10**30}", "?page=x", "?sort=x", "?page=-1&sort=mrr", "?tab=x"]


def test_a_mangled_address_of_a_run_shows_something(launch, signed_in):
    run, noor = launch(), signed_in("noor")
    for query in MANGLED:
        assert noor.get(run.get_absolute_url() + query).status_code == 200
    assert noor.get(reverse("run", args=[10**30])).status_code == 404
    case = run.cases.first()
    assert noor.get(reverse("run-case", args=[10**30, case.pk])).status_code == 404


def test_charts_are_drawn_in_german_too(make_release, script, finished, signed_in):
    """A coordinate such as 36,5 is none: the browser leaves out what stands there."""
    release = make_release(4, name="drawn")
    script(perfect)
    finished(release=release)
    run = finished(release=release)

    url = reverse("run", args=[run.pk])
    pages = [
        signed_in("noor").get(f"{url}{tab}", headers={"accept-language": "de"}).content.decode()
        for tab in ("", "?tab=curves")
    ]

    page = "".join(pages)
    assert 'class="plot-dot' in page
    assert 'class="picture-run"' in page
    assert re.findall(r'\s(?:[xy][12]?|c[xy]|r|width|height)="-?\d+,\d+"', page) == []


def mixed(case: Case) -> Output:
    """One match, one that differs in type and message, one extra; gold has one requirement."""
    number = int(case.case_id[-3:])
    same = requirement(number, type="security", source_messages=[1])
    extra = requirement(77, title="Coffee machine", action="Brew espresso daily")
    return {"requirements": [same, extra], "model": None}


def test_a_case_shows_gold_and_prediction_aligned_with_the_people_behind_the_gold(
    finished, script, signed_in
):
    script(mixed)
    run = finished()
    case = run.cases.order_by("pk")[1]

    response = signed_in("noor").get(case.get_absolute_url())

    page = text(response)
    near, extra = response.context["rows"]
    assert (near.kind, near.why_not) == ("near", "type differs")
    assert extra.kind == "extra"
    differing = {field.title for field in near.fields if field.differs}
    assert differing == {"Type", "Source messages"}
    first, second = response.context["conversation"]
    assert (first.gold, first.predicted) == ([1], [2])
    assert (second.gold, second.predicted) == ([], [1])
    assert "ana" in page
    assert "by ana; in other words by ana;" in page
    assert "not by ben<" in page
    assert "version 2" in page


def test_a_case_leads_to_the_failures_around_it(make_release, finished, script, signed_in):
    def fail_at_the_ends(case: Case) -> Output:
        if case.case_id.endswith("4"):
            raise ValueError("It broke.")
        number = int(case.case_id[-3:])
        return {"requirements": [], "model": None} if number == 0 else perfect(case)

    script(fail_at_the_ends)
    run = finished(release=make_release(5, name="five"))
    keys = list(run.cases.order_by("pk").values_list("pk", flat=True))
    noor, middle = signed_in("noor"), run.cases.get(pk=keys[2])

    context = noor.get(middle.get_absolute_url()).context
    few = queries(noor, middle.get_absolute_url())

    assert [context[name].pk for name in ("previous_failure", "next_failure")] == [keys[0], keys[4]]
    assert context["primary"].value == 1.0
    larger = finished(release=make_release(15, name="many"))
    assert queries(noor, larger.cases.order_by("pk")[2].get_absolute_url()) == few
