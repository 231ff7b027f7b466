import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.agreement.rules.kappa import (
    ac1s,
    band,
    defined,
    fleiss_of,
    overall_sums,
    weighted_kappa,
)
from labeling.agreement.rules.ratings import tallied
from tests.labeling.domain.agreement.two_raters import A, B, cohen_kappa

pairs_of_labels = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40)


def test_worked_example():
    # p_o = 6/8; p_e = (5·5 + 3·3)/64 = 34/64; (48 − 34)/(64 − 34) = 14/30 = 7/15
    assert cohen_kappa(A, B) == 7 / 15
    assert band(cohen_kappa(A, B)) == "moderate"


@given(pairs_of_labels)
def test_equals_scikit_learn(labels):
    from sklearn.metrics import cohen_kappa_score

    a, b = zip(*labels, strict=True)

    result = cohen_kappa(a, b)

    if len({*a, *b}) == 1:
        assert result is None
    else:
        assert result == pytest.approx(cohen_kappa_score(a, b))


@pytest.mark.parametrize(
    ("a", "b", "kappa"), [([], [], None), ([0] * 5, [0] * 5, None), ([1, 1], [0, 0], 0.0)]
)
def test_one_label_throughout_leaves_nothing_to_correct(a, b, kappa):
    assert cohen_kappa(a, b) == kappa


@pytest.mark.parametrize(
    ("crossed", "ac1"),
    [
        # shares of 1: 5/8 and 5/8, π = 5/8; p_e = 2·(5/8)(3/8) = 30/64; (48 − 30)/(64 − 30)
        ([[2, 1], [1, 4]], 18 / 34),
        # p_o = 3/4; π = 2/8, 3/8, 3/8; Σπ(1−π) = (12 + 15 + 15)/64 = 42/64; p_e = 21/64
        ([[1, 0, 0], [0, 1, 1], [0, 0, 1]], (48 - 21) / (64 - 21)),
        ([[9]], 1.0),  # it stands where κ does not
        ([[0]], None),
    ],
)
def test_ac1_by_hand(crossed, ac1):
    assert defined(ac1s(tallied(np.array(crossed, dtype=float)))) == pytest.approx(ac1)


def test_fleiss_with_missing_ratings_by_hand():
    # units (2,0), (1,2), (1,0): the last has one rating and is left out.
    # P = (1 + 2·1/6)/2 = 2/3; shares (1 + 1/3)/2 = 2/3 and 1/3; chance 5/9; (6−5)/(9−5)
    sums = overall_sums(np.array([[2, 0], [1, 2], [1, 0]])).sum(axis=0)
    assert defined(fleiss_of(sums)) == pytest.approx(1 / 4)


# --- scores of judges --------------------------------------------------------------------------


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
