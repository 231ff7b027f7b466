"""How well the flaws of requirements are found, and the personal data in them.

Issues match on the same requirement, kind and field, as a multiset: two equal issues need two
partners. The definitions are in templates/docs/metrics.md, "Validation".
"""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evaluation.metrics.alignment import AlignmentRow
from evaluation.metrics.items import AlignedDetail, Counts, PairsDetail
from evaluation.metrics.metric import Share, Value
from labeling.agreement.matching.matchers import Rules, match_labels
from labeling.agreement.matching.matching import Match, Record
from labeling.agreement.matching.similarity import Ruler
from labeling.domain.facts import Fact

PII = "pii"
NO_MATCH = Fact("metric.no_issue_matched")
NO_PII = Fact("metric.no_personal_data")


class PiiOverlap(NamedTuple):
    """Pieces of personal data: in both, only predicted, only in gold."""

    tp: int
    fp: int
    fn: int

    @property
    def shares(self) -> dict[str, Share]:
        """What the case adds to the sums of each figure."""
        return {
            "pii_precision": Share(self.tp, self.tp + self.fp),
            "pii_recall": Share(self.tp, self.tp + self.fn),
            "pii_f1": Share(2 * self.tp, 2 * self.tp + self.fp + self.fn),
        }


def score_validation(
    gold: Sequence[Record], predicted: Sequence[Record], *, ruler: Ruler
) -> dict[str, Value]:
    """All validation metrics of one case.

    Parameters
    ----------
    gold, predicted
        Issues; the order of either list plays no part.
    ruler
        Asked nothing: issues are compared by what they name.

    Returns
    -------
    dict of Value
        ``severity_accuracy`` is undefined without a match, the three figures of personal data
        if neither side names any. The detail of ``issue_f1`` explains the case: ``matches``,
        ``gold``, ``predicted`` and ``alignment``; that of ``pii_f1`` holds ``tp``, ``fp``, ``fn``.
    """
    matches = match_labels("validation", gold, predicted, Rules(ruler))
    counts = Counts(len(matches), len(gold), len(predicted))
    detail, (ours, theirs) = counts.detail, map(pii_strings, (gold, predicted))
    overlap = PiiOverlap(len(ours & theirs), len(theirs - ours), len(ours - theirs))
    aligned: AlignedDetail = {**detail, "alignment": _rows(counts, matches)}
    return {
        "issue_recall": Value(counts.recall, detail=detail),
        "issue_precision": Value(counts.precision, detail=detail),
        "issue_f1": Value(counts.f1, detail=aligned),
        "severity_accuracy": _severity([(gold[i], predicted[j]) for i, j, _ in matches]),
        **_pii(overlap),
    }


def pii_strings(issues: Iterable[Record]) -> set[str]:
    """The personal data that the issues quote, in one Unicode form and trimmed.

    Examples
    --------
    >>> pii_strings([{"issue_type": "pii", "span": {"text": " Ana Diaz "}}])
    {'Ana Diaz'}
    """
    quoted = [
        (issue.get("span") or {}).get("text") or ""
        for issue in issues
        if issue.get("issue_type") == PII
    ]
    return {text for quote in quoted if (text := unicodedata.normalize("NFC", quote).strip())}


def _severity(pairs: Sequence[tuple[Record, Record]]) -> Value:
    if not pairs:
        return Value(None, NO_MATCH)
    same = sum(left.get("severity") == right.get("severity") for left, right in pairs)
    return Value(same / len(pairs), detail=PairsDetail(pairs=len(pairs)))


def _pii(overlap: PiiOverlap) -> dict[str, Value]:
    """0 if only one side names any: an undefined share doesn't count as success."""
    if not any(overlap):
        return {name: Value(None, NO_PII) for name in overlap.shares}
    return {
        name: Value(
            share.numerator / share.denominator if share.denominator else 0.0,
            detail=overlap._asdict(),
            share=share,
        )
        for name, share in overlap.shares.items()
    }


def _rows(counts: Counts, matches: Sequence[Match]) -> list[AlignmentRow]:
    """Every gold and every predicted issue in exactly one row, as the drill-down shows them."""
    partner = {match.left: match.right for match in matches}
    taken = set(partner.values())
    return [
        *(_row(gold, partner.get(gold)) for gold in range(counts.gold)),
        *(_row(None, position) for position in range(counts.predicted) if position not in taken),
    ]


def _row(gold: int | None, predicted: int | None) -> AlignmentRow:
    matched = gold is not None and predicted is not None
    return {"gold": gold, "predicted": predicted, "similarity": None, "matched": matched}
