import numpy as np
import pytest

from labeling.domain.agreement.resampling import interval, resampled_sums


@pytest.mark.parametrize("kinds", [3, 500])  # rows mostly alike, and rows all different
def test_draws_have_the_mean_and_spread_of_drawing_rows(kinds):
    rows = np.stack([np.arange(500) % kinds, np.ones(500)], axis=1).astype(float)

    sums = resampled_sums(rows, seed=0, draws=4000)

    expected_std = rows[:, 0].std() * np.sqrt(500)
    assert (sums[:, 1] == 500).all()
    # four standard errors of a mean of 4000 draws
    assert sums[:, 0].mean() == pytest.approx(rows[:, 0].sum(), abs=4 * expected_std / 63)
    assert sums[:, 0].std() == pytest.approx(expected_std, rel=0.05)


@pytest.mark.parametrize("kinds", [3, 500])
def test_equal_seeds_give_equal_draws_whatever_the_order(kinds):
    rows = (np.arange(500) % kinds).astype(float)[:, None]

    first = resampled_sums(rows, seed=1)

    assert (first == resampled_sums(rows[::-1], seed=1)).all()
    assert (first != resampled_sums(rows, seed=2)).any()


def test_many_rows_are_drawn_in_parts():
    rows = np.random.default_rng(0).random((9000, 1))

    assert resampled_sums(rows, seed=0).shape == (1000, 1)


def test_nothing_to_draw_from():
    with pytest.raises(ValueError, match="nothing to draw from"):
        resampled_sums(np.zeros((0, 2)), seed=0)


def test_an_interval_needs_half_of_the_draws():
    nan = float("nan")

    assert interval(np.array([1.0, 1.0, nan, nan])) == (1.0, 1.0)
    assert interval(np.array([1.0, nan, nan])) is None
    assert interval(np.array([])) is None
