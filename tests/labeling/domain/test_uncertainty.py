"""Intervals and tests over conversations, against independent computations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.domain.uncertainty import (
    chance_above,
    detectable,
    difference,
    jackknife,
    on_these_conversations,
    ratio,
    wilson,
)

UNBOUNDED = {"lower": -math.inf, "upper": math.inf}


def cases(sizes, seed=0):
    random = np.random.default_rng(seed)
    return [random.random(size) for size in sizes]


def table(values):
    return np.array([[row.sum(), len(row)] for row in values], dtype=float)


def cr2_of_matrices(values):
    """CR2 and Satterthwaite as Bell and McCaffrey write them, for the regression on a constant."""
    sizes = [len(row) for row in values]
    n = sum(sizes)
    hat = np.full((n, n), 1 / n)
    identity = np.eye(n)
    residuals = np.concatenate(values) - np.concatenate(values).mean()
    variance, columns, start = 0.0, [], 0
    for size in sizes:
        own = slice(start, start + size)
        roots, vectors = np.linalg.eigh(identity[own, own] - hat[own, own])
        adjust = vectors @ np.diag(roots**-0.5) @ vectors.T
        weights = np.zeros(n)
        weights[own] = adjust @ np.ones(size) / n
        variance += float(weights @ residuals) ** 2
        columns.append((identity - hat) @ weights)
        start += size
    products = np.array(columns) @ np.array(columns).T
    return math.sqrt(variance), np.trace(products) ** 2 / (products**2).sum()


@settings(deadline=None)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=7), st.integers(0, 5))
def test_the_variance_is_cr2_with_the_degrees_of_freedom_of_bell_and_mccaffrey(sizes, seed):
    values = cases(sizes, seed)
    std_error, df = cr2_of_matrices(values)

    estimate = ratio(table(values))

    assert estimate.std_error == pytest.approx(std_error, rel=1e-9, abs=1e-12)
    assert estimate.df == pytest.approx(max(1.0, df), rel=1e-9)


def test_with_equal_conversations_it_is_the_t_interval_of_their_means():
    from scipy import stats

    values = cases([6] * 9)
    means = [row.mean() for row in values]

    estimate = ratio(table(values), **UNBOUNDED)

    expected = stats.t.interval(0.95, 8, loc=np.mean(means), scale=stats.sem(means))
    assert (estimate.low, estimate.high) == pytest.approx(expected)


def test_with_equal_conversations_the_difference_is_the_paired_t_test():
    from scipy import stats

    before, after = cases([5] * 8, seed=1), cases([5] * 8, seed=2)

    paired = difference(table(before), table(after))

    means = [[row.mean() for row in side] for side in (after, before)]
    assert paired.p_value == pytest.approx(stats.ttest_rel(*means).pvalue)
    assert paired.df == pytest.approx(7)


@settings(deadline=None)
@given(st.integers(2, 30), st.integers(0, 50))
def test_interval_and_test_never_contradict_each_other(count, seed):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 12, count)
    before, after = ([random.random(size) < share for size in sizes] for share in (0.4, 0.6))

    paired = difference(table(before), table(after))

    excludes_zero = paired.low > 0 or paired.high < 0
    assert excludes_zero == (paired.p_value < 0.05)


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("count", [2, 9, 200])
def test_agreeing_cases_never_give_an_interval_of_length_zero(share, count):
    estimate = ratio(np.array([[share * 5, 5.0]] * count))

    assert estimate.low < estimate.high
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


@pytest.mark.parametrize("rows", [0, 1])
def test_one_conversation_says_nothing_about_others(rows):
    estimate = ratio(np.array([[3.0, 5.0]] * rows).reshape(rows, 2))

    assert estimate is None if rows == 0 else (estimate.value, estimate.low) == (0.6, None)


def test_on_these_conversations_only_cases_vary():
    """Conversations far apart, cases within them alike: sure here, unsure elsewhere."""
    differences = [np.array([0.1, 0.12, 0.11]), np.array([0.9, 0.88, 0.89])]

    here = on_these_conversations(differences)
    elsewhere = ratio(table(differences), **UNBOUNDED)

    assert here.value == elsewhere.value == pytest.approx(0.5)
    assert here.high - here.low < 0.05 < elsewhere.high - elsewhere.low
    # s² = .0001 in both, 3 cases each: variance 2 · 3 · .0001/36, 4 degrees of freedom
    assert here.std_error == pytest.approx(math.sqrt(2 * 3 * 0.0001 / 36))
    assert here.df == pytest.approx(4)


def test_conversations_of_one_case_cannot_answer_for_other_cases():
    here = on_these_conversations([np.array([0.2]), np.array([0.4])])

    assert (here.low, here.high) == (None, None)


@settings(deadline=None)
@given(st.integers(0, 40), st.integers(1, 40))
def test_wilson_is_wilsons(hits, more):
    from scipy import stats
    from statsmodels.stats.proportion import proportion_confint

    n = hits + more
    expected = proportion_confint(hits, n, method="wilson")

    assert wilson(hits / n, n, stats.norm.ppf(0.975)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("count", [4, 7, 10, 30])
def test_the_detectable_effect_is_that_of_the_t_test(count):
    """By statsmodels, for a standard error that is estimated: its mean is c₄ times the true one."""
    from statsmodels.stats.power import TTestPower

    df = count - 1
    c4 = math.sqrt(2 / df) * math.gamma(count / 2) / math.gamma(df / 2)
    expected = TTestPower().solve_power(nobs=count, alpha=0.05, power=0.8)

    assert detectable(c4 / math.sqrt(count), df) == pytest.approx(expected, rel=1e-4)


def test_the_jackknife_of_a_mean_on_a_wide_range_is_the_t_interval():
    """Over so wide a range the stretching is a straight line."""
    from scipy import stats

    values = np.random.default_rng(4).random(12)
    left_out = (values.sum() - values) / 11

    estimate = jackknife(values.mean(), left_out, lower=-1e4, upper=1e4)

    expected = stats.t.interval(0.95, 11, loc=values.mean(), scale=stats.sem(values))
    assert (estimate.low, estimate.high) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("left_out", [[0.5], [0.5, math.nan], [0.5, 1.0]])
def test_a_coefficient_that_cannot_be_stretched_has_no_interval(left_out):
    estimate = jackknife(0.6, np.array(left_out))

    assert (estimate.low, estimate.high, chance_above(estimate, 0.5)) == (None, None, None)
