"""How much the inferred requirements are needed: rated by people, or judged by gold.

The definitions are in templates/docs/metrics.md, "Inference". A prediction's score is 2
(definitely needed), 1 (recommended) or 0 (not needed); of several judges the mean rating.
"""

from collections.abc import Sequence
from math import fsum
from typing import Literal, NamedTuple, TypedDict

from evaluation.metrics.alignment import alignment
from evaluation.metrics.items import AlignedDetail, Counts
from evaluation.metrics.registry import Value
from labeling.agreement.matching.matching import (
    DEFAULT_SYNONYMS,
    THRESHOLD,
    Record,
    RequirementPairs,
    Synonyms,
)
from labeling.agreement.matching.similarity import Ruler
from labeling.domain.facts import Fact

MOST = 2
"""The rating of what is definitely needed."""

CORRECT = 1.0
"""A prediction with at least this score counts as correct for calibration."""

SCORES = {"necessary": 2, "recommended": 1, "optional": 1}
"""What a match with a gold label is worth, by its necessity; everything else is worth 0."""

NOBODY_YET = Fact("metric.not_rated")

NOTHING = Fact("metric.nothing_inferred")


class Verdict(NamedTuple):
    """What is thought of one prediction."""

    score: float
    is_false: bool
    """Most of its judges say that it is not needed, or gold does not know it."""


Basis = Literal["gold", "human"]


class BasisDetail(TypedDict):
    basis: Basis


class RelevanceDetail(AlignedDetail, BasisDetail):
    """What explains ``inference_relevance`` of a case; see :func:`score_inference`."""

    judges: int
    scores: list[float]
    points: list[tuple[float, int]]


class Figures(NamedTuple):
    relevance: float
    false_rate: float


def by_judges(count: int, ratings: Sequence[Sequence[int]]) -> list[Verdict]:
    """What the judges say of each of ``count`` predictions.

    Parameters
    ----------
    ratings
        For each judge, one rating for each prediction.

    Raises
    ------
    ValueError
        If there is no judge, a judge's ratings are not one for each prediction, or a
        rating is not 0, 1 or 2.

    Examples
    --------
    >>> by_judges(2, [[2, 0], [1, 0], [0, 2]])
    [Verdict(score=1.0, is_false=False), Verdict(score=0.6666666666666666, is_false=True)]
    """
    _check(count, ratings)
    by_prediction = zip(*ratings, strict=True)
    return [
        Verdict(sum(scores) / len(scores), 2 * scores.count(0) > len(scores))
        for scores in by_prediction
    ]


def by_gold(
    gold: Sequence[Record],
    predicted: Sequence[Record],
    *,
    ruler: Ruler,
    synonyms: Synonyms = DEFAULT_SYNONYMS,
    threshold: float = THRESHOLD,
) -> tuple[list[Verdict], AlignedDetail]:
    """What gold says of each prediction, and the detail that explains it (counts, alignment)."""
    pairs = RequirementPairs(gold, predicted, ruler=ruler, synonyms=synonyms)
    matches = pairs.matches(threshold)
    worth = {match.right: _worth(gold[match.left]) for match in matches}
    scores = [worth.get(position, 0) for position in range(len(predicted))]
    texts = pairs.text_matches(threshold)
    return [Verdict(float(score), score == 0) for score in scores], {
        **Counts(len(matches), len(gold), len(predicted)).detail,
        "alignment": alignment(pairs, matches, texts, threshold=threshold),
    }


def figures(verdicts: Sequence[Verdict]) -> Figures:
    """Relevance Σ score/(2N) and the share of false inferences; 1 and 0 without a prediction.

    Examples
    --------
    >>> figures([Verdict(2.0, False), Verdict(1.0, False), Verdict(0.0, True), Verdict(0.0, True)])
    Figures(relevance=0.375, false_rate=0.5)
    >>> figures([])
    Figures(relevance=1.0, false_rate=0.0)
    """
    if not verdicts:
        return Figures(1.0, 0.0)
    relevance = fsum(verdict.score for verdict in verdicts) / (MOST * len(verdicts))
    return Figures(relevance, sum(verdict.is_false for verdict in verdicts) / len(verdicts))


def score_inference(
    gold: Sequence[Record],
    predicted: Sequence[Record],
    *,
    ratings: Sequence[Sequence[int]] | None = None,
    ruler: Ruler,
    synonyms: Synonyms = DEFAULT_SYNONYMS,
    threshold: float = THRESHOLD,
) -> dict[str, Value]:
    """Both metrics of one case.

    Parameters
    ----------
    ratings
        For each judge who is done, one rating for each prediction. ``None``: nobody rates
        this run, so gold judges. Empty: people rate it, but nobody is done with this case.
    ruler, synonyms, threshold
        As for :func:`~labeling.agreement.matching.match_requirements`.

    Returns
    -------
    dict of Value
        The detail of ``inference_relevance`` explains the case: ``basis`` (``human`` or
        ``gold``), ``judges``, ``scores`` (one for each prediction), ``points`` (pairs of
        confidence and correct for the run's calibration), and from gold ``matches``, ``gold``,
        ``predicted`` (counts) and ``alignment``.
    """
    verdicts, known = by_gold(gold, predicted, ruler=ruler, synonyms=synonyms, threshold=threshold)
    basis: Basis = "gold" if ratings is None else "human"
    if ratings is not None and predicted:
        if not ratings:
            return _undefined(known)
        verdicts = by_judges(len(predicted), ratings)
    case_figures, why = figures(verdicts), None if predicted else NOTHING
    detail: RelevanceDetail = {
        **known,
        "basis": basis,
        "judges": len(ratings or []),
        "scores": [verdict.score for verdict in verdicts],
        "points": _points(predicted, verdicts),
    }
    return {
        "inference_relevance": Value(case_figures.relevance, why, detail),
        "false_inference_rate": Value(case_figures.false_rate, why, BasisDetail(basis=basis)),
    }


def _worth(label: Record) -> int:
    return SCORES.get(str(label.get("necessity")), 0)


def _undefined(known: AlignedDetail) -> dict[str, Value]:
    detail: RelevanceDetail = {
        **known,
        "basis": "human",
        "judges": 0,
        "scores": [],
        "points": [],
    }
    return {
        "inference_relevance": Value(None, NOBODY_YET, detail),
        "false_inference_rate": Value(None, NOBODY_YET, BasisDetail(basis="human")),
    }


def _points(predicted: Sequence[Record], verdicts: Sequence[Verdict]) -> list[tuple[float, int]]:
    return [
        (float(record["confidence"]), int(verdict.score >= CORRECT))
        for record, verdict in zip(predicted, verdicts, strict=True)
        if record.get("confidence") is not None
    ]


def _check(count: int, ratings: Sequence[Sequence[int]]) -> None:
    if not ratings:
        raise ValueError("by_judges: nobody has rated")
    for scores in ratings:
        if len(scores) != count:
            raise ValueError(f"by_judges: {len(scores)} ratings for {count} inferred requirements")
        if not set(scores) <= {0, 1, MOST}:
            raise ValueError(f"by_judges: a rating is 0, 1 or 2, got {sorted(set(scores))}")
