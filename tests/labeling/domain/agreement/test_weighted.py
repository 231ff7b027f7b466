"""Judges' agreement on scores: against scikit-learn, by hand, and where it has no value."""

from __future__ import annotations

import numpy as np
import pytest

from labeling.agreement.rules.weighted import NOTHING_SHARED, judge_pairs, weighted_kappa


@pytest.mark.parametrize("top", [2, 10])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_what_scikit_learn_says(seed: int, top: int) -> None:
    from sklearn.metrics import cohen_kappa_score

    random = np.random.default_rng(seed)
    a = random.integers(0, top + 1, size=60)
    b = np.clip(a + random.integers(-1, 2, size=60), 0, top)
    expected = cohen_kappa_score(a, b, weights="quadratic", labels=range(top + 1))
    assert weighted_kappa(a.tolist(), b.tolist()) == pytest.approx(expected, abs=1e-12)


def test_far_apart_counts_more_than_next_to_each_other() -> None:
    near = weighted_kappa([0, 1, 2, 2], [0, 1, 2, 1])  # Σd² = 1; 9 + 6 − 2·5·4/4 = 5
    far = weighted_kappa([0, 1, 2, 2], [0, 1, 2, 0])  # Σd² = 4; 9 + 5 − 2·5·3/4 = 6.5
    assert near == pytest.approx(1 - 1 / 5)
    assert far == pytest.approx(1 - 4 / 6.5)


def test_nothing_and_one_score_throughout_have_no_value_and_say_why() -> None:
    assert weighted_kappa([], []) is None
    assert weighted_kappa([2, 2], [2, 2]) is None
    apart, same = (
        judge_pairs({"ana": {"c1": [2, 2]}, "ben": {"c2": [2, 2]}}),
        judge_pairs({"ana": {"c1": [2, 2]}, "ben": {"c1": [2, 2]}}),
    )
    assert (apart[0].kappa, apart[0].n, apart[0].undefined) == (None, 0, NOTHING_SHARED)
    assert same[0].undefined is not None
    assert "one and the same" in same[0].undefined


@pytest.mark.parametrize("score", [7.3, 20 / 3])
def test_one_broken_score_throughout_has_no_value_either(score: float) -> None:
    """Rounding leaves a trifle where chance is 0, and a trifle over a trifle is no agreement."""
    for size in range(1, 40):
        assert weighted_kappa([score] * size, [score] * size) is None, size


def test_judges_who_never_agree_on_constants_have_zero() -> None:
    """By chance one 2 against one 0 disagrees as much as it does here: κ = 0, not undefined."""
    assert weighted_kappa([2, 2], [0, 0]) == 0.0


def test_only_what_both_rated_counts_and_the_interval_is_over_conversations() -> None:
    scores = {
        "ana": {"c1": [2, 1, None], "c2": [0, 0], "c3": [1]},
        "ben": {"c1": [2, 0, 1], "c2": [0, 1], "c4": [2]},
    }
    (pair,) = judge_pairs(scores)
    assert (pair.n, pair.conversations, pair.raw) == (4, 2, 0.5)
    assert pair.kappa == weighted_kappa([2, 1, 0, 0], [2, 0, 0, 1])
    assert pair.ci_low is not None
    assert pair.ci_high is not None
    assert pair.ci_low <= pair.kappa <= pair.ci_high  # type: ignore[operator]


def test_different_numbers_of_items_are_an_error() -> None:
    with pytest.raises(ValueError, match="items in c1"):
        judge_pairs({"ana": {"c1": [1]}, "ben": {"c1": [1, 2]}})
