import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.calibration import (
    NO_PREDICTION,
    calibration,
    chance_levels,
    summarize_calibration,
)

shares = st.floats(0, 1)
points = st.tuples(shares, st.integers(0, 1))


def expected_errors(pairs, bins=10):
    """ECE and MCE as they are written down, bin by bin."""
    gaps = []
    for number in range(bins):
        inside = [
            (confidence, correct)
            for confidence, correct in pairs
            if number / bins <= confidence < (number + 1) / bins
            or (confidence == 1 and number == bins - 1)
        ]
        if inside:
            stated = sum(confidence for confidence, _ in inside) / len(inside)
            result = sum(correct for _, correct in inside) / len(inside)
            gaps.append((len(inside), abs(result - stated)))
    return sum(n * gap for n, gap in gaps) / len(pairs), max(gap for _, gap in gaps)


def test_empty_bins_are_left_out():
    # bins 0 and 9 hold two predictions each: |0 − 0.05| and |0.5 − 0.95|
    result = calibration([0.05, 0.05, 0.95, 0.95], [0, 0, 1, 0])

    assert result.ece == pytest.approx((2 * 0.05 + 2 * 0.45) / 4)
    assert result.mce == pytest.approx(0.45)
    assert result.brier == pytest.approx((2 * 0.05**2 + 0.05**2 + 0.95**2) / 4)
    assert [each.count for each in result.bins] == [2, 0, 0, 0, 0, 0, 0, 0, 0, 2]
    assert (result.bins[1].confidence, result.bins[1].accuracy) == (None, None)
    assert (result.bins[9].lower, result.bins[9].upper, result.bins[9].accuracy) == (0.9, 1.0, 0.5)


@pytest.mark.parametrize(
    ("confidence", "place"), [(0.0, 0), (0.1, 1), (0.3, 3), (0.7, 7), (1.0, 9)]
)
def test_bins_are_closed_on_the_left_and_the_last_on_both_sides(confidence, place):
    result = calibration([confidence], [1])

    assert [each.count for each in result.bins].index(1) == place


@given(st.lists(points, min_size=1, max_size=30))
def test_errors_are_as_written_down_and_brier_is_scikit_learns(pairs):
    from sklearn.metrics import brier_score_loss

    confidences, corrects = zip(*pairs, strict=True)

    result = calibration(confidences, corrects)

    ece, mce = expected_errors(pairs)
    assert result.ece == pytest.approx(ece)
    assert result.mce == pytest.approx(mce)
    expected = brier_score_loss(corrects, confidences, labels=[0, 1], scale_by_half=True)
    assert result.brier == pytest.approx(expected)
    assert result.ece <= result.mce + 1e-12


def test_without_predictions_all_is_undefined():
    result = calibration([], [])

    assert (result.ece, result.mce, result.brier, result.n) == (None, None, None, 0)
    assert result.undefined == NO_PREDICTION
    assert len(result.curve) == 10


@pytest.mark.parametrize("confidence", [-0.01, 1.01, math.nan, math.inf])
def test_a_confidence_outside_zero_to_one_is_refused(confidence):
    with pytest.raises(ValueError, match=r"confidence must be in \[0, 1\]"):
        calibration([confidence], [1])


@pytest.mark.parametrize(
    ("confidences", "corrects", "message"),
    [([0.5], [], "1 confidences against 0"), ([0.5], [2], "must be 0 or 1")],
)
def test_bad_outcomes_are_refused(confidences, corrects, message):
    with pytest.raises(ValueError, match=message):
        calibration(confidences, corrects)


@given(st.lists(st.lists(points, max_size=4), min_size=1, max_size=6))
def test_a_run_pools_all_predictions(cases):
    pooled = [point for case in cases for point in case]
    whole = calibration([c for c, _ in pooled], [c for _, c in pooled])

    result = summarize_calibration(cases, clusters=range(len(cases)), failed=[False] * len(cases))

    for name in ("ece", "mce", "brier"):
        assert result[name].mean == pytest.approx(getattr(whole, name))
        assert result[name].n == sum(map(bool, cases))
        assert result[name].n_undefined == len(cases) - result[name].n


def test_the_brier_score_has_an_interval_and_binned_errors_a_chance_level():
    cases = [[(0.9, k % 2)] * 5 for k in range(20)]

    result = summarize_calibration(cases, clusters=range(20), failed=[False] * 20)

    assert result["ece"].mean == pytest.approx(0.4)
    assert (result["ece"].ci_low, result["mce"].ci_high) == (None, None)
    assert result["brier"].ci_low < result["brier"].mean < result["brier"].ci_high
    assert result["ece"].median is None


def test_the_chance_level_is_what_calibrated_pipelines_show():
    random = np.random.default_rng(5)
    stated = random.beta(4, 2, 150)
    shown = []
    for _ in range(200):
        correct = (random.random(150) < stated).astype(int)
        shown.append(calibration(stated.tolist(), correct.tolist()))

    levels = chance_levels([list(zip(stated.tolist(), [0] * 150, strict=True))], failed=[False])

    assert levels["ece"] == pytest.approx(np.mean([each.ece for each in shown]), rel=0.05)
    assert levels["mce"] == pytest.approx(np.mean([each.mce for each in shown]), rel=0.08)


def test_a_failed_case_weighs_in_the_chance_level_as_in_the_figure():
    assert chance_levels([[(0.5, 1)], []], failed=[False, True]) == {"ece": 0.75, "mce": 0.75}
    assert chance_levels([[], []], failed=[True, True]) == {"ece": None, "mce": None}


def test_a_failed_case_weighs_as_one_case_of_the_worst_value():
    cases = [[(1.0, 1), (1.0, 1)], [], [(0.5, 1)], []]

    result = summarize_calibration(cases, clusters="abcd", failed=[False, True, False, False])

    # pooled over 3 predictions: ECE 0.5/3; two cases of it and one of 1.0
    assert result["ece"].mean == pytest.approx((2 * 0.5 / 3 + 1) / 3)
    assert (result["ece"].n, result["ece"].n_undefined, result["ece"].n_failed) == (3, 1, 1)


@pytest.mark.parametrize("failed", [[True, True], [True, False]])
def test_without_any_prediction_there_is_no_figure_even_if_cases_failed(failed):
    result = summarize_calibration([[], []], clusters="ab", failed=failed)

    for each in result.values():
        assert (each.mean, each.ci_low, each.ci_high) == (None, None, None)
        assert (each.n, each.n_undefined, each.n_failed) == (0, 2, sum(failed))
