"""Gold and prediction side by side, and why similar pairs were not matched."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

import numpy as np

from labeling.agreement.matching.matching import Match, Record, RequirementPairs, assign
from labeling.domain.facts import Fact, StoredFact

NEAREST = 0.5
"""Leftover requirements share a row only if their texts are at least this similar."""


class AlignmentRow(TypedDict):
    """One row of the drill-down: a gold label, a predicted one, or a pair of both by position.

    ``text_only`` and ``why_not`` belong to requirements alone.
    """

    gold: int | None
    predicted: int | None
    similarity: float | None
    matched: bool
    text_only: NotRequired[bool]
    why_not: NotRequired[StoredFact | None]


def alignment(
    pairs: RequirementPairs,
    matches: Sequence[Match],
    text_matches: Sequence[Match],
    *,
    threshold: float,
) -> list[AlignmentRow]:
    """Every gold and every predicted requirement in exactly one row.

    Returns
    -------
    list of AlignmentRow
        ``gold`` and ``predicted``: positions, or ``None`` for what was missed or
        invented; ``similarity``: of the two texts, else ``None``; ``matched``;
        ``text_only``: whether the pair is one of ``text_matches``; ``why_not``: what kept
        an unmatched pair apart, as the JSON of a fact, else ``None``. Gold rows come
        first, in their order.
    """
    by_text = {(match.left, match.right) for match in text_matches}
    shown = [*matches, *_leftovers(pairs, matches)]
    rows: list[AlignmentRow] = [
        {
            "gold": match.left,
            "predicted": match.right,
            "similarity": match.similarity,
            "matched": match in matches,
            "text_only": (match.left, match.right) in by_text,
            "why_not": None if match in matches else _why_not(pairs, match, threshold).as_json(),
        }
        for match in shown
    ]
    missed = set(range(len(pairs.left))) - {match.left for match in shown}
    invented = set(range(len(pairs.right))) - {match.right for match in shown}
    rows += [_alone(gold=index) for index in missed]
    rows += [_alone(predicted=index) for index in invented]
    return sorted(rows, key=_reading_order)


def confidence_points(
    predicted: Sequence[Record], matches: Sequence[Match]
) -> list[tuple[float, int]]:
    """For each prediction that states one, its confidence and whether it was matched (0 or 1)."""
    right = {match.right for match in matches}
    return [
        (float(record["confidence"]), int(index in right))
        for index, record in enumerate(predicted)
        if record.get("confidence") is not None
    ]


def _leftovers(pairs: RequirementPairs, matches: Sequence[Match]) -> list[Match]:
    """Pair what remains by text, so that the reader sees what was nearly found."""
    free = pairs.similarities >= NEAREST
    for match in matches:
        free[match.left, :] = free[:, match.right] = False
    return assign(np.asarray(pairs.similarities), free)


def _why_not(pairs: RequirementPairs, match: Match, threshold: float) -> Fact:
    if match.similarity <= threshold:
        similarity = float(match.similarity)
        return Fact("pair.not_similar", similarity=similarity, threshold=threshold)
    same_type = pairs.same_type[match.left, match.right]
    return Fact("pair.actor_differs" if same_type else "pair.type_differs")


def _alone(*, gold: int | None = None, predicted: int | None = None) -> AlignmentRow:
    return {
        "gold": gold,
        "predicted": predicted,
        "similarity": None,
        "matched": False,
        "text_only": False,
        "why_not": None,
    }


def _reading_order(row: AlignmentRow) -> tuple[bool, int]:
    if row["gold"] is not None:
        return False, row["gold"]
    return True, row["predicted"] or 0
