"""A baseline that people choose: used where runs are measured, and never without its date."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from evaluation.models import Run
from evaluation.report.content import Report
from evaluation.services.run import baselines, planning
from evaluation.services.run.baselines import BaselineRefused, baseline_of, choice_on
from labeling.models import Event
from tests.evaluation.conftest import nothing_in_every, perfect
from tests.evaluation.screens import text
from tests.refusals import refused


@pytest.fixture
def runs(script: Any, finished: Any, make_release: Any) -> list[Run]:
    """Three on the same cases, each of which fails in others."""
    release = make_release(8, name="base")
    scored = []
    for missed in (2, 3, 4):
        script(nothing_in_every(missed))
        scored.append(finished(release=release, config={"confidence": 0.5 + missed / 10}))
    return scored


def test_the_chosen_run_is_what_others_are_measured_against(runs, signed_in, people):
    weak, middle, newest = runs
    noor = signed_in("noor")
    assert baseline_of(newest) == (middle, [])

    noor.post(reverse("run-baseline", args=[weak.pk]))

    baseline = baseline_of(newest)
    assert baseline.run == weak
    assert baseline.said
    verdict = text(noor.get(reverse("run-verdict", args=[newest.pk])))
    compared = text(noor.get(reverse("run-compare"), {"baseline": weak.pk, "run": newest.pk}))
    for said in (verdict, compared):
        assert f"Run {weak.pk} has been the baseline of this gold and split since" in said
        assert "chosen by noor" in said
        assert f"It was chosen after run {newest.pk} was scored" in said
    marked = noor.get(reverse("runs")).context["runs"]
    assert [row.run.pk for row in marked if row.is_baseline] == [weak.pk]
    own = noor.get(weak.get_absolute_url())
    assert "No longer the baseline" in text(own)
    assert own.context["baseline"] is None  # nothing was before it
    basis = planning.plan(newest.release).basis
    pair = [basis.why.values[name] for name in ("run", "run2")]
    assert pair == [weak.pk, middle.pk]  # no pair differs by more
    compared = Report(Run.objects.with_progress().get(pk=newest.pk)).compared
    assert compared.before == weak


def test_a_choice_keeps_its_date_and_stays_on_record(runs, people, launch, finished, script):
    first, second, _ = runs
    baselines.choose(first, by=people["noor"])
    before = choice_on(first.release_id, first.split)
    baselines.choose(first, by=people["rita"])
    assert choice_on(first.release_id, first.split) == before

    baselines.choose(second, by=people["rita"])
    now = choice_on(first.release_id, first.split)
    assert (now.run_id, now.by, now.number) == (second.pk, "rita", 2)
    script(perfect)
    later = finished(release=first.release)
    assert now.after([first, later]) == [first.pk]  # scored when it was the baseline already

    baselines.take_back(first, by=people["rita"])  # it is not the baseline any more
    assert choice_on(first.release_id, first.split) == now
    baselines.take_back(second, by=people["rita"])
    assert choice_on(first.release_id, first.split) is None
    assert baselines.of_releases([first.release_id]) == {}
    log = Event.objects.filter(verb__startswith="baseline.").order_by("pk")
    assert [(event.verb, event.data.get("before")) for event in log] == [
        ("baseline.chosen", None),
        ("baseline.chosen", first.pk),
        ("baseline.taken_back", None),
    ]
    with refused(BaselineRefused, match="no figures yet"):
        baselines.choose(launch(), by=people["noor"])


def test_a_run_on_other_cases_is_not_measured_against_it(runs, finished, people):
    baselines.choose(runs[0], by=people["noor"])

    fewer = finished(release=runs[0].release, size=3)

    assert baseline_of(fewer) is None
