"""How far off an agreement figure may be for other conversations, and what that says of the gate.

Each figure here is a function of sums over conversations, so leaving a conversation out is one
subtraction. Where that says nothing (all agree, or a figure is undefined without the only
conversation that holds a rare label) units are counted instead, so that nobody gets an interval
of length 0 because nothing went wrong yet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from labeling.domain.uncertainty import Estimate, effective_cases, jackknife, wilson
from labeling.domain.uncertainty import chance_above as chance_by_t

Array = NDArray[np.float64]

NORMAL = 1.959963984540054
SMALLEST_SPREAD = 1e-9
DRAWS = 20_000
"""Of the joint distribution of the pairs: the probability is exact to about .003."""


@dataclass(frozen=True, slots=True, eq=False)
class Coefficient:
    """A figure of agreement with its 95 % interval for new conversations.

    ``low`` and ``high`` are ``None`` with fewer than two conversations, which say nothing about
    others. ``estimate`` is the jackknife's, without an interval where it has none; ``cases`` is
    the number of independent units that the round is worth, and ``by_chance`` the share of them
    on which people agree by chance. ``left_out`` and ``units`` are those of each conversation;
    ``spread`` is how far each pulls the figure, of length 1, None without the jackknife.
    """

    value: float
    low: float | None
    high: float | None
    lower: float
    by_chance: float
    cases: float | None
    estimate: Estimate
    left_out: Array
    units: Array
    spread: Array | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)

    def chance_above(self, threshold: float) -> float | None:
        """How probable it is that the true figure is above the threshold.

        By the same construction as the interval, so .975 where the threshold is its lower end.
        """
        if self.cases is None:
            return None
        if not self.lower < threshold < 1:
            return float(threshold <= self.lower)
        if self.spread is not None:
            return chance_by_t(self.estimate, threshold, lower=self.lower)
        share, bar = self._share(self.value), self._share(threshold)
        if bar <= 0:
            return 1.0
        return _normal((share - bar) / math.sqrt(bar * (1 - bar) / self.cases))

    def reach(self, threshold: float, true: float) -> float | None:
        """By how many standard errors a round of this size is expected to clear the threshold.

        If ``true`` is the true figure. The standard error is that of this round, moved to the
        other figure as that of a share is: at κ .9 people disagree about less than at κ .7.
        """
        if self.cases is None:
            return None
        if not self.lower < threshold < 1:
            return math.inf if threshold <= self.lower else -math.inf
        share = self._share(true)
        std_error = math.sqrt(share * (1 - share) / self.cases) / (1 - self.by_chance)
        stretched = std_error / (self._half * (1 - self._place(true) ** 2))
        return (math.atanh(self._place(true)) - math.atanh(self._place(threshold))) / stretched

    @property
    def _half(self) -> float:
        return (1 - self.lower) / 2

    def _place(self, value: float) -> float:
        """Where the figure lies in its range, stretched to (−1, 1)."""
        return (value - self.lower) / self._half - 1

    def _share(self, value: float) -> float:
        """The share of units on which people agree at this figure."""
        return min(max(self.by_chance + value * (1 - self.by_chance), 0.0), 1.0)


def coefficient(
    value: float, left_out: Array, units: Array, *, by_chance: float = 0.0, lower: float = -1.0
) -> Coefficient:
    """A figure of agreement, at most 1, with its interval.

    Parameters
    ----------
    value
        The figure over all conversations.
    left_out
        The figure without each conversation, NaN where it is undefined then.
    units
        By conversation, the units (or labels) behind it. One without any says nothing and is
        not counted.
    by_chance
        The share of units on which people agree by chance; 0 for an F1.
    lower
        The lower end of its range.

    Returns
    -------
    Coefficient
        The interval is the jackknife's on Fisher's z with t of (conversations − 1). Where this
        has none, or the figure is the same whichever conversation is left out, it is Wilson's of
        the raw agreement p = chance + figure · (1 − chance), on the effective number of units,
        and its ends are read as figures by the same equation. This is the definition of κ at the
        chance agreement seen, so the interval says how much disagreement this number of
        units may hold and not show. For weighted κ it takes an unseen disagreement to be as
        large as those by chance are on average, which is larger than most.

    References
    ----------
    R. G. Miller, "The jackknife – a review", Biometrika 61, 1974;
    J. L. Fleiss, J. Cohen, B. S. Everitt, "Large sample standard errors of kappa and weighted
    kappa", Psychological Bulletin 72, 1969.

    Examples
    --------
    Nobody has disagreed on 8 × 12 units: not the certainty that nobody ever will.

    >>> alike = coefficient(1.0, np.ones(8), np.full(8, 12.0), by_chance=0.6)
    >>> round(alike.low, 2), alike.high
    (0.81, 1.0)
    """
    counts = units > 0
    estimate = jackknife(value, left_out[counts], lower=lower)
    described = partial(Coefficient, value, lower=lower, by_chance=by_chance, estimate=estimate)
    described = partial(described, left_out=left_out, units=units)
    if counts.sum() < 2:
        return described(low=None, high=None, cases=None)
    span = (1 - lower) / 2
    share = min(max(by_chance + value * (1 - by_chance), 0.0), 1.0)
    std_error = estimate.std_error or 0.0
    if std_error > SMALLEST_SPREAD:
        place = (value - lower) / span - 1
        error = std_error * span * (1 - place**2) * (1 - by_chance)
        spread = np.where(counts, np.arctanh((left_out - lower) / span - 1), 0.0)
        spread[counts] -= spread[counts].mean()
        return described(
            low=estimate.low,
            high=estimate.high,
            cases=max(share * (1 - share), SMALLEST_SPREAD) / error**2,
            spread=spread / math.sqrt(float(spread @ spread)),
        )
    cases = effective_cases(units[counts])
    low, high = (
        min(max((end - by_chance) / (1 - by_chance), lower), 1.0)
        for end in wilson(share, cases, NORMAL)
    )
    return described(low=min(low, value), high=max(high, value), cases=cases)


def pooled_f1(counts: Array) -> Coefficient | None:
    """2 · matches / labels of both, summed over conversations; None where nobody has labels.

    Parameters
    ----------
    counts
        Shape (conversations, 3): matches, and the labels of each of the two.

    Examples
    --------
    >>> agreed = pooled_f1(np.array([[2.0, 4, 4], [3, 4, 4], [1, 4, 4]]))
    >>> agreed.value, round(agreed.low, 2), round(agreed.high, 2)
    (0.5, 0.07, 0.93)
    """
    total = counts.sum(axis=0)
    matches, left, right = np.vstack([total, total - counts]).T
    labels = left + right
    undefined = np.full(len(labels), np.nan)
    values = np.divide(2 * matches, labels, out=undefined, where=labels > 0)
    if not labels[0]:
        return None
    return coefficient(float(values[0]), values[1:], counts[:, 1:].sum(axis=1) / 2, lower=0.0)


def mean_of(figures: Sequence[Coefficient]) -> Coefficient | None:
    """The mean of the figures of several pairs, over the conversations of all of them at once.

    ``None`` without pairs. Pairs share people and conversations, so the mean is left without one
    conversation of all of them at a time; where units are counted instead, there are as many as
    one pair has on average, because what the pairs see is mostly the same.
    """
    if not figures:
        return None
    return coefficient(
        sum(figure.value for figure in figures) / len(figures),
        np.mean([figure.left_out for figure in figures], axis=0),
        np.mean([figure.units for figure in figures], axis=0),
        by_chance=sum(figure.by_chance for figure in figures) / len(figures),
        lower=figures[0].lower,
    )


@dataclass(frozen=True, slots=True)
class Outlook:
    """What would pass the gate: ``passes`` of the rounds of this size, were ``true`` the figure."""

    true: Annotated[float, "If this were the true figure of every pair"]
    passes: Annotated[float, "Share of rounds of this size that would pass"]


TRUE_FIGURES = (0.70, 0.75, 0.80)


@dataclass(frozen=True, slots=True)
class Prospects:
    """How sure the gate is, and what would pass it."""

    chance_above: float | None
    outlook: list[Outlook]


def prospects(figures: Sequence[Coefficient], threshold: float) -> Prospects:
    """How probable it is that the true figure of the lowest pair is above the threshold.

    And what a next round of this size would pass, were all true figures .70, .75 or .80. Neither is
    said where one of the figures does not say how much it varies.

    Pairs share people and conversations, so they miss or pass together: the normal scores of
    their own chances are joined by the correlation of what each conversation does to them.
    """
    chances = _known(figure.chance_above(threshold) for figure in figures)
    if chances is None:
        return Prospects(None, [])
    scores = _joint_scores(figures)
    rows = [
        Outlook(true, _all_below(scores, reaches))
        for true in TRUE_FIGURES
        if (reaches := _known(figure.reach(threshold, true) for figure in figures)) is not None
    ]
    lowest = min(zip(figures, chances, strict=True), key=lambda pair: pair[0].value)
    return Prospects(lowest[1], rows)


def _known(values: Iterable[float | None]) -> list[float] | None:
    every = list(values)
    known = [value for value in every if value is not None]
    return known if every and len(known) == len(every) else None


def _joint_scores(figures: Sequence[Coefficient]) -> Array:
    """20,000 draws of correlated standard normals, one column for each figure, of a fixed seed.

    A figure without the jackknife is drawn on its own, which makes it less probable that all pass.
    """
    correlation = np.eye(len(figures))
    known = [at for at, figure in enumerate(figures) if figure.spread is not None]
    if known:
        spreads = np.array([figures[at].spread for at in known])
        correlation[np.ix_(known, known)] = spreads @ spreads.T
    strengths, directions = np.linalg.eigh(correlation)
    root = directions * np.sqrt(np.maximum(strengths, 0.0))
    draws = np.random.default_rng(0).standard_normal((DRAWS, len(figures)))
    return np.asarray(draws @ root.T)


def _all_below(scores: Array, reaches: Sequence[float]) -> float:
    """The probability that every score stays below its reach."""
    if len(reaches) == 1:
        return _normal(reaches[0])
    return float((scores < np.array(reaches)).all(axis=1).mean())


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))
