"""Judge and people: equal to scikit-learn and scipy, and honest about what is not known."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.metrics.judges import ALL_ALIKE, NO_PAIR, judge_agreement


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
    found = judge_agreement(pairs)

    doubled = [(2 * side).astype(int) for side in (judge, people)]  # no halves; the same kappa
    kappa = cohen_kappa_score(*doubled, weights="quadratic", labels=range(21))
    assert found.kappa == pytest.approx(kappa, abs=1e-12)
    assert found.spearman == pytest.approx(spearmanr(judge, people).statistic, abs=1e-12)
    assert found.mae == pytest.approx(mean_absolute_error(people, judge), abs=1e-12)
    assert found.bias == pytest.approx((judge - people).mean(), abs=1e-12)
    assert (found.n, found.conversations) == (60, 5)
    for name in ("kappa", "spearman", "mae"):
        low, value, high = (getattr(found, name + end) for end in ("_low", "", "_high"))
        assert low <= value <= high


def test_answers_of_one_conversation_are_drawn_together() -> None:
    """The same pairs as forty conversations and as two: fewer independent ones, wider interval."""
    pairs = [pair for of in rated(1, 40).values() for pair in of]
    apart = judge_agreement({f"c{n}": [pair] for n, pair in enumerate(pairs)})
    good, bad = sorted(pairs, key=lambda one: abs(one[0] - one[1]))[:20], pairs[20:]
    together = judge_agreement({"a": good, "b": bad})

    def width(found: object) -> float:
        return float(found.mae_high - found.mae_low)  # type: ignore[attr-defined]

    assert width(together) > width(apart)
    alone = judge_agreement({"a": pairs})
    assert (alone.kappa_low, alone.spearman_low, alone.mae_low) == (None, None, None)


def test_what_cannot_be_said_is_not_said() -> None:
    nothing = judge_agreement({})
    assert (nothing.n, nothing.kappa, nothing.mae, nothing.undefined) == (0, None, None, NO_PAIR)
    alike = judge_agreement({"a": [(10, 10)] * 20, "b": [(10, 10)] * 20})
    assert (alike.kappa, alike.spearman, alike.undefined) == (None, None, ALL_ALIKE)
    assert alike.mae == 0.0


def test_a_judge_that_praises_everything_agrees_with_nobody() -> None:
    people = [0, 2, 4, 6, 8, 10] * 6
    found = judge_agreement(
        {f"c{n}": [(10, score) for score in people[n::6]] for n in range(6)} | {"x": [(10, 3)]}
    )
    assert found.kappa == pytest.approx(0.0, abs=0.2)
    assert found.spearman is None
