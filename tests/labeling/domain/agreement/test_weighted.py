"""Judges' agreement on scores: against scikit-learn, by hand, and where it has no value."""

import numpy as np
import pytest

from labeling.agreement.rules.kappa import weighted_kappa


@pytest.mark.parametrize("top", [2, 10])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_what_scikit_learn_says(seed, top):
    from sklearn.metrics import cohen_kappa_score

    random = np.random.default_rng(seed)
    a = random.integers(0, top + 1, size=60)
    b = np.clip(a + random.integers(-1, 2, size=60), 0, top)
    expected = cohen_kappa_score(a, b, weights="quadratic", labels=range(top + 1))
    assert weighted_kappa(a.tolist(), b.tolist()) == pytest.approx(expected, abs=1e-12)


def test_far_apart_counts_more_than_next_to_each_other():
    near = weighted_kappa([0, 1, 2, 2], [0, 1, 2, 1])  # Σd² = 1; 9 + 6 − 2·5·4/4 = 5
    far = weighted_kappa([0, 1, 2, 2], [0, 1, 2, 0])  # Σd² = 4; 9 + 5 − 2·5·3/4 = 6.5
    assert near == pytest.approx(1 - 1 / 5)
    assert far == pytest.approx(1 - 4 / 6.5)


def test_nothing_and_one_score_throughout_have_no_value_and_say_why():
    assert weighted_kappa([], []) is None
    assert weighted_kappa([2, 2], [2, 2]) is None


@pytest.mark.parametrize("score", [7.3, 20 / 3])
def test_one_broken_score_throughout_has_no_value_either(score):
    """Rounding leaves a trifle where chance is 0, and a trifle over a trifle is no agreement."""
    for size in range(1, 40):
        assert weighted_kappa([score] * size, [score] * size) is None, size


def test_judges_who_never_agree_on_constants_have_zero():
    """By chance one 2 against one 0 disagrees as much as it does here: κ = 0, not undefined."""
    assert weighted_kappa([2, 2], [0, 0]) == 0.0
