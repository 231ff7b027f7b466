"""Where an expected message was lost on its way through retrieval."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

Loss = Literal["never_retrieved", "lost_in_reranking", "not_selected", "found"]
LOSSES: tuple[Loss, ...] = ("never_retrieved", "lost_in_reranking", "not_selected", "found")
CHECKPOINTS = ("candidates", "reranked", "selected")


def losses(
    expected: Collection[int], checkpoints: Mapping[str, Collection[int]]
) -> dict[int, Loss]:
    """The fate of every expected id.

    Parameters
    ----------
    expected
        The ids that should have been returned.
    checkpoints
        The ids held at ``candidates``, ``reranked`` and ``selected``.

    Examples
    --------
    >>> losses([1, 2, 3], {"candidates": [1, 2], "reranked": [1], "selected": [1]})
    {1: 'found', 2: 'lost_in_reranking', 3: 'never_retrieved'}
    """
    return {message_id: _fate(message_id, checkpoints) for message_id in sorted(expected)}


def funnel(fates: Iterable[Mapping[int, Loss]]) -> dict[str, int]:
    """How many expected ids of a whole run met each fate; every fate is named."""
    counted = Counter(fate for case in fates for fate in case.values())
    return {loss: counted[loss] for loss in LOSSES}


def _fate(message_id: int, checkpoints: Mapping[str, Collection[int]]) -> Loss:
    """The output is looked at first: what was returned was found, whatever the trace says."""
    if message_id in checkpoints["selected"]:
        return "found"
    if message_id not in checkpoints["candidates"]:
        return "never_retrieved"
    return "not_selected" if message_id in checkpoints["reranked"] else "lost_in_reranking"
