"""The gate: thresholds, drift against a baseline, exit statuses, and a project's own limits."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils.translation import override

from evaluation.metrics.comparison import Comparison, verdict
from evaluation.metrics.gate import (
    AT_FLOOR,
    MAY_BE_CHANCE,
    NO_SHARED_CASE,
    UNDECIDED,
    Check,
    check_drift,
    check_threshold,
)
from evaluation.metrics.registry import METRICS, Metric
from evaluation.models import GateResult, Run
from evaluation.services.judging import certificates
from evaluation.services.launch import thresholds
from evaluation.services.run import gates
from evaluation.services.work import steering
from evaluation.templatetags import present
from labeling.domain.facts import Fact
from labeling.words import in_english
from tests.evaluation import figures
from tests.evaluation.conftest import perfect, requirement, work

RECALL, RATE = METRICS["requirement_recall"], METRICS["false_inference_rate"]


@pytest.mark.parametrize(
    ("metric", "value", "limit", "passed"),
    [
        (RECALL, 0.80, 0.80, True),
        (RECALL, 0.7999, 0.80, False),
        (RECALL, 0.0, 0.0, True),  # a threshold of 0 is a threshold
        (RECALL, None, 0.0, False),
        (RATE, 0.15, 0.15, True),
        (RATE, 0.16, 0.15, False),
        (RATE, 0.01, 0.0, False),
        (RATE, None, 1.0, False),
    ],
)
def test_thresholds(metric: Any, value: float | None, limit: float, passed: bool) -> None:
    check = check_threshold(metric, value, limit, why_undefined=NO_SHARED_CASE)
    assert check.passed is passed
    assert bool(check.reason) is not passed
    assert (check.reason == Fact("gate.undefined", reason=NO_SHARED_CASE)) is (value is None)


def compared(difference: float | None, low: float | None, high: float | None) -> Comparison:
    """The p value is on the side of the interval, as it is where one metric is compared."""
    excludes = low is not None and high is not None and (low > 0 or high < 0)
    p_value = 0.01 if excludes else 0.5
    return figures.compared(difference=difference, ci_low=low, ci_high=high, p_value=p_value)


def drift_of(metric: Metric, comparison: Comparison) -> Check:
    said = verdict(comparison, metric, p_value=comparison.p_value)
    return check_drift(metric, comparison, said, 0.03)


def test_a_figure_near_its_threshold_has_the_decimals_that_tell_them_apart() -> None:
    assert in_english(check_threshold(RECALL, 0.7999, 0.8).reason) == "0.7999 is below 0.8"
    drift = drift_of(RECALL, compared(-0.0304, -0.05, -0.01))
    assert in_english(drift.reason).startswith("worse than the baseline by 0.0304, more than 0.03")
    with override("en-gb"):
        near = check_threshold(RECALL, 0.7999, 0.8)
        assert (present.measured(near), present.limited(near)) == ("0.7999", "≥ 0.8000")
        there = check_threshold(RECALL, 0.8, 0.8)
        assert (present.measured(there), present.limited(there)) == ("0.800", "≥ 0.800")


DRIFTED = Fact("gate.drifted", drop=0.10, limit=0.03, digits=3)


@pytest.mark.parametrize(
    ("metric", "comparison", "reason"),
    [
        (RECALL, compared(-0.10, -0.15, -0.05), DRIFTED),
        (RECALL, compared(-0.10, -0.21, 0.01), MAY_BE_CHANCE),
        (RECALL, compared(-0.10, -0.20, 0.0), MAY_BE_CHANCE),  # 0 is in the interval
        (RECALL, compared(-0.02, -0.03, -0.01), None),  # sure, but small
        (RECALL, compared(0.82 - 0.85, -0.04, -0.02), None),  # the limit itself is allowed
        (RECALL, compared(0.10, 0.05, 0.15), None),  # better
        (RATE, compared(0.10, 0.05, 0.15), DRIFTED),
        (RATE, compared(-0.10, -0.15, -0.05), None),
        (RECALL, compared(-0.10, None, None), MAY_BE_CHANCE),  # of one conversation
        (RECALL, compared(None, None, None), Fact("gate.undefined", reason=NO_SHARED_CASE)),
    ],
)
def test_drift(metric: Any, comparison: Comparison, reason: Fact | None) -> None:
    check = drift_of(metric, comparison)
    assert check.reason == reason
    assert check.passed is (reason in (None, MAY_BE_CHANCE))


def fell(before: float, after: float) -> Comparison:
    undecided = compared(after - before, after - before - 0.2, after - before + 0.2)
    return replace(undecided, before=before, after=after)


@pytest.mark.parametrize(
    ("metric", "comparison", "floor", "reason"),
    [
        (RECALL, fell(0.163, 0.0), None, AT_FLOOR),
        (RECALL, fell(0.163, 0.01), None, MAY_BE_CHANCE),
        (RECALL, fell(0.03, 0.0), None, None),  # within the limit
        (RECALL, fell(0.7, 0.2), 0.2, AT_FLOOR),  # as much as who returns nothing
        (RECALL, fell(0.19, 0.1), 0.2, MAY_BE_CHANCE),  # was below that before
        (RATE, fell(0.9, 1.0), None, AT_FLOOR),
        (RATE, fell(0.2, 0.3), 0.0, MAY_BE_CHANCE),
    ],
)
def test_a_drop_to_the_floor_fails_without_statistics(metric, comparison, floor, reason):
    check = check_drift(metric, comparison, "undecided", 0.03, floor=floor)
    assert (check.reason, check.passed) == (reason, reason is not AT_FLOOR)


def test_in_strict_mode_an_undecided_drop_beyond_its_limit_fails() -> None:
    undecided, small = compared(-0.10, -0.21, 0.01), compared(-0.03, -0.2, 0.1)

    assert check_drift(RECALL, undecided, "undecided", 0.03).passed
    assert check_drift(RECALL, undecided, "undecided", 0.03, strict=True).reason == UNDECIDED
    assert check_drift(RECALL, small, "undecided", 0.03, strict=True).passed


# --- on runs ---


@pytest.fixture
def good(script: Any, finished: Any, make_release: Any) -> Run:
    """Enough conversations for a verdict even where each drops by exactly as much."""
    script(perfect)
    found: Run = finished(release=make_release(12, name="gate"))
    return found


@pytest.fixture
def bad(good: Run, script: Any, finished: Any) -> Run:
    """One of two found in every case: recall 1, precision ½, F1 ⅔."""
    extra = requirement(9, title="Dance", action="Dance")
    script(lambda case: {"requirements": [*perfect(case)["requirements"], extra]})
    found: Run = finished(release=good.release)
    return found


def gate(*arguments: Any, **options: Any) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("gate", *map(str, arguments), stdout=out, **options)
    except CommandError as error:
        return error.returncode, out.getvalue() + str(error)
    return 0, out.getvalue()


def test_a_bad_run_fails_with_1_and_names_every_failed_metric(good: Run, bad: Run) -> None:
    status, said = gate(bad.pk, baseline=good.pk, format="json")
    shown = json.loads(said[: said.rindex("}") + 1])

    assert status == 1
    assert shown["failed"] == ["requirement_f1", "requirement_precision"]
    drops = {
        check["metric"]: check["value"] for check in shown["checks"] if check["kind"] == "drift"
    }
    assert drops["requirement_precision"] == pytest.approx(0.5)
    assert drops["requirement_f1"] == pytest.approx(1 / 3)
    assert drops["requirement_recall"] == pytest.approx(0.0)


def test_scripts_ask_by_api_and_each_answer_is_kept(good, bad, launch, signed_in):
    noor, address = signed_in("noor"), reverse("api-run-gate", args=[bad.pk])
    assert noor.get(address).json() == {"last": None}

    asked = noor.post(address, {"baseline": good.pk}, content_type="application/json")

    said = asked.json()
    assert (asked.status_code, said["passed"], said["baseline"]) == (201, False, good.pk)
    assert said["failed"] == ["requirement_f1", "requirement_precision"]
    assert noor.get(address).json() == {"last": said}
    waiting = launch(release=good.release)
    unscored = reverse("api-run-gate", args=[waiting.pk])
    refused = noor.post(unscored, {}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (400, "gate_impossible")
    unknown = noor.post(address, {"baseline": 987654}, content_type="application/json")
    assert unknown.status_code == 404
    assert GateResult.objects.count() == 1


def test_what_could_not_finish_ends_with_2(good: Run, launch: Any) -> None:
    waiting = launch(release=good.release)
    for arguments, options in (
        ((waiting.pk,), {}),
        ((good.pk,), {"baseline": waiting.pk}),
        ((good.pk,), {"baseline": good.pk}),
        ((987654,), {}),
    ):
        assert gate(*arguments, **options)[0] == 2
    Run.objects.filter(pk=waiting.pk).update(failure=Fact("run.cannot_build", text="It broke"))
    status, said = gate(waiting.pk)
    assert status == 2
    assert "It broke" in said
    assert not GateResult.objects.exists()


def test_a_judged_metric_decides_nothing_without_a_certificate(good: Run) -> None:
    own = good.spec.with_values(thresholds={"faithfulness": 0.0})
    Run.objects.filter(pk=good.pk).update(spec=own)
    result = gates.ask(Run.objects.with_progress().select_related("release").get(pk=good.pk))
    assert [one.reason for one in gates.failed(result)] == [certificates.NOT_JUDGED]


def test_a_project_has_its_own_limits_and_runs_keep_those_of_their_launch(
    good, bad, project, people, launch
):
    assert good.spec.gate.thresholds == {"requirement_precision": 0.85, "requirement_recall": 0.8}
    own = {"requirement_precision": 0.5, "requirement_recall": None, "requirement_f1": 0.0}
    thresholds.store(project, own, 0.6, by=people["rita"])

    assert gate(bad.pk)[0] == 1
    spec = launch(release=good.release).spec
    assert spec.gate.model_dump() == {
        "thresholds": {"requirement_precision": 0.5, "requirement_f1": 0.0},
        "max_drop": 0.6,
    }
    Run.objects.filter(pk=bad.pk).update(spec=bad.spec.with_values(gate=spec.gate))
    assert gate(bad.pk, baseline=good.pk)[0] == 0


def test_a_result_about_earlier_figures_is_not_how_the_run_stands(bad, script, signed_in):
    gates.ask(bad)
    steering.rescore(bad, by=None)
    run = work(bad)

    text = signed_in("noor").get(run.get_absolute_url()).content.decode()
    assert "was about earlier figures" in text
    assert "checks failed" not in text
    assert gates.last_of(run) is None
    assert gates.ask(run) == gates.last_of(run)


def test_a_lead_stores_limits_on_the_page_and_wrong_ones_are_shown_again(project, signed_in):
    project.layers = ["extraction", "relevance"]  # the latter is labeled, and not measured
    project.save()
    rita, address = signed_in("rita"), reverse("gate-thresholds-store", args=[project.slug])
    shown = reverse("gate-thresholds", args=[project.slug])
    assert 'value="0.85"' in rita.get(shown).content.decode()

    data = {"requirement_precision": "0,7", "requirement_recall": "", "max_drop": "0.05"}
    assert rita.post(address, data).status_code == 302
    assert project.gate_thresholds.thresholds == {
        "requirement_precision": 0.7,
        "requirement_recall": None,
    }
    wrong = rita.post(address, {"requirement_precision": "much", "max_drop": ""})
    assert wrong.status_code == 400
    assert 'value="much"' in wrong.content.decode()
