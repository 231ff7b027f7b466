"""Agreement on scores that have an order: 0 against 2 is a worse disagreement than 1 against 2."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeling.agreement.rules.intervals import coefficient
from labeling.agreement.rules.kappa import band, defined
from labeling.domain.msgids import msgid

Scores = Mapping[str, Sequence[float | None]]
"""One judge's scores: for each conversation, one per item in order, ``None`` where not rated."""

ROUNDING = 1e-12
"""A smaller share of the sums of squares is a rounding error of scores like 7.3, so 0."""

ONE_LABEL = msgid(
    "both used one and the same label throughout, so chance alone explains the agreement"
)
NOTHING_SHARED = msgid("they rated nothing in common")

Sums = NDArray[np.float64]  # (…, 6): n, Σa, Σb, Σa², Σb², Σab


@dataclass(frozen=True, slots=True)
class JudgePair:
    """How far judges ``a`` and ``b`` agree over the ``n`` items that both rated.

    ``kappa`` is ``None`` exactly when ``undefined`` says why. The 95 % interval is for
    new conversations; it is ``None`` with fewer than two of them. ``raw`` is the share of
    items with the same score from both.
    """

    a: str
    b: str
    kappa: float | None
    band: str | None
    n: int
    raw: float | None
    ci_low: float | None
    ci_high: float | None
    conversations: int
    undefined: str | None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def weighted_kappa(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Cohen's kappa with quadratic weights: 1 − Σ(a − b)² / the same for pairs drawn by chance.

    Parameters
    ----------
    a, b
        The scores of the same items in the same order.

    Returns
    -------
    float or None
        In [−1, 1], higher is better; 0 is what chance gives. ``None`` without items, and when
        both gave the same single score throughout.

    Raises
    ------
    ValueError
        If the lengths differ.

    References
    ----------
    J. Cohen, "Weighted kappa: nominal scale agreement with provision for scaled disagreement or
    partial credit", Psychological Bulletin 70, 1968, doi:10.1037/h0026256.

    Examples
    --------
    Σ(a − b)² = 0 + 1 + 0 + 1 = 2. By chance: Σa² + Σb² − 2·Σa·Σb/n = 9 + 7 − 2·5·5/4 = 3.5.

    >>> round(weighted_kappa([2, 2, 0, 1], [2, 1, 0, 2]), 4)
    0.6364
    >>> weighted_kappa([1, 1], [1, 1]) is None
    True
    """
    if len(a) != len(b):
        raise ValueError(f"weighted_kappa: {len(a)} scores against {len(b)}")
    return defined(_kappas(_sums(list(zip(a, b, strict=True)))))


def judge_pairs(scores: Mapping[str, Scores]) -> list[JudgePair]:
    """The agreement of every pair of judges, over the items that both rated.

    Raises
    ------
    ValueError
        If two judges give a conversation different numbers of items.

    Examples
    --------
    >>> (pair,) = judge_pairs({"ana": {"c1": [2, 0], "c2": [1]}, "ben": {"c1": [2, 0]}})
    >>> pair.kappa, pair.n, pair.conversations
    (1.0, 2, 1)
    """
    return [_pair(a, b, scores[a], scores[b]) for a, b in combinations(sorted(scores), 2)]


def _pair(a: str, b: str, left: Scores, right: Scores) -> JudgePair:
    shared = list(_shared(left, right))
    rows = np.array([_sums(pairs) for pairs in shared], dtype=np.float64).reshape(-1, 6)
    total = rows.sum(axis=0)
    size = int(total[0])
    values = _kappas(np.concatenate([total[None], total - rows]))
    kappa = defined(values[0])
    low, high = None, None
    if kappa is not None:
        spread = coefficient(kappa, values[1:], rows[:, 0], by_chance=_by_chance(shared))
        low, high = spread.interval or (None, None)
    alike = sum(left_score == right_score for pairs in shared for left_score, right_score in pairs)
    return JudgePair(
        a=a,
        b=b,
        kappa=kappa,
        band=band(kappa),
        n=size,
        raw=alike / size if size else None,
        ci_low=low,
        ci_high=high,
        conversations=len(rows),
        undefined=None if kappa is not None else ONE_LABEL if size else NOTHING_SHARED,
    )


def _shared(left: Scores, right: Scores) -> Iterator[list[tuple[float, float]]]:
    """The pairs of scores of each conversation that has any."""
    for name in sorted(left.keys() & right.keys()):
        if len(left[name]) != len(right[name]):
            raise ValueError(
                f"judge_pairs: {len(left[name])} and {len(right[name])} items in {name}"
            )
        both = zip(left[name], right[name], strict=True)
        pairs = [
            (left_score, right_score)
            for left_score, right_score in both
            if left_score is not None and right_score is not None
        ]
        if pairs:
            yield pairs


def _sums(pairs: Sequence[tuple[float, float]]) -> Sums:
    scores = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    a, b = scores[:, 0], scores[:, 1]
    return np.array([len(scores), a.sum(), b.sum(), (a * a).sum(), (b * b).sum(), (a * b).sum()])


def _by_chance(shared: Sequence[Sequence[tuple[float, float]]]) -> float:
    """The share of items on which two judges with these scores agree by chance."""
    pairs = list(chain.from_iterable(shared))
    first, second = (Counter(column) for column in zip(*pairs, strict=True))
    return sum(count * second[score] for score, count in first.items()) / len(pairs) ** 2


def _kappas(sums: Sums) -> Sums:
    """Everything times n, so that sums of whole numbers stay exact."""
    n, a, b, aa, bb, ab = np.moveaxis(sums, -1, 0)
    observed = n * (aa + bb - 2 * ab)
    chance = n * (aa + bb) - 2 * a * b
    undefined = np.full(chance.shape, np.nan)
    some = chance > ROUNDING * n * (aa + bb)
    return np.asarray(1 - np.divide(observed, chance, out=undefined, where=some))
