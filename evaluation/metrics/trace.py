"""Where an expected message was lost on its way through retrieval, and at which rank."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

Loss = Literal["never_retrieved", "lost_in_reranking", "not_selected", "found"]
LOSSES: tuple[Loss, ...] = ("never_retrieved", "lost_in_reranking", "not_selected", "found")
CHECKPOINTS = ("candidates", "reranked", "selected")
Checkpoints = Mapping[str, Sequence[int]]
"""The ids at each checkpoint, best first; ``reranked`` only where something re-ranked."""


class Rank(NamedTuple):
    """A message's place among the candidates and after re-ranking, from 1; ``None``: not there."""

    candidate: int | None
    reranked: int | None

    @property
    def last(self) -> int | None:
        return self.candidate if self.reranked is None else self.reranked


def effective(trace: Mapping[str, Sequence[int]]) -> dict[str, Sequence[int]]:
    """The checkpoints without a re-ranking that only repeats the candidates in their order.

    Examples
    --------
    >>> sorted(effective({"candidates": [1, 2], "reranked": [1, 2], "selected": [1]}))
    ['candidates', 'selected']
    """
    repeated = trace.get("reranked") == trace.get("candidates")
    return {name: ids for name, ids in trace.items() if not (repeated and name == "reranked")}


def losses(expected: Collection[int], checkpoints: Checkpoints) -> dict[int, Loss]:
    """The fate of every expected id.

    Parameters
    ----------
    expected
        The ids that should have been returned.
    checkpoints
        The ids at ``candidates``, ``selected`` and, if anything re-ranked, ``reranked``.

    Examples
    --------
    >>> losses([1, 2, 3], {"candidates": [1, 2], "reranked": [1], "selected": [1]})
    {1: 'found', 2: 'lost_in_reranking', 3: 'never_retrieved'}
    """
    return {message_id: _fate(message_id, checkpoints) for message_id in sorted(expected)}


def ranks(expected: Collection[int], checkpoints: Checkpoints) -> dict[int, Rank]:
    """The rank of every expected id.

    Examples
    --------
    >>> ranks([2, 3], {"candidates": [1, 2], "reranked": [2, 1], "selected": [2]})
    {2: Rank(candidate=2, reranked=1), 3: Rank(candidate=None, reranked=None)}
    """
    before, after = (_places(checkpoints.get(name, ())) for name in ("candidates", "reranked"))
    return {
        message_id: Rank(before.get(message_id), after.get(message_id))
        for message_id in sorted(expected)
    }


def funnel(fates: Iterable[Mapping[int, Loss]]) -> dict[str, int]:
    """How many expected ids of a whole run met each fate; every fate is named."""
    counted = Counter(fate for case in fates for fate in case.values())
    return {loss: counted[loss] for loss in LOSSES}


def dropped(cases: Iterable[Checkpoints]) -> int | None:
    """How many candidates re-ranking left out; ``None`` if nothing was re-ranked."""
    reranked = [case for case in cases if "reranked" in case]
    if not reranked:
        return None
    return sum(len(set(case["candidates"]) - set(case["reranked"])) for case in reranked)


def _fate(message_id: int, checkpoints: Checkpoints) -> Loss:
    """The output is looked at first: returned messages count as retrieved in any case."""
    if message_id in checkpoints["selected"]:
        return "found"
    if message_id not in checkpoints["candidates"]:
        return "never_retrieved"
    kept = checkpoints.get("reranked", checkpoints["candidates"])
    return "not_selected" if message_id in kept else "lost_in_reranking"


def _places(ids: Sequence[int]) -> dict[int, int]:
    return {message_id: rank for rank, message_id in enumerate(dict.fromkeys(ids), start=1)}
