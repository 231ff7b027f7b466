"""Judge and people: equal to scikit-learn and scipy, and honest about what is not known."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.metrics.judges import (
    ALL_ALIKE,
    NO_PAIR,
    Requirements,
    corrected_mean,
    disagreements,
    judge_agreement,
    people_agreement,
)


def rated(seed: int, size: int, *, halves: bool = False) -> dict[str, list[tuple[float, float]]]:
    """Ties in plenty; with ``halves`` people's scores are means of two raters."""
    random = np.random.default_rng(seed)
    judge = random.integers(0, 11, size)
    people = np.clip(judge + random.integers(-4, 5, size), 0, 10).astype(float)
    if halves:
        people = (people + random.integers(0, 11, size)) / 2
    pairs = [(float(a), float(b)) for a, b in zip(judge, people, strict=True)]
    return {f"c{n}": pairs[n::5] for n in range(5)}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("halves", [False, True])
def test_it_equals_scikit_learn_and_scipy(seed: int, halves: bool) -> None:
    from scipy.stats import spearmanr
    from sklearn.metrics import cohen_kappa_score, mean_absolute_error

    pairs = rated(seed, 60, halves=halves)
    judge, people = np.array([pair for of in pairs.values() for pair in of]).T
    result = judge_agreement(pairs)

    doubled = [(2 * side).astype(int) for side in (judge, people)]  # no halves; the same kappa
    kappa = cohen_kappa_score(*doubled, weights="quadratic", labels=range(21))
    assert result.kappa == pytest.approx(kappa, abs=1e-12)
    assert result.spearman == pytest.approx(spearmanr(judge, people).statistic, abs=1e-12)
    assert result.mae == pytest.approx(mean_absolute_error(people, judge), abs=1e-12)
    assert result.bias == pytest.approx((judge - people).mean(), abs=1e-12)
    assert (result.n, result.conversations) == (60, 5)
    for name in ("kappa", "spearman", "mae", "bias"):
        low, value, high = (getattr(result, name + end) for end in ("_low", "", "_high"))
        assert low <= value <= high


def test_answers_of_one_conversation_count_together() -> None:
    """The same pairs as forty conversations and as two: fewer independent ones, wider interval."""
    pairs = [pair for of in rated(1, 40).values() for pair in of]
    apart = judge_agreement({f"c{n}": [pair] for n, pair in enumerate(pairs)})
    good, bad = sorted(pairs, key=lambda one: abs(one[0] - one[1]))[:20], pairs[20:]
    together = judge_agreement({"a": good, "b": bad})

    def width(found: object) -> float:
        return float(found.mae_high - found.mae_low)

    assert width(together) > width(apart)
    alone = judge_agreement({"a": pairs})
    assert (alone.kappa_low, alone.spearman_low, alone.mae_low) == (None, None, None)
    assert (alone.bias_low, alone.bias_high) == (None, None)
    said = [why.code for why in disagreements(alone, 0, Requirements())]
    assert "certificate.one_conversation" in said


def test_what_cannot_be_said_is_not_said() -> None:
    nothing = judge_agreement({})
    assert (nothing.n, nothing.kappa, nothing.mae, nothing.undefined) == (0, None, None, NO_PAIR)
    alike = judge_agreement({"a": [(10, 10)] * 20, "b": [(10, 10)] * 20})
    assert (alike.kappa, alike.spearman, alike.undefined) == (None, None, ALL_ALIKE)
    assert alike.mae == 0.0


def test_the_level_has_the_t_interval_of_the_means_of_equal_conversations() -> None:
    """With as many answers in each, CR2 is the ordinary t interval of conversation means."""
    from scipy.stats import t

    pairs = rated(3, 60)
    means = np.array([np.subtract(*np.array(of).T).mean() for of in pairs.values()])
    for level in (0.95, 0.975):
        low, high = t.interval(level, 4, means.mean(), means.std(ddof=1) / np.sqrt(5))
        result = judge_agreement(pairs, level=level)
        assert (result.bias_low, result.bias_high) == pytest.approx((low, high))


def test_a_judge_that_is_always_a_point_off_has_an_interval_that_is_not_of_length_0() -> None:
    result = judge_agreement(
        {f"c{n}": [(score + 1, score) for score in range(9)] for n in range(6)}
    )
    assert result.bias_low < result.bias == 1.0 < result.bias_high
    assert result.bias_low > 0.5


def test_the_interval_of_kappa_is_the_jackknife_on_fishers_z() -> None:
    from scipy.stats import t
    from sklearn.metrics import cohen_kappa_score

    pairs = rated(4, 60)

    def kappa(names: list[str]) -> float:
        judge, people = np.array([pair for name in names for pair in pairs[name]]).T.astype(int)
        return float(cohen_kappa_score(judge, people, weights="quadratic", labels=range(11)))

    names = list(pairs)
    whole = np.arctanh(kappa(names))
    parts = np.arctanh([kappa([name for name in names if name != out]) for out in names])
    pseudo = 5 * whole - 4 * parts
    ends = np.tanh(t.interval(0.95, 4, whole, pseudo.std(ddof=1) / np.sqrt(5)))
    result = judge_agreement(pairs)
    assert (result.kappa_low, result.kappa_high) == pytest.approx(tuple(ends))


def test_people_are_compared_only_where_two_have_rated_and_in_no_order() -> None:
    ratings = {"a": [(8, 6), (3,), (2, 2, 5)], "b": [(9, 9), (1, 4)]}
    result = people_agreement(ratings)
    turned = {name: [scores[::-1] for scores in of] for name, of in ratings.items()}
    assert result.n == 4
    assert result.kappa == pytest.approx(people_agreement(turned).kappa)
    # pairs: 8-6, 2-2, 2-5, 2-5, 9-9, 1-4
    assert result.mae == pytest.approx((2 + 0 + 3 + 3 + 0 + 3) / 6)
    assert people_agreement({"a": [(8,)]}).kappa is None


def corrected_by_hand(
    judged: dict[str, list[float]], distances: dict[str, list[float]]
) -> tuple[float, float]:
    """Estimate and variance of PPI with clusters, by the matrices of a regression of two means.

    The stacked regression of judged values and of minus the distances on two constants, clustered
    by conversation (CR2: each residual vector times (I − H)^−½), and the sum of both coefficients.
    """
    names = sorted(judged)
    rows, values, of = [], [], []
    for name in names:
        for value in judged[name]:
            rows.append((1.0, 0.0))
            values.append(value)
            of.append(name)
        for value in distances.get(name, []):
            rows.append((0.0, 1.0))
            values.append(-value)
            of.append(name)
    x, y, where = np.array(rows), np.array(values), np.array(of)
    bread = np.linalg.inv(x.T @ x)
    beta = bread @ x.T @ y
    meat = np.zeros((2, 2))
    for name in names:
        mine = where == name
        hat = x[mine] @ bread @ x[mine].T
        values_of, vectors = np.linalg.eigh(np.eye(mine.sum()) - hat)
        root = vectors @ np.diag(1 / np.sqrt(values_of)) @ vectors.T
        score = x[mine].T @ root @ (y[mine] - x[mine] @ beta)
        meat += np.outer(score, score)
    return float(beta.sum()), float(np.ones(2) @ bread @ meat @ bread @ np.ones(2))


def test_the_corrected_mean_is_that_of_the_formula_in_matrices() -> None:
    """Equal conversations with equally many rated: the leverages of both terms are the same."""
    random = np.random.default_rng(7)
    judged = {f"c{n}": random.normal(6, 1.5, 12).tolist() for n in range(8)}
    distances = {name: random.normal(0.8, 1, 5).tolist() for name in judged}
    value, variance = corrected_by_hand(judged, distances)
    mean = corrected_mean(judged, distances)
    assert mean.value == pytest.approx(value)
    assert mean.judged - mean.value == pytest.approx(
        np.mean([one for of in distances.values() for one in of])
    )
    from scipy.stats import t

    reach = t.ppf(0.975, 7) * np.sqrt(variance)
    assert (mean.low, mean.high) == pytest.approx((value - reach, value + reach))
    assert (mean.n, mean.rated, mean.conversations) == (96, 40, 8)


def test_without_ratings_or_with_one_conversation_nothing_is_made_up() -> None:
    assert corrected_mean({"a": [5.0]}, {}) is None
    alone = corrected_mean({"a": [5.0, 7.0]}, {"a": [1.0]})
    assert (alone.value, alone.low, alone.high) == (5.0, None, None)
