"""How well extracted requirements meet the gold ones, case by case.

Every figure is in [0, 1], higher is better; the definitions are in
templates/docs/metrics.md, "Extraction". The matcher is the one that annotators
are compared with, so their agreement is the ceiling of these figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum
from typing import NamedTuple, TypedDict

from evaluation.metrics.alignment import AlignmentRow, alignment, confidence_points
from evaluation.metrics.registry import Value
from labeling.agreement.matching.matching import (
    DEFAULT_SYNONYMS,
    THRESHOLD,
    Record,
    RequirementPairs,
    Synonyms,
    criteria,
    f1,
    match_texts,
    source_overlap,
)
from labeling.agreement.matching.similarity import Ruler
from labeling.domain.facts import Fact

CRITERIA_THRESHOLD = 0.80
"""Two acceptance criteria match only if their similarity is strictly greater."""

CURVE = tuple(step / 100 for step in range(50, 100, 5))
"""The thresholds 0.5, 0.55 … 0.95 at which every run's scores are stored."""

NO_TEXT_MATCH = Fact("metric.no_similar_text")
NOTHING = Fact("metric.nothing_counted")
NO_GOLD_PRIORITY = Fact("metric.no_gold_priority")


class CurveRow(TypedDict):
    """The counts and micro averages of a run at one similarity threshold."""

    threshold: float
    matches: int
    gold: int
    predicted: int
    recall: float
    precision: float
    f1: float


class CountsDetail(TypedDict):
    """The :class:`Counts` of a case, as plain JSON."""

    matches: int
    gold: int
    predicted: int


class AlignedDetail(CountsDetail):
    alignment: list[AlignmentRow]


class ExtractionDetail(AlignedDetail):
    """What explains ``requirement_f1`` of a case; ``points`` are confidence and correct."""

    points: list[tuple[float, int]]


class PairsDetail(TypedDict):
    """How many pairs a mean is over."""

    pairs: int


class MatchesDetail(TypedDict):
    matches: int


class Counts(NamedTuple):
    """What recall, precision and F1 are made of; counts of several cases may be added."""

    matches: int
    gold: int
    predicted: int

    @classmethod
    def read(cls, detail: CountsDetail) -> Counts:
        return cls(detail["matches"], detail["gold"], detail["predicted"])

    @property
    def recall(self) -> float:
        return self._share(self.gold)

    @property
    def precision(self) -> float:
        return self._share(self.predicted)

    @property
    def f1(self) -> float:
        return f1(self.matches, self.gold, self.predicted)

    @property
    def detail(self) -> CountsDetail:
        return {"matches": self.matches, "gold": self.gold, "predicted": self.predicted}

    def _share(self, size: int) -> float:
        """A correct "nothing here" is right; one empty side is as wrong as can be."""
        if not self.gold and not self.predicted:
            return 1.0
        return self.matches / size if size else 0.0


def score_extraction(
    gold: Sequence[Record],
    predicted: Sequence[Record],
    *,
    ruler: Ruler,
    synonyms: Synonyms = DEFAULT_SYNONYMS,
    threshold: float = THRESHOLD,
) -> dict[str, Value]:
    """All extraction metrics of one case.

    Parameters
    ----------
    gold, predicted
        Requirements; the order of either list plays no part.
    ruler, synonyms, threshold
        As for :func:`~labeling.agreement.matching.match_requirements`.

    Returns
    -------
    dict of Value
        By metric id, every metric of scope ``case``. The four field metrics are
        undefined when no two requirements have similar text. The detail of
        ``requirement_f1`` explains the case: ``matches``, ``gold`` and ``predicted``
        (counts), ``alignment`` (rows for the drill-down, see
        :func:`~evaluation.metrics.alignment.alignment`) and ``points`` (a pair of
        confidence and correct per prediction, for the run's calibration).
    """
    pairs = RequirementPairs(gold, predicted, ruler=ruler, synonyms=synonyms)
    matches, text_matches = pairs.matches(threshold), pairs.text_matches(threshold)
    counts = Counts(len(matches), len(gold), len(predicted))
    detail: ExtractionDetail = {
        **counts.detail,
        "alignment": alignment(pairs, matches, text_matches, threshold=threshold),
        "points": confidence_points(predicted, matches),
    }
    texts = [(match.left, match.right) for match in text_matches]
    return {
        "requirement_recall": Value(counts.recall, detail=counts.detail),
        "requirement_precision": Value(counts.precision, detail=counts.detail),
        "requirement_f1": Value(counts.f1, detail=detail),
        "type_accuracy": _mean_of_pairs([float(pairs.same_type[pair]) for pair in texts]),
        "actor_accuracy": _mean_of_pairs([float(pairs.same_actor[pair]) for pair in texts]),
        "priority_accuracy": _priority_accuracy(
            [(gold[i].get("priority"), predicted[j].get("priority")) for i, j in texts]
        ),
        "source_overlap": _mean_of_pairs([source_overlap(gold[i], predicted[j]) for i, j in texts]),
        "criteria_completeness": _completeness(
            [(gold[match.left], predicted[match.right]) for match in matches], ruler
        )
        if gold or predicted
        else Value(None, NOTHING),
    }


def criteria_share(gold: Record, predicted: Record, *, ruler: Ruler) -> float:
    """Share of a gold requirement's acceptance criteria that were extracted too.

    A criterion counts when it has a one-to-one partner with similarity strictly
    greater than 0.80. 1.0 without gold criteria, 0.0 with some but none extracted.
    """
    expected, extracted = criteria(gold), criteria(predicted)
    if not expected:
        return 1.0
    matches = match_texts(expected, extracted, ruler=ruler, threshold=CRITERIA_THRESHOLD)
    return len(matches) / len(expected)


def threshold_curve(
    gold: Sequence[Record],
    predicted: Sequence[Record],
    *,
    ruler: Ruler,
    synonyms: Synonyms = DEFAULT_SYNONYMS,
    thresholds: Sequence[float] = CURVE,
) -> dict[float, Counts]:
    """The counts of one case at each similarity threshold.

    Matches never increase with the threshold, so a steep curve around the chosen
    one says that the score hangs on that choice.
    """
    pairs = RequirementPairs(gold, predicted, ruler=ruler, synonyms=synonyms)
    return {
        threshold: Counts(len(pairs.matches(threshold)), len(gold), len(predicted))
        for threshold in thresholds
    }


def lost(gold: int) -> Counts:
    """What a case that failed adds to sums: as much as gold holds, at least one, all of it wrong.

    So crashing raises neither recall nor precision, also where gold is empty.
    """
    return Counts(0, gold, max(gold, 1))


def pooled(counts: Iterable[Counts]) -> Counts:
    """The counts of several cases together; its figures are the micro averages.

    Examples
    --------
    >>> total = pooled([Counts(1, 2, 1), Counts(1, 1, 3)])
    >>> total.precision, round(total.recall, 3), round(total.f1, 3)
    (0.5, 0.667, 0.571)
    """
    return Counts(*map(sum, zip((0, 0, 0), *counts, strict=True)))


def curve_rows(curves: Sequence[dict[float, Counts]]) -> list[CurveRow]:
    """The curve of a whole run, one row per threshold: counts and micro averages."""
    thresholds = sorted({threshold for curve in curves for threshold in curve})
    totals = {threshold: pooled(curve[threshold] for curve in curves) for threshold in thresholds}
    return [
        {
            "threshold": threshold,
            "matches": total.matches,
            "gold": total.gold,
            "predicted": total.predicted,
            "recall": total.recall,
            "precision": total.precision,
            "f1": total.f1,
        }
        for threshold, total in totals.items()
    ]


def _mean_of_pairs(shares: Sequence[float]) -> Value:
    if not shares:
        return Value(None, NO_TEXT_MATCH)
    return Value(fsum(shares) / len(shares), detail=PairsDetail(pairs=len(shares)))


def _priority_accuracy(pairs: Sequence[tuple[object, object]]) -> Value:
    """A project may do without priorities: then nothing says whether one is right."""
    known = [float(wanted == said) for wanted, said in pairs if wanted]
    return Value(None, NO_GOLD_PRIORITY) if pairs and not known else _mean_of_pairs(known)


def _completeness(matched: Sequence[tuple[Record, Record]], ruler: Ruler) -> Value:
    if not matched:
        return Value(0.0, detail=MatchesDetail(matches=0))
    shares = [criteria_share(gold, predicted, ruler=ruler) for gold, predicted in matched]
    return Value(fsum(shares) / len(shares), detail=MatchesDetail(matches=len(shares)))
