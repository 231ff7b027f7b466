"""Do predictions come true as often as their confidence says?

Predictions are pooled over the run; *correct* means that the prediction was
matched. All figures are in [0, 1], lower is better, and undefined without a prediction.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.registry import METRICS
from evaluation.metrics.summary import Summary, by_cluster
from labeling.domain.facts import Fact
from labeling.domain.stored import Stored
from labeling.domain.uncertainty import jackknife

Array = NDArray[np.float64]
Point = tuple[float, int]
"""The confidence of one prediction and whether it was correct (0 or 1)."""

BINS = 10
NO_PREDICTION = Fact("metric.no_confidence")
FIGURES = ("ece", "mce", "brier")
BINNED = FIGURES[:2]
DRAWS = 500
EDGES = tuple(number / BINS for number in range(1, BINS))
"""Between bins of equal width over [0, 1], each closed on the left, the last one on both sides."""


@dataclass(frozen=True, slots=True)
class Bin:
    """One point of the reliability curve; the means are ``None`` in an empty bin."""

    lower: float
    upper: float
    count: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """The three figures, and the reliability curve that they sum up.

    The figures are ``None`` exactly when ``undefined`` says why.
    """

    ece: float | None
    mce: float | None
    brier: float | None
    bins: list[Bin]
    n: int
    undefined: Fact | None = None

    @property
    def curve(self) -> list[Stored]:
        """The bins as plain JSON."""
        return [asdict(each) for each in self.bins]


def calibration(confidences: Sequence[float], corrects: Sequence[int]) -> Calibration:
    """Calibration errors over ten bins of equal width.

    With n_b of N predictions in bin b: ECE = Σ n_b/N·|acc_b − conf_b| and
    MCE = max |acc_b − conf_b| over the bins that hold any; Brier = mean (conf − correct)²,
    which has no bins.

    Parameters
    ----------
    confidences
        In [0, 1], one per prediction.
    corrects
        0 or 1, in the same order.

    Raises
    ------
    ValueError
        If the lengths differ, a confidence is outside [0, 1] or a correct is not 0 or 1.

    References
    ----------
    M. P. Naeini, G. F. Cooper, M. Hauskrecht, "Obtaining well calibrated probabilities
    using Bayesian binning", AAAI 2015 (ECE, MCE); G. W. Brier, "Verification of forecasts
    expressed in terms of probability", Monthly Weather Review 78, 1950.

    Examples
    --------
    One bin is used: mean confidence 0.95, accuracy 0.5.

    >>> result = calibration([0.95, 0.95], [1, 0])
    >>> round(result.ece, 4), round(result.mce, 4), round(result.brier, 4)
    (0.45, 0.45, 0.4525)
    >>> calibration([], []).undefined
    Fact(code='metric.no_confidence', values={})
    """
    _check(confidences, corrects)
    sums = _rows(list(zip(confidences, corrects, strict=True))).sum(axis=0)
    curve = _curve(sums)
    if not len(confidences):
        return Calibration(None, None, None, curve, 0, NO_PREDICTION)
    ece, mce, brier = _figures(sums).tolist()
    return Calibration(ece, mce, brier, curve, len(confidences))


def summarize_calibration(
    points: Sequence[Sequence[Point]],
    *,
    clusters: Sequence[Hashable],
    failed: Sequence[bool],
) -> dict[str, Summary]:
    """The calibration figures of a run; the Brier score with its interval.

    That is of the jackknife over conversations. ECE and MCE have none: they are above 0 for a
    perfectly calibrated pipeline, too, so :func:`chance_levels` is what they are read by.

    Parameters
    ----------
    points
        The predictions of each case (``points`` in the detail of ``requirement_f1``).
    clusters, failed
        As for :func:`~evaluation.metrics.summary.summarize`.

    Returns
    -------
    dict of Summary
        By metric id. ``mean`` is the figure over all predictions pooled; there is no
        spread between cases (``median``, ``std``, ``min`` and ``max`` are ``None``). A failed
        case has no predictions to pool: it weighs as one case with the worst value, so
        that crashing on hard cases does not raise the score. Cases without a
        prediction count as undefined. Where no case has one, there is nothing that a failed
        case could weigh against: all are undefined, and the figures are ``None``.

    Raises
    ------
    ValueError
        As :func:`calibration`, and if the sequences differ in length.

    Examples
    --------
    Half of the cases failed: (0.0 + 1.0)/2.

    >>> points = [[(1.0, 1)], []]
    >>> result = summarize_calibration(points, clusters="ab", failed=[False, True])
    >>> result["ece"].mean, result["ece"].n, result["ece"].n_failed
    (0.5, 2, 1)
    >>> result = summarize_calibration([[], []], clusters="ab", failed=[True, True])
    >>> result["ece"].mean, result["ece"].n, result["ece"].n_undefined, result["ece"].n_failed
    (None, 0, 2, 2)
    """
    if not len(points) == len(clusters) == len(failed):
        raise ValueError(
            f"summarize_calibration: {len(points)} cases, {len(clusters)} clusters, "
            f"{len(failed)} failed flags"
        )
    scored = [() if broke else own for own, broke in zip(points, failed, strict=True)]
    for own in scored:
        _check([confidence for confidence, _ in own], [correct for _, correct in own])
    rows, owners = _case_rows(scored, clusters, failed)
    values, intervals = _with_intervals(rows, owners)
    return {
        name: Summary(
            mean=value,
            median=None,
            std=None,
            min=None,
            max=None,
            ci_low=low,
            ci_high=high,
            n=len(owners),
            n_undefined=len(points) - len(owners),
            n_failed=sum(map(bool, failed)),
            conversations=len(set(owners)),
        )
        for name, value, (low, high) in zip(FIGURES, values, intervals, strict=True)
    }


def chance_levels(
    points: Sequence[Sequence[Point]], *, failed: Sequence[bool]
) -> dict[str, float | None]:
    """What ECE and MCE of a perfectly calibrated pipeline with these confidences would be.

    The mean of ``DRAWS`` seeded draws in which each prediction comes true as often as it says;
    failed cases weigh as they do in the figures. ``None`` without a prediction.

    Examples
    --------
    One prediction, .5 sure, misses by .5 whatever comes true.

    >>> chance_levels([[(0.5, 1)]], failed=[False])
    {'ece': 0.5, 'mce': 0.5}
    """
    scored = [() if broke else own for own, broke in zip(points, failed, strict=True)]
    pooled = np.array([stated for own in scored for stated, _ in own], dtype=np.float64)
    if not len(pooled):
        return dict.fromkeys(BINNED)
    place, random = np.digitize(pooled, EDGES), np.random.default_rng(0)
    sums = np.zeros((DRAWS, 3 * BINS + 3))
    sums[:, :BINS] = np.bincount(place, minlength=BINS)
    sums[:, BINS : 2 * BINS] = np.bincount(place, pooled, BINS)
    for drawn in sums:
        drawn[2 * BINS : 3 * BINS] = np.bincount(place, random.random(len(pooled)) < pooled, BINS)
    sums[:, -2:] = (sum(map(bool, scored)), sum(map(bool, failed)))
    levels = _with_failures(sums).mean(axis=0)
    return dict(zip(BINNED, levels.tolist(), strict=False))


def _check(confidences: Sequence[float], corrects: Sequence[int]) -> None:
    if len(confidences) != len(corrects):
        raise ValueError(
            f"calibration: {len(confidences)} confidences against {len(corrects)} outcomes"
        )
    for confidence in confidences:
        if not 0 <= confidence <= 1 or math.isnan(confidence):
            raise ValueError(f"calibration: confidence must be in [0, 1], got {confidence}")
    if not set(corrects) <= {0, 1}:
        raise ValueError("calibration: an outcome must be 0 or 1")


def _rows(points: Sequence[Point]) -> Array:
    """What each prediction adds to the sums; see :func:`_split` for the columns."""
    confidences, corrects = np.array(points, dtype=np.float64).reshape(-1, 2).T
    place = np.digitize(confidences, EDGES)
    rows = np.zeros((len(points), 3 * BINS + 3))
    index = np.arange(len(points))
    rows[index, place] = 1
    rows[index, BINS + place] = confidences
    rows[index, 2 * BINS + place] = corrects
    rows[:, -3] = (confidences - corrects) ** 2
    return rows


def _split(sums: Array) -> tuple[Array, Array, Array]:
    """Per bin: how many predictions, the sum of their confidences, how many correct.

    The last three columns hold the squared errors, the cases with predictions and
    the failed cases.
    """
    return sums[..., :BINS], sums[..., BINS : 2 * BINS], sums[..., 2 * BINS : 3 * BINS]


def _figures(sums: Array) -> Array:
    """ECE, MCE and Brier of sums of any shape (…, columns): shape (…, 3), NaN without points."""
    count, confidence, correct = _split(sums)
    total = count.sum(axis=-1)
    size = np.where(total > 0, total, np.nan)
    gap = np.abs(correct - confidence)  # n_b · |acc_b − conf_b|, 0 in an empty bin
    ece = gap.sum(axis=-1) / size
    mce = (gap / np.maximum(count, 1)).max(axis=-1) + 0 * size
    return np.asarray(np.stack([ece, mce, sums[..., -3] / size], axis=-1))


def _with_failures(sums: Array) -> Array:
    """The figures, with each failed case weighing as one case of the worst value."""
    worst = np.array([METRICS[name].worst for name in FIGURES])
    scored, broken = sums[..., -2, None], sums[..., -1, None]
    figures = np.where(scored > 0, _figures(sums), 0.0)
    cases = np.where(scored + broken > 0, scored + broken, np.nan)
    return np.asarray((figures * scored + worst * broken) / cases)


def _case_rows(
    points: Sequence[Sequence[Point]],
    clusters: Sequence[Hashable],
    failed: Sequence[bool],
) -> tuple[list[Array], list[Hashable]]:
    """One row of sums for each case that counts, and the cluster of each."""
    rows: list[Array] = []
    owners: list[Hashable] = []
    if not any(points):
        return rows, owners
    for own, cluster, broke in zip(points, clusters, failed, strict=True):
        if not own and not broke:
            continue
        row = _rows(own).sum(axis=0)
        row[-2:] = (0, 1) if broke else (1, 0)
        rows.append(row)
        owners.append(cluster)
    return rows, owners


def _with_intervals(
    rows: Sequence[Array], owners: Sequence[Hashable]
) -> tuple[list[float | None], list[tuple[float | None, float | None]]]:
    if not rows:
        return [None] * len(FIGURES), [(None, None)] * len(FIGURES)
    totals = by_cluster([row.tolist() for row in rows], owners, columns=len(rows[0]))
    whole = totals.sum(axis=0)
    values = _with_failures(whole).tolist()
    brier = METRICS["brier"]
    left_out = _with_failures(whole - totals)[:, -1]  # one for each conversation
    estimate = jackknife(values[-1], left_out, lower=brier.lower, upper=brier.upper)
    return values, [*[(None, None)] * len(BINNED), (estimate.low, estimate.high)]


def _curve(sums: Array) -> list[Bin]:
    count, confidence, correct = (part.tolist() for part in _split(sums))
    bounds = zip((0.0, *EDGES), (*EDGES, 1.0), strict=True)
    return [
        Bin(
            lower=lower,
            upper=upper,
            count=int(size),
            confidence=confidence[number] / size if size else None,
            accuracy=correct[number] / size if size else None,
        )
        for number, (size, (lower, upper)) in enumerate(zip(count, bounds, strict=True))
    ]
