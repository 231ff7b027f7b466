import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from labeling.agreement.rules.kappa import (
    ac1s,
    alpha_of,
    band,
    cohen_kappa,
    defined,
    fleiss_of,
    overall_sums,
)
from labeling.agreement.rules.ratings import tallied
from tests.labeling.domain.agreement.two_raters import A, B

pairs_of_labels = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40)


def test_worked_example():
    # p_o = 6/8; p_e = (5·5 + 3·3)/64 = 34/64; (48 − 34)/(64 − 34) = 14/30 = 7/15
    assert cohen_kappa(A, B) == 7 / 15
    assert band(cohen_kappa(A, B)) == "moderate"


@given(pairs_of_labels)
def test_equals_scikit_learn(labels):
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


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="cohen_kappa: 1 labels against 2"):
        cohen_kappa([1], [1, 0])


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


def _overall(counts):
    sums = overall_sums(counts).sum(axis=0)
    return defined(alpha_of(sums)), defined(fleiss_of(sums))


def test_fleiss_with_missing_ratings_by_hand():
    # units (2,0), (1,2), (1,0): the last has one rating and is left out.
    # P = (1 + 2·1/6)/2 = 2/3; shares (1 + 1/3)/2 = 2/3 and 1/3; chance 5/9; (6−5)/(9−5)
    assert _overall(np.array([[2, 0], [1, 2], [1, 0]]))[1] == pytest.approx(1 / 4)


def _random_table(random):
    """Labels of a few annotators for the same units; some missing, many tables one-sided."""
    raters, units = int(random.integers(2, 6)), int(random.integers(1, 25))
    categories = int(random.integers(1, 4))
    shares = random.dirichlet(np.full(categories, 0.4))
    table = random.choice(categories, size=(raters, units), p=shares).astype(float)
    missing = random.random(table.shape) < random.choice([0.0, 0.0, 0.3])
    return np.where(missing, np.nan, table)


def _counts(table):
    return np.stack([(table == label).sum(axis=0) for label in range(3)], axis=1)


def _or_none(value):
    return None if np.isnan(value) else float(value)


@pytest.mark.filterwarnings("ignore")  # the libraries warn where they have no value
def test_a_thousand_random_tables_equal_the_libraries():
    random = np.random.default_rng(20)
    undefined = 0
    for _ in range(1000):
        table = _random_table(random)
        ours = _pair_kappas(table)
        assert ours == pytest.approx(_library_kappas(table), abs=1e-9)
        counts = _counts(table)
        alpha, fleiss = _overall(counts)
        assert alpha == pytest.approx(_library_alpha(table), abs=1e-9)
        if not np.isnan(table).any():
            expected = _or_none(statsmodels_fleiss(counts)) if np.ptp(table) else None
            assert fleiss == pytest.approx(expected, abs=1e-9)
        undefined += alpha is None or None in ours
    assert 100 < undefined < 900  # both kinds are well covered


def _both(table):
    for a in range(len(table)):
        for b in range(a + 1, len(table)):
            kept = ~np.isnan(table[a]) & ~np.isnan(table[b])
            yield table[a][kept].astype(int), table[b][kept].astype(int)


def _pair_kappas(table):
    return [cohen_kappa(a.tolist(), b.tolist()) for a, b in _both(table)]


def _library_kappas(table):
    result = []
    for a, b in _both(table):
        one_label = len(set(a) | set(b)) < 2  # scikit-learn divides 0 by 0 here
        result.append(None if one_label else _or_none(cohen_kappa_score(a, b)))
    return result


def _library_alpha(table):
    rated = (~np.isnan(table)).sum(axis=0) >= 2
    if len(np.unique(table[:, rated][~np.isnan(table[:, rated])])) < 2:
        return None  # krippendorff refuses a single label, or no pair at all
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))
