"""One and all of k tries, against every way to draw them."""

from __future__ import annotations

from itertools import combinations
from statistics import mean

import pytest

from evaluation.metrics.repetitions import all_of_k, pass_at_k

VALUES = [0.25, 1.0, 0.0, 0.5, 1.0, 0.75]


@pytest.mark.parametrize("k", range(1, len(VALUES) + 1))
def test_each_is_the_mean_over_every_way_to_draw_k(k: int) -> None:
    draws = list(combinations(VALUES, k))
    n, right = len(VALUES), sum(value >= 0.75 for value in VALUES)

    one = mean(float(any(value >= 0.75 for value in draw)) for draw in draws)
    every = mean(float(all(value >= 0.75 for value in draw)) for draw in draws)
    assert pass_at_k(n, right, k) == pytest.approx(one)
    assert all_of_k(n, right, k) == pytest.approx(every)


def test_pass_at_k_is_the_published_product() -> None:
    for n, right, k in ((10, 3, 5), (200, 17, 100), (5, 0, 2), (5, 5, 1)):
        missing = 1.0
        for at in range(n - right + 1, n + 1):  # the numerically stable form of the paper
            missing *= 1 - k / at
        expected = 1.0 if n - right < k else 1 - missing
        assert pass_at_k(n, right, k) == pytest.approx(expected)


def test_fewer_tries_than_k_are_undefined_and_nonsense_is_refused() -> None:
    assert pass_at_k(2, 1, 3) is None
    assert all_of_k(2, 1, 3) is None
    with pytest.raises(ValueError, match="cannot be right"):
        pass_at_k(2, 3, 1)
