"""Paired comparison against a regression with cluster-robust errors, by hand, and by its laws."""

import math

import numpy as np
import pytest

from evaluation.metrics.comparison import (
    MARGIN,
    compare,
    conversations_needed,
    detectable_with,
    holm,
    levels_of,
    verdict,
)
from evaluation.metrics.metric import Metric, Share
from labeling.domain.uncertainty import difference
from tests.evaluation.figures import compared


def metric(direction="higher", scope="case", **options):
    return Metric("m", 1, frozenset(), "M", "", direction=direction, scope=scope, **options)


def shares(values):
    return [None if value is None else Share(value, 1.0) for value in values]


def two(before, after, *, direction="higher", **options):
    options = {"clusters": range(len(before)), "metric": metric(direction)} | options
    return compare(shares(before), shares(after), **options)


@pytest.mark.parametrize("seed", range(10))
def test_one_case_per_conversation_is_the_paired_t_test(seed):
    from scipy.stats import ttest_rel

    random = np.random.default_rng(seed)
    before, after = random.random(9), random.random(9)

    result = two(before.tolist(), after.tolist())

    expected = ttest_rel(after, before)
    interval = expected.confidence_interval()
    assert result.p_value == pytest.approx(expected.pvalue)
    assert (result.ci_low, result.ci_high) == pytest.approx((interval.low, interval.high))


def test_conversations_are_the_unit_and_not_cases():
    """Eight equal cases of two conversations are two observations: nothing is shown by them."""
    result = two([0.0] * 8, [1.0] * 8, clusters="aaaabbbb")

    assert result.p_value == 0.5
    assert result.ci_low == 0.0
    assert (result.n, result.conversations) == (8, 2)


def test_no_interval_passes_what_two_runs_can_differ_by():
    before, after = [0.0, 0.1, 0.0], [1.0, 0.6, 1.0]
    of_ten = metric(upper=10.0)

    result, wider = two(before, after), two(before, after, metric=of_ten)

    assert result.ci_high == 1.0 < wider.ci_high
    assert result.ci_low == pytest.approx(wider.ci_low)
    assert (result.std_error, result.df) == pytest.approx((wider.std_error, wider.df))


def test_on_these_conversations_many_cases_tell():
    """What two conversations cannot say about new ones they say about themselves."""
    random = np.random.default_rng(5)
    before = random.random(60)
    after = before + random.normal(0.2, 0.2, 60)

    result = two(before.tolist(), after.tolist(), clusters=[number % 2 for number in range(60)])

    assert result.here_p_value < 0.001
    assert result.here_low < result.difference < result.here_high
    assert result.ci_high - result.ci_low > result.here_high - result.here_low


def test_micro_averages_are_compared_and_no_mean_of_cases():
    """Finding S1: cases got worse one by one, while the sums got better."""
    before = [Share(1, 1)] * 6 + [Share(4, 20)] * 2
    after = [Share(0, 1)] * 6 + [Share(18, 20)] * 2

    result = compare(before, after, clusters=range(8), metric=metric(scope="micro"))

    assert result.before == pytest.approx(14 / 46)
    assert result.after == pytest.approx(36 / 46)
    assert result.difference == pytest.approx(22 / 46)
    assert (result.wins, result.losses) == (2, 6)
    expected = difference(np.array(before, dtype=float), np.array(after, dtype=float))
    assert result.p_value == expected.p_value


def test_wins_and_losses_follow_the_direction():
    higher = two([0.2, 0.5, 0.5, 0.1], [0.4, 0.4, 0.5, 0.9])
    lower = two([0.2, 0.5, 0.5, 0.1], [0.4, 0.4, 0.5, 0.9], direction="lower")

    assert (higher.wins, higher.losses, higher.ties) == (2, 1, 1)
    assert (lower.wins, lower.losses, lower.ties) == (1, 2, 1)
    assert higher.difference == lower.difference == pytest.approx(0.225)


def test_figures_and_difference_are_those_of_the_cases_that_have_a_value_in_both_runs():
    """What one run leaves out makes it neither better nor worse; it is counted."""
    easy, hard = [1.0] * 4, [0.0] * 4

    result = two([*easy, *hard], [*easy, *[None] * 4])

    assert (result.before, result.after, result.difference) == (1.0, 1.0, 0.0)
    assert (result.p_value, result.conversations) == (1.0, 4)
    assert (result.n, result.n_undefined) == (4, 4)
    assert (result.wins, result.losses, result.ties) == (0, 0, 4)


def test_it_is_counted_on_how_many_cases_each_figure_rests():
    result = two([0.1, 0.2, 0.1, None], [None, 1.0, None, None])

    assert (result.n, result.n_before, result.n_after, result.n_undefined) == (1, 3, 1, 3)


def test_no_difference_is_detectable_that_two_runs_cannot_have():
    """Two conversations that differ much: the t test with one degree needs twenty errors."""
    result = two([0.0, 0.0], [0.9, 0.1])

    assert result.ci_low is not None
    assert result.detectable is None


def test_without_a_pair_nothing_is_known():
    result = two([None], [1.0])

    assert result.difference is None
    assert result.p_value is None
    assert (result.n, result.wins, result.losses, result.ties) == (0, 0, 0, 0)


def test_one_conversation_gives_a_difference_and_no_inference():
    result = two([0.0, 0.0], [1.0, 1.0], clusters="aa")

    assert result.difference == 1.0
    assert (result.ci_low, result.p_value, result.detectable) == (None, None, None)


def test_equal_runs_differ_in_nothing_and_something_stays_possible():
    result = two([0.1, 0.9, 0.4] * 3, [0.1, 0.9, 0.4] * 3)

    assert (result.difference, result.p_value, result.ties) == (0.0, 1.0, 9)
    assert result.ci_low == -result.ci_high < 0
    assert result.detectable > 0


@pytest.mark.parametrize("effect", [0.3, 0.1, 0.02])
def test_the_conversations_needed_are_the_fewest_that_show_the_effect(effect):
    needed = conversations_needed(0.05, 6.0, 7, effect)

    assert detectable_with(needed, 0.05, 6.0, 7) <= effect
    assert detectable_with(needed - 1, 0.05, 6.0, 7) > effect


def test_no_number_of_conversations_shows_a_difference_of_nothing():
    assert conversations_needed(0.05, 6.0, 7, 1e-9) is None
    assert detectable_with(1, 0.05, 6.0, 7) == math.inf


@pytest.mark.parametrize("seed", range(3))
def test_holm_equals_statsmodels(seed):
    from statsmodels.stats.multitest import multipletests

    p_values = np.random.default_rng(seed).random(7) / 5

    assert holm(list(p_values)) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


@pytest.mark.parametrize("seed", range(8))
def test_an_interval_excludes_0_exactly_where_the_corrected_test_does(seed):
    from statsmodels.stats.multitest import multipletests

    random = np.random.default_rng(seed)
    metrics = [
        (shares(random.normal(0.5, 0.2, 12)), shares(random.normal(0.5 + gain, 0.2, 12)))
        for gain in (0.0, 0.15, 0.25, 0.4)
    ]
    plain = [compare(*pair, clusters=range(12), metric=metric()).p_value for pair in metrics]
    known = [*plain, None]

    at_levels = [
        compare(*pair, clusters=range(12), metric=metric(), level=level)
        for pair, level in zip(metrics, levels_of(known), strict=False)
    ]

    excluded = [each.ci_low > 0 or each.ci_high < 0 for each in at_levels]
    assert excluded == multipletests(plain, method="holm")[0].tolist()
    assert [each.p_value for each in at_levels] == plain


@pytest.mark.parametrize(
    ("low", "high", "p_value", "direction", "expected"),
    [
        (0.1, 0.3, 0.01, "higher", "better"),
        (0.1, 0.3, 0.01, "lower", "worse"),
        (-0.3, -0.1, 0.01, "higher", "worse"),
        (-0.1, 0.3, 0.2, "higher", "undecided"),
        (0.1, 0.3, 0.05, "higher", "undecided"),  # corrected
        (-0.02, 0.029, 0.8, "higher", "no_difference"),
        (-0.02, 0.031, 0.8, "higher", "undecided"),
        (0.01, 0.02, 0.2, "higher", "undecided"),
        (None, None, None, "higher", "undecided"),
    ],
)
def test_a_verdict_rests_on_interval_and_p_value(low, high, p_value, direction, expected):
    result = comparison(0.2, low, high, p_value)

    assert verdict(result, metric(direction), p_value=p_value) == expected


def test_without_a_figure_there_is_nothing_to_say():
    assert verdict(comparison(None, None, None, None), metric(), p_value=None) == "not_measurable"


def test_no_difference_needs_enough_conversations_to_have_seen_a_rare_failure():
    from statsmodels.stats.proportion import proportion_confint

    few, enough = (comparison(0.0, -0.01, 0.01, 1.0, count) for count in (124, 125))

    assert verdict(few, metric(), p_value=1.0) == "undecided"
    assert verdict(enough, metric(), p_value=1.0) == "no_difference"
    assert proportion_confint(0, 124, method="wilson")[1] > MARGIN
    assert proportion_confint(0, 125, method="wilson")[1] <= MARGIN


def test_the_margin_is_a_share_of_the_range():
    result = comparison(0.0, -0.2, 0.2, 1.0)

    assert verdict(result, metric(), p_value=1.0) == "undecided"
    assert verdict(result, metric(upper=10.0), p_value=1.0) == "no_difference"
    assert verdict(result, metric(lower=-math.inf), p_value=1.0) == "undecided"


def comparison(difference, low, high, p_value, conversations=125):
    known = {"ci_low": low, "ci_high": high, "p_value": p_value, "conversations": conversations}
    return compared(before=0.0, after=difference, difference=difference, **known)


def test_unpaired_values_are_refused():
    with pytest.raises(ValueError, match="2, 1 and 2 values"):
        compare(shares([1, 2]), shares([1]), clusters="ab", metric=metric())
