"""What a gold release can show: by which spread, with how many conversations, said where."""

from __future__ import annotations

import math
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.metrics.planning import spread_of_run
from evaluation.metrics.registry import METRICS
from evaluation.models import Run, Score
from evaluation.services.run import planning, primary_metrics, yardsticks
from evaluation.services.run.comparisons import compare_runs
from labeling.models import GoldRelease
from tests.evaluation.conftest import nothing, nothing_in_every, perfect
from tests.evaluation.releases import following


@pytest.fixture
def runs(script: Any, finished: Any, make_release: Any) -> list[Run]:
    """Two that differ from conversation to conversation."""
    release = make_release(12, name="plan", splits=("dev", "dev", "train"))
    made = []
    for number, missed in enumerate((2, 3)):
        script(nothing_in_every(missed))
        made.append(finished(release=release, config={"confidence": 0.5 + number / 10}))
    return made


def planned(release: GoldRelease, **options: Any) -> planning.Plan:
    plan = planning.plan(release, **options)
    assert plan is not None
    return plan


def test_the_effect_is_that_of_the_comparison_of_the_newest_pair(runs: list[Run]) -> None:
    plan = planned(runs[0].release)

    assert plan.conversations == 12
    assert (plan.basis.why.code, plan.basis.why.values["run2"]) == ("plan.by_pair", runs[1].pk)
    assert plan.effect == compare_runs(*runs).primary.comparison.detectable
    assert plan.needed is not None
    spread, n = plan.basis.spread, plan.needed
    effects = [spread.effect_with(at, tests=plan.tests) for at in (n, n - 1)]
    assert effects[0] <= 0.03 < effects[1]


def test_one_run_alone_is_taken_with_nothing_in_common(runs, script, finished, make_release):
    release = make_release(12, name="alone")
    script(nothing_in_every(3))
    finished(release=release)
    plan = planned(release)

    assert plan.basis.why.code == "plan.by_run"
    shares = [(0.0, 1.0), (1.0, 1.0), (1.0, 1.0)] * 4
    alone = spread_of_run(METRICS["requirement_f1"], shares, list(range(12)))
    assert plan.basis.spread.std_error == pytest.approx(alone.std_error)
    assert alone.std_error == pytest.approx(math.sqrt(2 * (4 * 8 / 144) / 11))


def test_where_nothing_varied_the_effect_is_what_could_have_stayed_unseen(
    script, finished, make_release
):
    release = make_release(12, name="alike")
    script(perfect)
    run = finished(release=release)
    alone = planned(release).effect
    finished(release=release, config={"confidence": 0.9})
    paired = planned(release)

    assert run.pk
    assert alone is not None
    assert paired.effect is not None
    assert alone > 0.1
    assert paired.effect > 0.1
    assert paired.basis.why.code == "plan.by_run"  # no case differs


def test_of_several_pairs_the_widest_is_planned_by_and_named(runs, script, finished):
    """The newest pair differs in a single conversation, and would promise too much."""
    third = nothing_in_every(3)
    script(lambda case: nothing(case) if case.case_id == "case-001" else third(case))
    alike = finished(release=runs[0].release, config={"confidence": 0.8})
    pairs = [(runs[0], runs[1]), (runs[0], alike), (runs[1], alike)]
    errors = [compare_runs(*pair).primary.comparison.std_error or 0.0 for pair in pairs]
    plan = planned(runs[0].release)

    assert plan.basis.spread.std_error == max(errors)
    assert plan.basis.why.code == "plan.by_widest_pair"
    widest = pairs[errors.index(max(errors))]
    assert [plan.basis.why.values[name] for name in ("run", "run2")] == [run.pk for run in widest]
    assert plan.basis.why.values["pairs"] == 3
    assert plan.basis.why.values["times"] == pytest.approx(max(errors) / min(errors))


def test_the_same_run_twice_and_floors_are_not_taken_for_a_pair(
    runs, script, finished, monkeypatch
):
    monkeypatch.setattr(planning, "FLOORS", ["nothing"])  # the scripted one bears a floor's name
    script(nothing_in_every(3))
    finished(release=runs[0].release, config={"confidence": 0.6})
    finished(release=runs[0].release, pipeline="nothing")

    basis = planned(runs[0].release).basis
    assert [basis.why.values[name] for name in ("run", "run2")] == [runs[0].pk, runs[1].pk]


def test_without_a_run_the_reason_and_the_way_are_said(make_release, launch, signed_in):
    release = make_release(4, name="new")
    assert planned(release).unknown.code == "plan.no_run"
    assert planned(release).effect is None
    address = reverse("gold-planning", args=[release.project.slug, "new", 1])
    shown = signed_in("rita").get(address).content.decode()
    assert "not known yet" in shown
    assert "Launch a run" in shown

    launch(release=release)
    assert planned(release).unknown.code == "plan.run_unfinished"


def test_before_any_run_the_widest_floor_of_the_frozen_gold_stands_in(make_release: Any) -> None:
    release = make_release(8, name="fresh")
    yardsticks.measure_release(release.pk)
    plan = planned(release)

    assert plan.basis.why.code == "plan.by_floor"
    assert plan.effect is not None
    assert plan.effect > 0.1  # floors that score the same everywhere say little


def test_runs_on_an_earlier_version_tell_of_the_next_one(runs: list[Run]) -> None:
    first = runs[0].release
    newer = following(first)
    item = first.items.all()[0]
    item.pk, item.release = None, newer
    item.save()

    plan = planned(newer)
    assert plan.conversations == 1
    assert plan.effect is None  # one conversation shows nothing of others
    assert plan.basis.why.values["release"] == str(first)
    assert "no difference" in planning.sentences(plan)[0]


def test_a_split_is_planned_by_its_own_conversations(runs: list[Run]) -> None:
    train, whole = planned(runs[0].release, split="train"), planned(runs[0].release)

    assert (train.conversations, planned(runs[0].release, size=5).conversations) == (4, 5)
    assert train.effect is None or train.effect > whole.effect
    assert train.basis != whole.basis


def test_no_plan_rests_on_test_figures(script: Any, finished: Any, make_release: Any) -> None:
    release = make_release(12, name="sealed", splits=("dev", "dev", "test"))
    for number, missed in enumerate((2, 3)):
        script(nothing_in_every(missed))
        finished(release=release, reason="Final", config={"confidence": 0.5 + number / 10})
    before = [planned(release, split=split) for split in ("", "test", "open")]
    assert [plan.conversations for plan in before] == [12, 4, 8]
    assert before[0].effect is not None
    assert None not in [plan.basis for plan in before]

    scored = Score.objects.filter(case__item__split="test", value__isnull=False)
    assert scored.update(value=0, numerator=0)

    assert [planned(release, split=split) for split in ("", "test", "open")] == before


def test_what_the_project_declares_is_planned_for(runs, project, people):
    primary_metrics.declare(project, "extraction", "requirement_precision", 0.3, by=people["rita"])
    plan = planned(runs[0].release)

    assert plan.primary.metric.id == "requirement_precision"
    assert plan.needed is not None
    assert plan.needed < 70


def test_the_estimate_of_the_command_says_it(runs: list[Run]) -> None:
    release = runs[0].release
    printed = StringIO()
    call_command(
        "evaluate", gold=str(release), pipeline="everything", estimate=True, stdout=printed
    )
    assert "With these 12 conversations only differences above" in printed.getvalue()
