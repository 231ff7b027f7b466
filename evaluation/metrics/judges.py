"""How far a judge agrees with people who rated the same answers, and its mean corrected by them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import inf

import numpy as np
from numpy.typing import NDArray

from labeling.agreement.rules.kappa import weighted_kappa
from labeling.domain.facts import Fact
from labeling.domain.numbers import decimals_apart
from labeling.domain.uncertainty import (
    LEVEL,
    difference,
    effective_cases,
    jackknife,
    ratio,
    wilson,
)

NO_PAIR = Fact("metric.no_rated_answer")
ALL_ALIKE = Fact("metric.all_scores_alike")

FAILURES_BORNE = 0.05
"""For each answer that it scored; what a judge leaves out must not make it look better."""

HIGHEST = 10.0
STEP = 1.0
"""The smallest difference between two ratings."""

Pairs = Sequence[tuple[float, float]]
"""For each answer the judge's score and that of people, from 0 to 10."""

Array = NDArray[np.float64]
Interval = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a judge has to reach for a certificate; ``bias`` in points of 10, either way."""

    rated: int = 30
    twice: int = 20
    bias: float = 0.5
    kappa: float = 0.6
    kappa_low: float = 0.4


REQUIRED = Requirements()


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """A judge compared with people on ``n`` answers, with intervals for new conversations.

    ``bias`` is the mean of judge minus people, and bounds the level; ``kappa`` weighs
    disagreements by the square of the distance; ``spearman`` compares the orders; ``mae`` is the
    mean distance in points. ``level`` is that of the intervals. What has no value is ``None``;
    ``undefined`` then says why there is no kappa.
    """

    n: int
    conversations: int
    level: float = LEVEL
    bias: float | None = None
    bias_low: float | None = None
    bias_high: float | None = None
    kappa: float | None = None
    kappa_low: float | None = None
    kappa_high: float | None = None
    spearman: float | None = None
    spearman_low: float | None = None
    spearman_high: float | None = None
    mae: float | None = None
    mae_low: float | None = None
    mae_high: float | None = None
    undefined: Fact | None = None


@dataclass(frozen=True, slots=True)
class PeopleAgreement:
    """How far people agree with each other over the ``n`` answers that two or more have rated.

    Each pair of raters of an answer counts both ways round, since nobody is the first.
    """

    n: int
    kappa: float | None = None
    kappa_low: float | None = None
    kappa_high: float | None = None
    mae: float | None = None


@dataclass(frozen=True, slots=True)
class Corrected:
    """A judged mean over ``n`` cases, corrected by the ``rated`` ones that people rated, too.

    No interval with fewer than two conversations.
    """

    value: float
    low: float | None
    high: float | None
    judged: float
    n: int
    rated: int
    conversations: int


def judge_agreement(pairs: Mapping[str, Pairs], *, level: float = LEVEL) -> JudgeAgreement:
    """Compare a judge with people; ``pairs`` are by conversation, which is the unit.

    Scores need not be whole: the mean of several raters stands for people as it is. The mean
    difference and distance have cluster-robust intervals, κ and ρ those of the jackknife.

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
    groups = _groups(pairs)
    if not groups:
        return JudgeAgreement(0, 0, level, undefined=NO_PAIR)
    every = np.concatenate(groups)
    bias_low, bias_high = _bias_interval(groups, level)
    mae = ratio(_totals([np.abs(group[:, 0] - group[:, 1]) for group in groups]), upper=HIGHEST)
    kappa, spearman_rho = _kappa(every), spearman(every[:, 0], every[:, 1])
    kappa_low, kappa_high = _left_out(_kappa, groups, kappa, level)
    rho_low, rho_high = _left_out(
        lambda rows: spearman(rows[:, 0], rows[:, 1]), groups, spearman_rho, level
    )
    return JudgeAgreement(
        n=len(every),
        conversations=len(groups),
        level=level,
        bias=float((every[:, 0] - every[:, 1]).mean()),
        bias_low=bias_low,
        bias_high=bias_high,
        kappa=kappa,
        kappa_low=kappa_low,
        kappa_high=kappa_high,
        spearman=spearman_rho,
        spearman_low=rho_low,
        spearman_high=rho_high,
        mae=mae.value if mae else None,
        mae_low=mae.low if mae else None,
        mae_high=mae.high if mae else None,
        undefined=None if kappa is not None else ALL_ALIKE,
    )


def people_agreement(ratings: Mapping[str, Sequence[Sequence[float]]]) -> PeopleAgreement:
    """By conversation, for each answer what its raters said; one rater alone says nothing here.

    Examples
    --------
    >>> people_agreement({"a": [(8, 7), (2, 2)], "b": [(5, 5), (9,)]}).n
    3
    """
    counted = {
        name: [scores for scores in answers if len(scores) > 1] for name, answers in ratings.items()
    }
    groups = _groups(
        {
            name: [pair for scores in answers for pair in permutations(scores, 2)]
            for name, answers in counted.items()
        }
    )
    size = sum(map(len, counted.values()))
    if not size:
        return PeopleAgreement(0)
    every = np.concatenate(groups)
    kappa = _kappa(every)
    low, high = _left_out(_kappa, groups, kappa, LEVEL)
    return PeopleAgreement(size, kappa, low, high, float(np.abs(every[:, 0] - every[:, 1]).mean()))


def corrected_mean(
    judged: Mapping[str, Sequence[float]], distances: Mapping[str, Sequence[float]]
) -> Corrected | None:
    """The judged mean less the judge's mean distance from people (prediction-powered inference).

    Parameters
    ----------
    judged
        By conversation the values that the judged mean is over.
    distances
        By conversation judge minus people, of answers that were drawn at random from them.

    Returns
    -------
    Corrected or None
        ``None`` where one of the two is empty. Unbiased whatever the judge is worth: a poor judge
        makes the interval wide, not the figure wrong. The variance is that of the sum of both
        terms over conversations (CR2), so that cases of one conversation count together.

    References
    ----------
    A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic, "Prediction-powered
    inference", Science 382, 2023, doi:10.1126/science.adi6000.

    Examples
    --------
    >>> result = corrected_mean({"a": [8, 6], "b": [7, 7]}, {"a": [1.0], "b": [0.5]})
    >>> result.judged, result.value, result.rated
    (7.0, 6.25, 2)
    """
    names = sorted(judged.keys() | distances.keys())
    off, every = (
        _totals([np.asarray(part.get(name, ()), dtype=np.float64) for name in names])
        for part in (distances, judged)
    )
    estimate = difference(off, every, span=HIGHEST)
    if estimate is None:
        return None
    return Corrected(
        value=estimate.value,
        low=None if estimate.low is None else max(0.0, estimate.low),
        high=None if estimate.high is None else min(HIGHEST, estimate.high),
        judged=float(every[:, 0].sum() / every[:, 1].sum()),
        n=int(every[:, 1].sum()),
        rated=int(off[:, 1].sum()),
        conversations=estimate.conversations,
    )


def disagreements(agreement: JudgeAgreement, failed: int, asked: Requirements) -> Iterator[Fact]:
    """Why a judge gets no certificate: how much was rated, level, rank, and what it left out.

    Examples
    --------
    >>> generous = {name: [(score + 1, score) for score in range(9)] for name in "abcd"}
    >>> [why.code for why in disagreements(judge_agreement(generous), 0, Requirements())]
    ['certificate.too_generous']
    """
    if agreement.n < asked.rated:
        yield Fact("certificate.too_few_rated", n=agreement.n, rated=asked.rated)
    if agreement.n:
        if agreement.conversations < 2:
            yield Fact("certificate.one_conversation")
        yield from _off_level(agreement, asked.bias)
        yield from _off_rank(agreement, asked)
    if failed > agreement.n * FAILURES_BORNE:
        yield Fact("certificate.judge_failed", failed=failed, n=agreement.n)


def _off_level(agreement: JudgeAgreement, most: float) -> Iterator[Fact]:
    bias, low, high = agreement.bias, agreement.bias_low, agreement.bias_high
    if bias is None or low is None or high is None or (low >= -most and high <= most):
        return
    if abs(bias) <= most:
        code = "certificate.level_uncertain"
    else:
        code = "certificate.too_generous" if bias > 0 else "certificate.too_strict"
    # The end that is outside must not look as if it were inside.
    digits = max(decimals_apart(end, limit, 2) for end, limit in ((low, -most), (high, most)))
    yield Fact(code, off=abs(bias), low=low, high=high, most=most, digits=digits)


def _off_rank(agreement: JudgeAgreement, asked: Requirements) -> Iterator[Fact]:
    if agreement.kappa is None:
        yield Fact("certificate.agreement_undefined", why=agreement.undefined)
        return
    if agreement.kappa < asked.kappa:
        kappa = _distinct(agreement.kappa, asked.kappa)
        yield Fact("certificate.kappa_too_low", kappa=kappa, least=asked.kappa)
    if agreement.kappa_low is not None:
        if agreement.kappa_low < asked.kappa_low:
            low = _distinct(agreement.kappa_low, asked.kappa_low)
            yield Fact("certificate.kappa_may_be_low", low=low, least=asked.kappa_low)
    elif agreement.conversations > 1 and agreement.kappa < 1:  # at 1 there is none to compute
        yield Fact("certificate.kappa_hangs_on_one")


def _distinct(value: float, least: float) -> float:
    return round(value, decimals_apart(value, least, 2)) + 0.0  # −0 becomes 0


def spearman(a: Array, b: Array) -> float | None:
    """Spearman's rho, ties by their mean rank; ``None`` if all values of a side are equal.

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


def _groups(pairs: Mapping[str, Pairs]) -> list[Array]:
    rows = [np.asarray(pairs[name], dtype=np.float64).reshape(-1, 2) for name in sorted(pairs)]
    return [group for group in rows if len(group)]


def _totals(values: Sequence[Array]) -> Array:
    return np.array([[group.sum(), len(group)] for group in values], dtype=np.float64)


def _bias_interval(groups: Sequence[Array], level: float) -> Interval:
    """Where every answer has the same difference there is no spread to take an interval from.

    It is then as wide as if the share of answers that may not have been seen were a step off.
    """
    totals = _totals([group[:, 0] - group[:, 1] for group in groups])
    estimate = ratio(totals, lower=-inf, upper=inf, level=level)
    if estimate is None or estimate.low is None or estimate.high is None:
        return None, None
    alike = float(np.ptp(np.concatenate([group[:, 0] - group[:, 1] for group in groups]))) == 0
    reach = STEP * wilson(0.0, effective_cases(totals[:, 1]), 1.96)[1] if alike else 0.0
    return estimate.low - reach, estimate.high + reach


def _kappa(rows: Array) -> float | None:
    return weighted_kappa(rows[:, 0].tolist(), rows[:, 1].tolist())


def _left_out(
    figure: Callable[[Array], float | None],
    groups: Sequence[Array],
    value: float | None,
    level: float,
) -> Interval:
    if value is None or len(groups) < 2:
        return None, None
    parts = [figure(np.concatenate([*groups[:at], *groups[at + 1 :]])) for at in range(len(groups))]
    values = np.array([np.nan if part is None else part for part in parts])
    estimate = jackknife(value, values, level=level)
    return estimate.low, estimate.high
