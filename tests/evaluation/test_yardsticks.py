"""What a figure is worth: floors of a release, people without their own gold, skill."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from evaluation.layers import GOLD_LAYERS
from evaluation.management import summary
from evaluation.metrics.metric import Metric, Share
from evaluation.metrics.registry import metrics_for
from evaluation.metrics.yardsticks import (
    FLOOR_IS_CEILING,
    NO_FLOOR,
    NO_PEOPLE,
    Cases,
    Measured,
    Yardsticks,
    measure,
)
from evaluation.models import Aggregate, Run, Yardstick, YardstickCase
from evaluation.services.run import execution, people, results, yardsticks
from labeling.agreement.matching.similarity import Ruler
from labeling.domain.facts import Fact
from labeling.gold import gold
from labeling.models import FirstPass, GoldRelease, Project
from labeling.settling import adjudications
from pipelines.registry import PIPELINES
from tests import factories
from tests.evaluation import launching
from tests.evaluation.screens import printed, queries
from tests.fakes import WordOverlap

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(annotators: dict[str, User]) -> Project:
    return factories.make_project(slug="orders")


@pytest.fixture
def annotators(db: None) -> dict[str, User]:
    return factories.make_people()


def run_on(release: GoldRelease, pipeline: str = "nothing", **options: Any) -> Run:
    run = launching.launch(release, pipeline=pipeline, queue=False, **options)
    execution.work(run.pk, uuid4())
    return Run.objects.with_progress().select_related("release").get(pk=run.pk)


def of(run: Run, metric: str) -> Yardsticks:
    stored: Yardsticks = Aggregate.objects.get(run=run, metric=metric).yardsticks
    return stored


def answer(project: Project, *by_person: list[int], conversations: int = 2) -> GoldRelease:
    """Conversations labeled by ana, ben and cleo with the requirements of these numbers."""
    round_ = factories.open_full(project, conversations)
    for assignment in round_.assignments.select_related("annotator"):
        numbers = by_person[("ana", "ben", "cleo").index(assignment.annotator.username)]
        labels = [factories.requirement(n, title=TITLES[n], action=TITLES[n]) for n in numbers]
        factories.answer_with(assignment, {"requirements": labels})
    return gold.freeze(project=project, layer="extraction", ruler=Ruler(WordOverlap()))


TITLES = {1: "Track orders daily", 2: "Export every invoice", 3: "Lock stale accounts"}


def test_a_person_is_scored_against_gold_made_without_their_labels(project: Project) -> None:
    """Ana and ben have 1 and 2, cleo 1 only; gold is 1 and 2.

    Without ana, ben and cleo agree on 1: recall of ana 1, her precision ½. The same for ben.
    Without cleo gold is 1 and 2: her recall is ½, her precision 1. So people reach (1 + 1 + ½)/3.
    """
    run = run_on(answer(project, [1, 2], [1, 2], [1]))

    recall, precision = of(run, "requirement_recall"), of(run, "requirement_precision")

    assert recall["people"]["people"]["mean"] == pytest.approx(5 / 6)
    assert recall["people"]["people"]["n"] == 2
    assert recall["people"]["run"]["mean"] == 0.0
    assert recall["people"]["difference"]["mean"] == pytest.approx(-5 / 6)
    assert not recall["people"]["above"]
    assert precision["people"]["people"]["mean"] == pytest.approx(2 / 3)


def test_what_one_person_alone_gave_is_not_gold_without_them(project, annotators):
    """An adjudicator kept 2, which only ana has, and 3, which nobody has."""
    round_ = factories.open_full(project, 1)
    for assignment in round_.assignments.select_related("annotator"):
        numbers = [1, 2] if assignment.annotator.username == "ana" else [1]
        labels = [factories.requirement(n, title=TITLES[n], action=TITLES[n]) for n in numbers]
        factories.answer_with(assignment, {"requirements": labels})
    holders = {1: ["ana", "ben", "cleo"], 2: ["ana"], 3: []}
    decided = [
        factories.requirement(n, title=TITLES[n], action=TITLES[n]) | {"adopted_from": by}
        for n, by in holders.items()
    ]
    adjudications.decide(
        conversation=round_.places.get().conversation,
        layer="extraction",
        payload={"requirements": decided},
        reason="All three hold",
        by=annotators["rita"],
    )
    release = gold.freeze(project=project, layer="extraction", ruler=Ruler(WordOverlap()))

    (items,) = people.in_chunks(release.items.all())
    (submitted,) = people.behind(release, items, ruler=Ruler(WordOverlap()))

    without = {
        name: {label["title"] for label in labels}
        for name, labels in submitted.gold_without.items()
    }
    assert without["ana"] == {TITLES[1], TITLES[3]}
    assert without["ben"] == without["cleo"] == set(TITLES.values())


def test_two_people_are_too_few_and_the_reason_says_what_helps(project, annotators, client):
    release = answer(project, [1, 2], [1, 2], [1, 2])
    for assignment in project.rounds.get().assignments.filter(annotator__username="ana"):
        FirstPass.objects.create(assignment=assignment, version=1)  # had seen suggestions

    run = run_on(release)

    stored = of(run, "requirement_recall")
    assert (stored["no_people"], stored["no_skill"]) == (NO_PEOPLE.as_json(),) * 2
    assert "people" not in stored
    client.force_login(annotators["noor"])
    text = client.get(reverse("run", args=[run.pk])).content.decode()
    assert "let a third person label some of them" in text


def test_a_release_gets_its_floors_by_itself_and_once(project: Project) -> None:
    release = answer(project, [1, 2], [1, 2], [1])
    assert not Yardstick.objects.exists()

    yardsticks.measure_release(release.pk)
    before = set(YardstickCase.objects.values_list("pk", flat=True))
    run = run_on(release)

    assert set(YardstickCase.objects.values_list("pk", flat=True)) == before
    names = set(Yardstick.objects.values_list("pipeline", flat=True))
    assert names == {yardsticks.PEOPLE, "nothing", "everything"}
    floors = of(run, "requirement_recall")["floors"]
    assert set(floors) == {"nothing", "everything"}
    assert (floors["nothing"]["mean"], floors["nothing"]["n"]) == (0.0, 2)
    assert floors["nothing"]["ci_high"] > 0
    assert Run.objects.count() == 1  # no run was launched for them


def test_a_release_without_floors_is_due_until_it_has_them(project: Project) -> None:
    release = answer(project, [1], [1], [1])
    assert yardsticks.due() == [0]
    yardsticks.measure_release(release.pk)
    assert yardsticks.due() == []


@pytest.mark.parametrize("end", [KeyboardInterrupt, RuntimeError])
def test_what_a_killed_worker_has_measured_stays_and_no_run_reads_half_of_it(
    project, monkeypatch, end
):
    """Nor does one that fails take it away: another machine may be at the same, further on."""
    release = answer(project, [1, 2], [1, 2], [1], conversations=3)
    monkeypatch.setattr(people, "BATCH", 1)
    floor, asked = yardsticks._floor, []

    def killed(frame: Any, pipeline: Any, items: Any) -> Any:
        asked.extend((pipeline.name, item.position) for item in items)
        if asked[-1] == ("everything", 1) and asked.count(asked[-1]) == 1:
            raise end
        return floor(frame, pipeline, items)

    monkeypatch.setattr(yardsticks, "_floor", killed)
    with suppress(KeyboardInterrupt):
        yardsticks.measure_release(release.pk)
    counts = {row.pipeline: row.cases.count() for row in Yardstick.objects.all()}
    assert counts == {yardsticks.PEOPLE: 3, "nothing": 3, "everything": 1}
    assert not Yardstick.objects.measured().filter(pipeline="everything").exists()

    run = run_on(release)

    assert asked == [
        *(("nothing", position) for position in range(3)),
        *(("everything", position) for position in (0, 1, 1, 2)),
    ]
    assert of(run, "requirement_recall")["floors"]["everything"]["n"] == 3


def test_a_failure_does_not_replace_what_another_machine_has_measured_meanwhile(
    project, monkeypatch
):
    release = answer(project, [1], [1], [1])

    def fails_late(frame: Any, pipeline: Any, items: Any) -> Any:
        Yardstick.objects.filter(pipeline=pipeline.name).update(computed_at=timezone.now())
        raise RuntimeError("no model on this machine")

    monkeypatch.setattr(yardsticks, "_floor", fails_late)
    yardsticks.measure_release(release.pk)

    assert not Yardstick.objects.exclude(failure=None).exists()


def test_other_settings_are_measured_apart(project: Project) -> None:
    release = answer(project, [1], [1], [1])
    run_on(release)
    before = Yardstick.objects.count()

    project.match_threshold = 0.5
    project.save()
    run_on(GoldRelease.objects.get(pk=release.pk))

    assert Yardstick.objects.count() == 2 * before


def test_floors_draw_as_many_messages_as_the_run_returns(chat: Any) -> None:
    run = run_on(chat(), "random", config={"budget": 2})

    budgets = Yardstick.objects.filter(pipeline="random").values_list("config__budget", flat=True)

    assert list(budgets) == [2]
    figures = Aggregate.objects.get(run=run, metric="evidence_recall")
    assert figures.yardsticks["floors"]["random"]["mean"] == figures.mean


def test_a_floor_that_breaks_is_reported_and_the_run_has_its_scores(project, monkeypatch):
    def broken(frame: Any, name: str, config: Any) -> Any:
        raise RuntimeError("no luck")

    monkeypatch.setattr(yardsticks, "_floor", broken)
    run = run_on(answer(project, [1, 2], [1, 2], [1]))

    assert run.scored_at is not None
    failures = Yardstick.objects.exclude(failure=None).values_list("failure", flat=True)
    assert set(failures) == {Fact("yardstick.cannot_measure", text="RuntimeError: no luck")}
    assert of(run, "requirement_f1")["no_skill"] == NO_FLOOR.as_json()


def test_every_layer_declares_floors_that_fit_it() -> None:
    for layer in GOLD_LAYERS.values():
        assert layer.floors, layer.name
        for name in layer.floors:
            assert PIPELINES[name].floor, name
            assert layer.name in PIPELINES[name].layers, (layer.name, name)
        named = {name for _, names in layer.groups for name in names}
        assert named <= {metric.id for metric in metrics_for(layer.name)}, layer.name


F1 = Metric("f1", 1, frozenset(), "F1", "")


def constant(*values: float) -> Measured:
    return Measured(
        [Share(value, 1) for value in values], [{"ana": Share(value, 1)} for value in values]
    )


def seen(run: Measured, floor: Measured, ceiling: Measured, **options: Any) -> Yardsticks:
    cases = Cases(range(len(run.shares)), [False] * len(run.shares))
    return measure(
        F1, cases, run, {"nothing": floor}, ceiling.by_person, reference="nothing", **options
    )


def test_above_people_is_said_only_where_the_interval_excludes_0() -> None:
    ceiling = constant(0.5, 0.6, 0.5, 0.4, 0.6, 0.5)
    by_little = constant(0.4, 0.9, 0.4, 0.6, 0.5, 0.6)
    by_much = constant(0.9, 1.0, 0.9, 0.8, 1.0, 0.9)

    little, much = (
        seen(run, constant(*[0.0] * 6), ceiling)["people"] for run in (by_little, by_much)
    )

    assert little["difference"]["mean"] > 0
    assert not little["above"]
    assert much["above"]
    what_explains = seen(by_much, constant(*[0.0] * 6), ceiling, is_tested=False)["people"]
    assert not what_explains["above"]


def test_skill_is_undefined_where_floor_and_ceiling_may_be_the_same() -> None:
    floor, ceiling = constant(0.4, 0.6, 0.2, 0.9), constant(0.6, 0.4, 0.5, 0.7)

    assert seen(constant(0.5, 0.5, 0.5, 0.5), floor, ceiling)["no_skill"] == (
        FLOOR_IS_CEILING.as_json()
    )


def test_a_run_that_is_its_floor_has_skill_0_with_an_interval() -> None:
    floor, ceiling = constant(0.0, 0.1, 0.0, 0.1, 0.0), constant(0.8, 0.9, 0.7, 0.8, 0.9)

    skill = seen(floor, floor, ceiling)["skill"]

    assert skill["mean"] == 0
    assert skill["ci_low"] < 0 < skill["ci_high"]


def test_run_and_people_share_their_cases() -> None:
    """A case that only people have a value of plays no part."""
    run, ceiling = constant(0.2, 0.2, 0.2, 0.2), constant(0.6, 0.7, 0.6, 0.0)
    run = Measured(run.shares, [*run.by_person[:3], {}])

    people_ = seen(run, constant(*[0.0] * 4), ceiling)["people"]

    assert (people_["people"]["n"], people_["run"]["n"]) == (3, 3)
    assert people_["people"]["mean"] == pytest.approx(1.9 / 3)


def test_the_figure_without_empty_gold_is_next_to_the_mean(project, annotators, client):
    """Of an empty case it is right to say nothing, and that says little about a pipeline."""
    round_ = factories.open_full(project, 2)
    empty = round_.places.first().conversation_id
    for assignment in round_.assignments.all():
        labels = [] if assignment.conversation_id == empty else [factories.requirement(0)]
        factories.answer_with(assignment, {"requirements": labels})
    run = run_on(gold.freeze(project=project, layer="extraction", ruler=Ruler(WordOverlap())))

    stored = of(run, "requirement_f1")["empty_gold"]

    assert (stored["n_empty"], stored["share"]) == (1, 0.5)
    assert stored["without"]["mean"] == 0.0
    client.force_login(annotators["noor"])
    text = client.get(reverse("run", args=[run.pk])).content.decode()
    assert "Without 1 case whose gold is empty: 0.000" in text


def test_results_page_and_command_show_them_without_more_queries(project, annotators, client):
    run = run_on(answer(project, [1, 2], [1, 2], [1]), "everything")

    shown = results.results_document(run)["metrics"]["requirement_recall"]
    assert shown["people"]["people"]["mean"] == pytest.approx(5 / 6)
    assert set(shown["floors"]) == {"nothing", "everything"}
    assert shown["floors"]["everything"]["mean"] == shown["mean"]
    assert {"mean", "ci_low", "ci_high"} <= shown["skill"].keys() or shown["skill"]["reason"]
    table = "".join(map(printed, summary.summary_tables(run)))
    assert "0.833 (n 2)" in table

    client.force_login(annotators["noor"])
    asked = [queries(client, run.get_absolute_url())]
    run_on(run.release, "everything")
    asked.append(queries(client, run.get_absolute_url()))
    assert asked[0] == asked[1]
    html = client.get(reverse("run", args=[run.pk])).content.decode()
    assert html.index("headline-number") < html.index("Metrics of this run")
