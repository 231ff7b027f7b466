"""How far a judge agrees with people who rated the same answers."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeling.domain.agreement.resampling import DRAWS, interval
from labeling.domain.agreement.weighted import judge_pairs
from labeling.domain.facts import Fact

NO_PAIR = Fact("metric.no_rated_answer")
ALL_ALIKE = Fact("metric.all_scores_alike")

Pairs = Sequence[tuple[float, float]]
"""For each answer the judge's score and that of people, from 0 to 10."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """A judge beside people over ``n`` answers, with 95 % intervals over ``conversations``.

    ``kappa`` weighs disagreements by the square of the distance; ``spearman`` compares the orders;
    ``mae`` is the mean distance in points. ``bias`` is the mean of judge minus people. What has no
    value is ``None``; ``undefined`` then says why there is no kappa.
    """

    n: int
    conversations: int
    kappa: float | None = None
    kappa_low: float | None = None
    kappa_high: float | None = None
    spearman: float | None = None
    spearman_low: float | None = None
    spearman_high: float | None = None
    mae: float | None = None
    mae_low: float | None = None
    mae_high: float | None = None
    bias: float | None = None
    undefined: Fact | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def judge_agreement(pairs: Mapping[str, Pairs], *, seed: int = 0) -> JudgeAgreement:
    """Compare a judge with people; ``pairs`` are by conversation, which is drawn as a whole.

    Scores need not be whole: the mean of several raters stands for people as it is.

    References
    ----------
    J. Cohen, "Weighted kappa", Psychological Bulletin 70, 1968, doi:10.1037/h0026256.
    C. Spearman, "The proof and measurement of association between two things", 1904.

    Examples
    --------
    >>> result = judge_agreement({"a": [(8, 8), (2, 3)], "b": [(5, 4), (9, 9)]})
    >>> result.n, round(result.kappa, 3), result.spearman, result.mae, result.bias
    (4, 0.964, 1.0, 0.5, 0.0)
    """
    by_conversation = {name: np.asarray(pairs[name], dtype=np.float64) for name in sorted(pairs)}
    groups = [group.reshape(-1, 2) for group in by_conversation.values() if len(group)]
    if not groups:
        return JudgeAgreement(0, 0, undefined=NO_PAIR)
    every = np.concatenate(groups)
    distance = every[:, 0] - every[:, 1]
    kappa, low, high = _kappa(pairs)
    drawn = _draws(groups, seed=seed) if len(groups) > 1 else []
    rho = _interval([spearman(sample[:, 0], sample[:, 1]) for sample in drawn])
    mae = _interval([float(np.abs(sample[:, 0] - sample[:, 1]).mean()) for sample in drawn])
    return JudgeAgreement(
        n=len(every),
        conversations=len(groups),
        kappa=kappa,
        kappa_low=low,
        kappa_high=high,
        spearman=spearman(every[:, 0], every[:, 1]),
        spearman_low=rho[0],
        spearman_high=rho[1],
        mae=float(np.abs(distance).mean()),
        mae_low=mae[0],
        mae_high=mae[1],
        bias=float(distance.mean()),
        undefined=None if kappa is not None else ALL_ALIKE,
    )


def spearman(a: Array, b: Array) -> float | None:
    """Spearman's rho, ties by their mean rank; ``None`` where one side is all alike.

    Examples
    --------
    >>> spearman(np.array([1.0, 2, 3]), np.array([9.0, 8, 7]))
    -1.0
    >>> spearman(np.array([1.0, 2]), np.array([5.0, 5])) is None
    True
    """
    from scipy.stats import rankdata

    left, right = rankdata(a) - (len(a) + 1) / 2, rankdata(b) - (len(b) + 1) / 2
    spread = float(np.sqrt((left @ left) * (right @ right)))
    return float(left @ right) / spread if spread else None


def _kappa(
    pairs: Mapping[str, Pairs],
) -> tuple[float | None, float | None, float | None]:
    scores = {
        name: {key: [float(pair[side]) for pair in scored] for key, scored in pairs.items()}
        for side, name in enumerate(("judge", "people"))
    }
    (pair,) = judge_pairs(scores)
    return pair.kappa, pair.ci_low, pair.ci_high


def _draws(groups: Sequence[Array], *, seed: int) -> list[Array]:
    random = np.random.default_rng(seed)
    picks = random.integers(len(groups), size=(DRAWS, len(groups)))
    return [np.concatenate([groups[at] for at in row]) for row in picks]


def _interval(replicates: Sequence[float | None]) -> tuple[float | None, float | None]:
    if not replicates:
        return None, None
    known = np.array([np.nan if value is None else value for value in replicates])
    return interval(known) or (None, None)
