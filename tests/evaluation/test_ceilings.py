"""The human ceiling: people scored against people, by the metric functions of the pipelines."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.management import summary
from evaluation.metrics.ceiling import human_level
from evaluation.metrics.registry import METRICS
from evaluation.models import HumanCeiling, Run
from evaluation.services.run import ceilings, execution, results
from labeling.domain.matching.similarity import Ruler
from labeling.models import FirstPass, GoldRelease, Project
from labeling.services.gold import gold
from labeling.words import in_english
from tests import factories
from tests.evaluation import launching
from tests.fakes import WordOverlap

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(people: dict[str, User]) -> Project:
    return factories.make_project(slug="orders")


@pytest.fixture
def people(db: None) -> dict[str, User]:
    return factories.make_people()


def run_on(release: GoldRelease, pipeline: str = "nothing", **options: Any) -> Run:
    run = launching.launch(release, pipeline=pipeline, queue=False, **options)
    execution.work(run.pk, uuid4())
    return Run.objects.with_progress().select_related("release").get(pk=run.pk)


def of(run: Run, metric: str) -> ceilings.Beside:
    return ceilings.beside(run, results.aggregates_of(run))[metric]


def answer(project: Project, *by_person: list[int]) -> GoldRelease:
    """Two conversations labelled by ana, ben and cleo with the requirements of these numbers."""
    round_ = factories.open_full(project, 2)
    for assignment in round_.assignments.select_related("annotator"):
        numbers = by_person[("ana", "ben", "cleo").index(assignment.annotator.username)]
        labels = [factories.requirement(n, title=TITLES[n], action=TITLES[n]) for n in numbers]
        factories.answer_with(assignment, {"requirements": labels})
    return gold.freeze(project=project, layer="extraction", ruler=Ruler(WordOverlap()))


TITLES = {1: "Track orders daily", 2: "Export every invoice", 3: "Lock stale accounts"}


def test_people_are_scored_against_each_other_in_both_directions(project: Project) -> None:
    """Ana has 1 and 2, ben the same, cleo 1 only: recalls 1, 1, ½ (cleo to both), 1 (both to cleo).

    Over the six ordered pairs: (1 + 1 + ½ + ½ + 1 + 1)/6 = 5/6; F1: (1 + 1 + 4·⅔)/6 = 7/9.
    """
    run = run_on(answer(project, [1, 2], [1, 2], [1]))

    recall, f1 = of(run, "requirement_recall").ceiling, of(run, "requirement_f1").ceiling

    assert recall.mean == pytest.approx(5 / 6)
    assert f1.mean == pytest.approx(7 / 9)
    assert (recall.n, recall.n_undefined, recall.reason) == (2, 0, None)
    assert 0.1 < recall.ci_low < 5 / 6 < recall.ci_high < 1  # alike, but two conversations only
    assert recall.detail["pairs"][0] == {"people": ["ana", "ben"], "mean": 1.0, "n": 2}
    by_person = {row["people"][0]: row["mean"] for row in recall.detail["gold"]}
    assert by_person == {"ana": 1.0, "ben": 1.0, "cleo": 0.5}


def test_a_run_stands_beside_it_in_percent_and_is_flagged_above_it(project: Project) -> None:
    release = answer(project, [1, 2], [1, 2], [1])

    nothing = of(run_on(release), "requirement_f1")
    assert nothing.level == (0.0, False)

    leaked = Run.objects.with_progress().get(pk=nothing_run(release).pk)
    leaked.aggregates.filter(metric="requirement_f1").update(mean=1.0)
    beside = of(leaked, "requirement_f1")
    assert beside.level.percent == pytest.approx(100 / (7 / 9))
    assert beside.level.passes


def test_a_run_that_people_rated_is_no_share_of_what_gold_says_of_people(project: Project) -> None:
    run = run_on(answer(project, [1, 2], [1, 2], [1]))
    rows = results.aggregates_of(run)
    rows[0].detail["basis"] = "human"

    beside = ceilings.beside(run, rows)["requirement_f1"]

    assert beside.ceiling.mean is not None
    assert (beside.level.percent, beside.level.passes) == (None, False)


def nothing_run(release: GoldRelease) -> Run:
    return run_on(release)


def test_it_is_computed_once_for_all_runs_that_share_gold_and_settings(project: Project) -> None:
    release = answer(project, [1], [1], [1])
    run_on(release)
    before = set(HumanCeiling.objects.values_list("pk", flat=True))

    run_on(release)

    assert set(HumanCeiling.objects.values_list("pk", flat=True)) == before
    project.match_threshold = 0.5
    project.save()
    run_on(GoldRelease.objects.get(pk=release.pk))
    assert HumanCeiling.objects.count() == 2 * len(before)


def test_who_had_seen_suggestions_is_no_independent_judge(project: Project) -> None:
    release = answer(project, [1, 2], [1, 2], [1])
    for one in project.rounds.get().assignments.filter(annotator__username__in=["ana", "ben"]):
        FirstPass.objects.create(assignment=one, version=1)

    found = of(run_on(release), "requirement_recall").ceiling

    assert (found.mean, found.n, found.reason) == (None, 0, ceilings.NO_PAIR)


def test_gold_of_unknown_people_has_no_ceiling_and_says_so(
    make_release: Any, people: dict[str, User], client: Any
) -> None:
    release: GoldRelease = make_release(2)

    found = of(run_on(release), "requirement_f1")

    assert found.ceiling.reason == ceilings.NO_PAIR
    assert found.level == (None, False)
    client.force_login(people["noor"])
    text = client.get(reverse("run", args=[found.ceiling.release.runs.get().pk])).content.decode()
    assert f"No human ceiling: {in_english(ceilings.NO_PAIR)}" in text


def test_only_a_part_has_two_annotators_so_the_run_is_compared_on_that_part(
    project: Project,
) -> None:
    release = answer(project, [1], [1], [1])
    lonely = release.items.order_by("position")[0]
    for one in project.rounds.get().assignments.filter(conversation=lonely.conversation_id)[1:]:
        FirstPass.objects.create(assignment=one, version=1)
    run = run_on(release)
    case = run.cases.get(item=lonely)
    case.scores.filter(metric="requirement_f1").update(value=1.0)

    found = of(run, "requirement_f1")

    assert found.ceiling.n == 1
    assert found.own == 0.0


def test_results_and_page_show_it_without_a_query_for_each_metric(
    project: Project, people: dict[str, User], client: Any
) -> None:
    run = run_on(answer(project, [1, 2], [1, 2], [1]))

    shown = results.results_document(run)["metrics"]["requirement_recall"]["human_ceiling"]
    assert shown["mean"] == pytest.approx(5 / 6)
    assert shown["percent_of_human_level"] == 0.0
    assert shown["passes"] is False

    table = "".join(map(summary.rendered, summary.summary_tables(run)))
    assert "0.833 (n 2)" in table
    client.force_login(people["noor"])
    html = client.get(reverse("run", args=[run.pk])).content.decode()
    assert "0.833" in html
    with CaptureQueriesContext(
        connection,
    ) as asked:
        ceilings.beside(run, results.aggregates_of(run))
    assert len(asked) <= 3


@pytest.mark.parametrize(
    ("metric", "value", "people_", "expected"),
    [
        ("requirement_f1", 0.9, 0.6, (150.0, True)),
        ("requirement_f1", 0.3, 0.0, (None, True)),  # people reach nothing: no share of it
        ("requirement_f1", 0.0, 0.0, (None, False)),
        ("requirement_f1", None, 0.5, (None, False)),
        ("requirement_f1", 0.5, None, (None, False)),
        ("false_inference_rate", 0.4, 0.2, (75.0, False)),  # (1 − 0.4)/(1 − 0.2)
        ("false_inference_rate", 0.1, 0.2, (112.5, True)),
        ("ece", 0.1, 0.2, (112.5, False)),  # better calibrated than people is no leak
        ("fuzzy_recall_corrected", 0.5, 0.4, (None, True)),  # may lie below 0
    ],
)
def test_percent_of_human_level(
    metric: str, value: float | None, people_: float | None, expected: tuple[Any, bool]
) -> None:
    assert human_level(METRICS[metric], value, people_) == expected
