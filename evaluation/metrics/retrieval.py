"""Figures of a ranked list, before anything is selected from it.

Binary relevance. Duplicate ids collapse to their first rank before the cut, and ties keep the
order of the list. Definitions as in ir_measures and pytrec_eval (R@k, P@k, Success@k, RR).
"""

from collections.abc import Collection, Sequence

from evaluation.metrics.metric import Value
from labeling.domain.facts import Fact

CUTS = (1, 3, 5, 10)
NO_RANKING = Fact("metric.no_ranking")


def score_ranking(expected: Collection[int], ranked: Sequence[int] | None) -> dict[str, Value]:
    """Recall, precision, hit rate and "all found" at each cut, and the reciprocal rank.

    Parameters
    ----------
    expected
        The relevant ids; not empty.
    ranked
        Ids, best first; ``None`` (every figure undefined) if the pipeline does not rank.

    Returns
    -------
    dict of Value
        ``precision_at_K`` is divided by K even when the list is shorter. ``mrr`` is 0 when no
        relevant id is in the list.

    Examples
    --------
    >>> result = score_ranking({2, 9}, [7, 2, 2, 5])
    >>> result["recall_at_3"].value, round(result["precision_at_3"].value, 3), result["mrr"].value
    (0.5, 0.333, 0.5)
    """
    if not expected:
        raise ValueError("score_ranking: without relevant ids nothing can be ranked right")
    if ranked is None:
        return {name: Value(None, NO_RANKING) for name in metric_ids()}
    order = list(dict.fromkeys(ranked))
    figures = {"mrr": reciprocal_rank(expected, order)}
    for cut in CUTS:
        figures |= _at(cut, expected, order)
    return {name: Value(figures[name]) for name in metric_ids()}


def reciprocal_rank(expected: Collection[int], order: Sequence[int]) -> float:
    ranks = (rank for rank, id_ in enumerate(order, start=1) if id_ in expected)
    first = next(ranks, None)
    return 1 / first if first else 0.0


def metric_ids() -> list[str]:
    """In the order in which they are shown."""
    at = ("recall_at", "precision_at", "hit_rate_at", "all_at")
    return [*(f"{name}_{cut}" for name in at for cut in CUTS), "mrr"]


def _at(cut: int, expected: Collection[int], order: Sequence[int]) -> dict[str, float]:
    hits = sum(id_ in expected for id_ in order[:cut])
    return {
        f"recall_at_{cut}": hits / len(expected),
        f"precision_at_{cut}": hits / cut,
        f"hit_rate_at_{cut}": float(hits > 0),
        f"all_at_{cut}": float(hits == len(expected)),
    }
