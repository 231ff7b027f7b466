import statistics
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.metric import Metric, Share, Value
from evaluation.metrics.registry import METRICS
from evaluation.metrics.summary import summarize
from labeling.domain.facts import Fact
from labeling.domain.uncertainty import ratio

UNDEFINED = Value(None, Fact("metric.no_reference"))

values = st.lists(st.none() | st.floats(0, 1), max_size=20)


def metric(scope="case", **options):
    return Metric("m", 1, frozenset(), "M", "", scope=scope, **options)


def whole(values, *, worst=0.0, **changes):
    size = len(values)
    options = {"clusters": range(size), "failed": [False] * size} | changes
    return summarize(
        metric(failure=worst),
        [Value(value) if value is not None else UNDEFINED for value in values],
        **options,
    )


def test_figures_by_hand():
    summary = whole([0.0, 1.0, 0.5, 0.5])

    assert (summary.mean, summary.median, summary.min, summary.max) == (0.5, 0.5, 0.0, 1.0)
    assert summary.std == pytest.approx((0.5 / 3) ** 0.5)  # n − 1
    assert (summary.n, summary.n_undefined, summary.n_failed) == (4, 0, 0)
    assert summary.ci_low < 0.5 < summary.ci_high


@given(values)
def test_equals_the_standard_library(values):
    summary = whole(values)

    kept = [value for value in values if value is not None]
    assert (summary.n, summary.n_undefined) == (len(kept), len(values) - len(kept))
    if kept:
        assert summary.mean == pytest.approx(statistics.fmean(kept))
        assert summary.median == pytest.approx(statistics.median(kept))
        assert (summary.min, summary.max) == (min(kept), max(kept))
    if len(kept) > 1:
        assert summary.std == pytest.approx(statistics.stdev(kept), abs=1e-12)
        assert summary.ci_low <= summary.mean + 1e-12
        assert summary.ci_high >= summary.mean - 1e-12 or summary.ci_high >= summary.ci_low


@given(values, st.randoms(use_true_random=False))
def test_the_order_of_cases_plays_no_part(values, random):
    cases = list(enumerate(values))
    shuffled = random.sample(cases, len(cases))

    again = whole([value for _, value in shuffled], clusters=[case for case, _ in shuffled])

    assert asdict(again) == pytest.approx(asdict(whole(values)))


@pytest.mark.parametrize("values", [[], [None, None]])
def test_without_values_there_are_no_figures(values):
    summary = whole(values)

    assert (summary.mean, summary.median, summary.std, summary.min, summary.max) == (None,) * 5
    assert (summary.ci_low, summary.ci_high, summary.n) == (None, None, 0)
    assert summary.n_undefined == len(values)


@pytest.mark.parametrize(("worst", "mean"), [(0.0, 0.5), (1.0, 1.0)])
def test_a_failed_case_scores_the_worst_whatever_it_says(worst, mean):
    summary = whole([1.0, None], failed=[False, True], worst=worst)

    assert (summary.mean, summary.n, summary.n_undefined, summary.n_failed) == (mean, 2, 0, 1)
    assert whole([1.0, 1.0], failed=[False, True], worst=worst).mean == mean


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10), st.integers(0, 9))
def test_crashing_never_raises_a_score(values, which):
    failed = [number == which for number in range(len(values))]

    assert whole(values, failed=failed).mean <= whole(values).mean + 1e-12
    lower_is_better = whole(values, failed=failed, worst=1.0).mean
    assert lower_is_better >= whole(values).mean - 1e-12


def test_conversations_are_the_unit():
    """Ten equal cases of each of two conversations say what two cases say, not what twenty do."""
    values, clusters = [1.0] * 10 + [0.0] * 10, ["good"] * 10 + ["bad"] * 10

    together, apart = whole(values, clusters=clusters), whole(values)

    assert together.ci_low < 0.01
    assert together.ci_high > 0.99
    assert together.conversations == 2
    assert 0.2 < apart.ci_low < apart.ci_high < 0.8


def test_equal_cases_give_an_interval_that_has_a_length():
    summary = whole([1.0] * 9)

    assert summary.mean == summary.ci_high == 1.0
    assert 0.6 < summary.ci_low < 0.8  # 9 of 9: 0.70 by Wilson


def test_one_conversation_gives_no_interval():
    summary = whole([0.2, 0.8], clusters=["c", "c"])

    assert (summary.mean, summary.ci_low, summary.ci_high) == (0.5, None, None)


def test_a_micro_average_is_the_ratio_of_the_sums():
    """The run's figure is no mean of its cases, and its interval is that of the ratio."""
    shares = [Share(9, 10), Share(0, 1), Share(0, 1), Share(5, 10)]
    values = [Value(share.numerator / share.denominator, share=share) for share in shares]

    summary = summarize(metric("micro"), values, clusters="abcd", failed=[False] * 4)

    assert summary.mean == pytest.approx(14 / 22)
    assert summary.median == pytest.approx(0.25)
    expected = ratio(np.array(shares))
    assert (summary.ci_low, summary.ci_high) == (expected.low, expected.high)


def test_the_interval_of_a_figure_over_chance_ends_where_its_range_does():
    shares = [Share(0.9, 0.9), Share(0.8, 0.8), Share(0.1, 0.8), Share(0.9, 0.9)]
    values = [Value(share.numerator / share.denominator, share=share) for share in shares]

    result = summarize(
        METRICS["fuzzy_recall_corrected"], values, clusters="abcd", failed=[False] * 4
    )

    assert result.mean < result.ci_high == 1.0
