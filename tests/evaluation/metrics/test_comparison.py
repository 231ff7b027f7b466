"""Paired comparison against scipy's permutation test, by hand, and by its laws."""

import numpy as np
import pytest
from scipy.stats import permutation_test
from statsmodels.stats.multitest import multipletests

from evaluation.metrics.comparison import Comparison, compare, holm, verdict


def two(before, after, **options):
    given = {"clusters": range(len(before)), "direction": "higher", "seed": 0} | options
    return compare(before, after, **given)


@pytest.mark.parametrize("seed", range(10))
def test_the_exact_p_value_equals_scipy(seed):
    random = np.random.default_rng(seed)
    before, after = random.random(9), random.random(9)

    found = two(list(before), list(after))

    expected = permutation_test(
        (after - before,), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-9)


def test_a_drawn_p_value_is_near_the_exact_one():
    random = np.random.default_rng(1)
    before = random.random(40)
    after = before + random.normal(0.05, 0.2, 40)

    found = two(list(before), list(after))

    expected = permutation_test(
        (after - before,), np.mean, permutation_type="samples", n_resamples=50_000, rng=7
    )
    assert found.p_value == pytest.approx(expected.pvalue, abs=0.015)


def test_signs_belong_to_conversations_not_to_cases():
    """Eight equal cases of two conversations are two observations: p cannot be under 1/2."""
    found = two([0.0] * 8, [1.0] * 8, clusters="aaaabbbb")

    assert found.p_value == 0.5
    assert (found.n, found.clusters) == (8, 2)


def test_wins_and_losses_follow_the_direction():
    higher = two([0.2, 0.5, 0.5, 0.1], [0.4, 0.4, 0.5, 0.9])
    lower = two([0.2, 0.5, 0.5, 0.1], [0.4, 0.4, 0.5, 0.9], direction="lower")

    assert (higher.wins, higher.losses, higher.ties) == (2, 1, 1)
    assert (lower.wins, lower.losses, lower.ties) == (1, 2, 1)
    assert higher.difference == lower.difference == pytest.approx(0.225)


def test_a_case_undefined_in_either_run_is_left_out_and_counted():
    found = two([0.5, None, 0.5], [0.5, 1.0, None])

    assert (found.n, found.n_undefined) == (1, 2)


def test_without_a_pair_nothing_is_known():
    found = two([None], [1.0])

    assert found.difference is None
    assert found.p_value is None
    assert (found.n, found.wins, found.losses, found.ties) == (0, 0, 0, 0)


def test_one_conversation_gives_a_difference_and_no_inference():
    found = two([0.0, 0.0], [1.0, 1.0], clusters="aa")

    assert found.difference == 1.0
    assert (found.ci_low, found.p_value, found.detectable) == (None, None, None)


def test_equal_runs_differ_in_nothing():
    found = two([0.1, 0.9, 0.4], [0.1, 0.9, 0.4])

    assert (found.difference, found.ci_low, found.ci_high, found.p_value) == (0.0, 0.0, 0.0, 1.0)
    assert found.ties == 3


def test_the_order_of_cases_plays_no_part():
    before, after, clusters = [0.1, 0.4, 0.8, 0.3], [0.3, 0.2, 0.9, 0.9], "abac"
    order = [2, 0, 3, 1]

    turned = two(
        [before[i] for i in order], [after[i] for i in order], clusters=[clusters[i] for i in order]
    )

    found = two(before, after, clusters=clusters)
    assert turned.p_value == found.p_value
    assert turned.difference == pytest.approx(found.difference)
    assert (turned.ci_low, turned.ci_high) == pytest.approx((found.ci_low, found.ci_high))


def test_the_detectable_difference_by_hand():
    """Differences 0 and 1 of two cases: SE = sqrt(2 · 0.5) / 2 = 0.5, times 2.8016."""
    assert two([0.0, 0.0], [0.0, 1.0]).detectable == pytest.approx(1.4008)


def test_four_times_the_cases_detect_half_the_difference():
    random = np.random.default_rng(0)
    before, after = list(random.random(50)), list(random.random(50))

    small, large = two(before, after).detectable, two(before * 4, after * 4).detectable

    assert large == pytest.approx(small / 2, rel=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_holm_equals_statsmodels(seed):
    p_values = np.random.default_rng(seed).random(7) / 5

    assert holm(list(p_values)) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


@pytest.mark.parametrize(
    ("low", "high", "p_value", "direction", "said"),
    [
        (0.1, 0.3, 0.01, "higher", "better"),
        (0.1, 0.3, 0.01, "lower", "worse"),
        (-0.3, -0.1, 0.01, "higher", "worse"),
        (-0.1, 0.3, 0.01, "higher", "no detectable difference"),
        (0.1, 0.3, 0.05, "higher", "no detectable difference"),
        (None, None, None, "higher", "not measurable"),
    ],
)
def test_a_verdict_needs_interval_and_p_value(low, high, p_value, direction, said):
    found = Comparison(2, 0, 2, 0.0, 0.2, 0.2, low, high, p_value, 0.1, 1, 0, 1)

    assert verdict(found, direction, p_value) == said


def test_unpaired_values_are_refused():
    with pytest.raises(ValueError, match="2, 1 and 2 values"):
        compare([1, 2], [1], clusters="ab", direction="higher", seed=0)
