"""The history of runs, and the form that launches one."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from evaluation.models import Run
from tests.evaluation.screens import queries, text

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


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
        return {row.run.pk for row in rows}

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
    assert [row.run.requested_by.username for row in rows] == ["noor"] * 5
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
    assert "Say why you look at test items" in text(response)
    assert not Run.objects.exists()


def test_a_setting_out_of_range_is_told_at_its_field(release: Any, signed_in: Any) -> None:
    fields = {"release": release.pk, "pipeline": "everything", "everything.confidence": "7"}

    response = signed_in("noor").post(reverse("run-new"), fields)

    assert "less than or equal to 1" in text(response)
    assert not Run.objects.exists()


def test_settings_of_pipelines_are_named_in_the_language_of_the_reader(
    release: Any, signed_in: Any
) -> None:
    german = {"accept-language": "de"}

    page = signed_in("noor").get(reverse("run-new"), headers=german).content.decode()

    assert "Doppelte zusammenführen" in page
    assert "Merge duplicates" not in page
    assert '<option value="as above" selected>wie oben</option>' in page
    assert '<option value="local" selected>local</option>' in page  # as the help text names it


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
