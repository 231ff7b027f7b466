"""Is one run better than another? Paired by case, with conversations drawn as a whole."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.metric import Direction
from evaluation.metrics.summary import by_cluster
from labeling.domain.agreement.resampling import interval, resampled_sums

EXACT_UP_TO = 20
"""Up to this number of conversations every assignment of signs is tried, beyond it a sample."""

SIGN_FLIPS = 10_000
LEVEL = 0.05
POWER_FACTOR = 2.8016  # 1.9600 + 0.8416: two-sided 5 %, power 80 %
TOLERANCE = 1e-9  # differences below it are a tie, sums below it are equal


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric of two runs on the same cases.

    ``difference`` is the mean of (after − before) over the ``n`` cases where both have a value;
    ``wins`` are cases where ``after`` is better in the metric's direction. ``p_value`` is that of
    a two-sided sign-flip permutation test. ``detectable`` is the smallest true difference that
    ``n`` cases would show in four of five tries. The interval, ``p_value`` and ``detectable``
    are ``None`` with fewer than two conversations, everything with no case.
    """

    n: int
    n_undefined: int
    clusters: int
    before: float | None
    after: float | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    detectable: float | None
    wins: int
    losses: int
    ties: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def compare(
    before: Sequence[float | None],
    after: Sequence[float | None],
    *,
    clusters: Sequence[Hashable],
    direction: Direction,
    seed: int,
) -> Comparison:
    """Compare two runs case by case.

    Parameters
    ----------
    before, after
        The values of one metric in each run, paired by position; ``None`` is undefined, and a
        case that is undefined in either run is left out and counted.
    clusters
        The conversation of each case. Intervals and signs are drawn for conversations, because
        cases of one conversation rise and fall together.
    direction
        Which way is better.
    seed
        Of the bootstrap and of the drawn signs.

    Raises
    ------
    ValueError
        If the three sequences differ in length.

    Examples
    --------
    >>> result = compare([0, 0, 1], [1, 0, 1], clusters="abc", direction="higher", seed=0)
    >>> round(result.difference, 3), result.wins, result.ties, result.p_value
    (0.333, 1, 2, 1.0)
    """
    if not len(before) == len(after) == len(clusters):
        raise ValueError(f"compare: {len(before)}, {len(after)} and {len(clusters)} values")
    pairs = [
        (old, new, cluster)
        for old, new, cluster in zip(before, after, clusters, strict=True)
        if old is not None and new is not None
    ]
    differences = [new - old for old, new, _ in pairs]
    gains = differences if direction == "higher" else [-difference for difference in differences]
    owners = [cluster for _, _, cluster in pairs]
    return Comparison(
        n=len(pairs),
        n_undefined=len(before) - len(pairs),
        clusters=len(set(owners)),
        before=_mean([old for old, _, _ in pairs]),
        after=_mean([new for _, new, _ in pairs]),
        difference=_mean(differences),
        **_inference(differences, owners, seed=seed),
        wins=sum(gain > TOLERANCE for gain in gains),
        losses=sum(gain < -TOLERANCE for gain in gains),
        ties=sum(abs(gain) <= TOLERANCE for gain in gains),
    )


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """p values corrected for being looked at together; undefined ones stay so and do not count.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", 1979.

    Examples
    --------
    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    known = sorted((value, index) for index, value in enumerate(p_values) if value is not None)
    corrected: list[float | None] = [None] * len(p_values)
    floor = 0.0
    for rank, (value, index) in enumerate(known):
        floor = max(floor, min(1.0, value * (len(known) - rank)))
        corrected[index] = floor
    return corrected


def verdict(comparison: Comparison, direction: Direction, p_value: float | None) -> str:
    """``better``, ``worse``, ``no detectable difference``, or ``not measurable``."""
    if p_value is None or comparison.ci_low is None or comparison.ci_high is None:
        return "not measurable"
    excludes_zero = comparison.ci_low > 0 or comparison.ci_high < 0
    if p_value >= LEVEL or not excludes_zero:
        return "no detectable difference"
    return "better" if (comparison.ci_low > 0) == (direction == "higher") else "worse"


def _inference(
    differences: Sequence[float], owners: Sequence[Hashable], *, seed: int
) -> dict[str, float | None]:
    unknown = dict.fromkeys(("ci_low", "ci_high", "p_value", "detectable"))
    if len(set(owners)) < 2:
        return {**unknown}
    totals = by_cluster([(difference, 1.0) for difference in differences], owners)
    sums = resampled_sums(totals, seed=seed)
    low, high = interval(sums[:, 0] / sums[:, 1]) or (None, None)
    return {
        "ci_low": low,
        "ci_high": high,
        "p_value": _sign_flip(np.sort(totals[:, 0]), seed=seed),
        "detectable": POWER_FACTOR * _standard_error(totals),
    }


def _sign_flip(sums: NDArray[np.float64], *, seed: int) -> float:
    """How often random signs of the conversations' sums give as large a total as the real ones.

    Conversations without any difference change nothing, so they are left out.
    """
    sums = sums[np.abs(sums) > TOLERANCE]
    observed = abs(sums.sum()) - TOLERANCE
    if len(sums) <= EXACT_UP_TO:
        totals = np.zeros(1)
        for value in sums:
            totals = np.concatenate([totals + value, totals - value])
        return float((np.abs(totals) >= observed).mean())
    signs = np.random.default_rng(seed).choice((-1.0, 1.0), size=(SIGN_FLIPS, len(sums)))
    as_large = int((np.abs(signs @ sums) >= observed).sum())
    return (as_large + 1) / (SIGN_FLIPS + 1)


def _standard_error(totals: NDArray[np.float64]) -> float:
    """Of the mean over cases, with conversations as the independent units."""
    size, n = len(totals), totals[:, 1].sum()
    spread = totals[:, 0] - totals[:, 1] * (totals[:, 0].sum() / n)
    return float(math.sqrt((spread**2).sum() * size / (size - 1)) / n)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
