"""Figures of a ranked list, before anything is selected from it.

Binary relevance. Duplicate ids collapse to their first rank before the cut, and ties keep the
order of the list. Definitions as in ir_measures and pytrec_eval (R@k, P@k, Success@k, RR).
"""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

import numpy as np

from evaluation.metrics.chance import missed
from evaluation.metrics.metric import Value
from labeling.domain.facts import Fact

CUTS = (1, 3, 5, 10)
NO_RANKING = Fact("metric.no_ranking")


def score_ranking(
    expected: Collection[int], ranked: Sequence[int] | None, *, size: int | None = None
) -> dict[str, Value]:
    """Recall, precision, hit rate and "all found" at each cut, and the reciprocal rank.

    Parameters
    ----------
    expected
        The relevant ids; not empty.
    ranked
        Ids, best first; ``None`` (every figure undefined) if the pipeline does not rank.
    size
        How many messages the conversation has; with it each figure has its chance level.

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
    >>> score_ranking({2, 9}, [7, 2, 5], size=10)["recall_at_3"].chance
    0.3
    """
    if not expected:
        raise ValueError("score_ranking: without relevant ids nothing can be ranked right")
    if ranked is None:
        return {name: Value(None, NO_RANKING) for name in metric_ids()}
    wanted = set(expected)
    order = dict.fromkeys(ranked)
    ranks = [rank for rank, id_ in enumerate(order, start=1) if id_ in wanted]
    within = tuple([rank for rank in ranks if rank <= CUTS[-1]])
    first = ranks[0] if ranks else None
    return _values(within, first, len(wanted), len(order), size).copy()


@lru_cache(maxsize=4096)
def ranking_chance(expected: int, ranked: int, size: int) -> Mapping[str, float]:
    """What each figure is expected to be if the ids are ranked at random.

    Parameters
    ----------
    expected, ranked, size
        How many ids are relevant, ranked, and in the conversation.

    Notes
    -----
    With n messages, E of them relevant, none is among the first m with probability
    C(n − m, E)/C(n, E), and all are with C(m, E)/C(n, E). The expected reciprocal rank is
    Σ P(the first is at r)/r over the ranked places.

    Examples
    --------
    >>> chance = ranking_chance(expected=1, ranked=10, size=20)
    >>> chance["hit_rate_at_10"], chance["recall_at_5"], chance["precision_at_10"]
    (0.5, 0.25, 0.05)
    """
    places = min(ranked, size)
    none = missed(size, expected)
    first = -np.diff(none[: places + 1])
    figures = {"mrr": float((first / np.arange(1, places + 1)).sum())}
    for cut in CUTS:
        depth = min(cut, places)
        figures[f"recall_at_{cut}"] = depth / size
        figures[f"precision_at_{cut}"] = depth * expected / (size * cut)
        figures[f"hit_rate_at_{cut}"] = 1 - float(none[depth])
        figures[f"all_at_{cut}"] = float(none[size - depth])
    return figures


def metric_ids() -> list[str]:
    """In the order in which they are shown."""
    at = ("recall_at", "precision_at", "hit_rate_at", "all_at")
    return [*(f"{name}_{cut}" for name in at for cut in CUTS), "mrr"]


@lru_cache(maxsize=4096)
def _values(
    ranks: tuple[int, ...], first: int | None, expected: int, ranked: int, size: int | None
) -> dict[str, Value]:
    """From the ranks of the relevant ids within the last cut, and the first of all.

    Cached, because these few numbers are the same in many cases.
    """
    figures = {"mrr": 1 / first if first else 0.0}
    for cut in CUTS:
        hits = sum(rank <= cut for rank in ranks)
        figures[f"recall_at_{cut}"] = hits / expected
        figures[f"precision_at_{cut}"] = hits / cut
        figures[f"hit_rate_at_{cut}"] = float(hits > 0)
        figures[f"all_at_{cut}"] = float(hits == expected)
    chance = ranking_chance(expected, ranked, size) if size else {}
    return {name: Value(figures[name], chance=chance.get(name)) for name in metric_ids()}
