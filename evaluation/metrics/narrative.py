"""How well the returned phases meet those of a narrative arc. Titles are never compared."""

from collections.abc import Collection, Sequence
from math import fsum
from typing import Any

from evaluation.metrics.chance import expected_best_overlap, missed
from evaluation.metrics.metric import Value


def score_narrative(
    expected: Sequence[Collection[int]],
    phases: Sequence[Collection[int]],
    returned: Collection[int] = (),
    *,
    size: int | None = None,
) -> dict[str, Value]:
    """The arc metrics of one case.

    Parameters
    ----------
    expected
        The localIds of each expected phase that resolve. A phase without any is left out of
        every figure and counted in the details, never taken as covered.
    phases
        The localIds of each returned phase.
    returned
        What was returned in addition: an answer may contain more than its phases.
    size
        How many messages the conversation has; with it each figure has its chance level.

    Returns
    -------
    dict of Value
        ``global_recall``: exact recall over the union of all phases. ``phase_coverage``: share
        of expected phases with at least one id returned anywhere. ``phase_recall``: mean over
        the expected phases of the recall of each against everything returned.
        ``best_match_phase_recall``: the same against the one returned phase that overlaps it
        most. All in [0, 1], higher is better.

    Raises
    ------
    ValueError
        If no phase has a resolvable id: such a case is not scorable.

    Examples
    --------
    >>> result = score_narrative([{1, 2}, {8}], [{1, 8}, {2}])
    >>> result["global_recall"].value, result["best_match_phase_recall"].value
    (1.0, 0.75)
    """
    wanted = [set(phase) for phase in expected if phase]
    if not wanted:
        raise ValueError("score_narrative: no expected phase has a message")
    returned_sets = [set(phase) for phase in phases]
    union = set(returned).union(*returned_sets)
    shares = [len(phase & union) / len(phase) for phase in wanted]
    best = [
        max((len(phase & other) for other in returned_sets), default=0) / len(phase)
        for phase in wanted
    ]
    detail = {"phases": len(wanted), "unresolvable_phases": len(expected) - len(wanted)}
    everything: set[int] = set().union(*wanted)
    figures: dict[str, tuple[float, dict[str, Any]]] = {
        "global_recall": (len(everything & union) / len(everything), detail),
        "phase_coverage": (sum(share > 0 for share in shares) / len(shares), detail),
        "phase_recall": (fsum(shares) / len(shares), {"each": shares}),
        "best_match_phase_recall": (fsum(best) / len(best), {"each": best}),
    }
    chance = narrative_chance(wanted, returned_sets, union, size) if size else {}
    return {
        name: Value(figure, detail=detail, chance=chance.get(name))
        for name, (figure, detail) in figures.items()
    }


def narrative_chance(
    wanted: Sequence[Collection[int]],
    phases: Sequence[Collection[int]],
    union: Collection[int],
    size: int,
) -> dict[str, float]:
    """What each figure is expected to be of as many random messages, in phases as large.

    Everything returned is one draw; for the best match each phase is drawn by itself.

    Examples
    --------
    >>> chance = narrative_chance([{1, 2}], [{3}], {3}, 4)
    >>> chance["global_recall"], chance["phase_coverage"], chance["best_match_phase_recall"]
    (0.25, 0.5, 0.25)
    """
    drawn = _existing(union, size)
    none = missed(size, drawn)
    draws = tuple(_existing(phase, size) for phase in phases)
    best = [expected_best_overlap(len(phase), draws, size) / len(phase) for phase in wanted]
    return {
        "global_recall": drawn / size,
        "phase_coverage": 1 - fsum(none[[len(phase) for phase in wanted]]) / len(wanted),
        "phase_recall": drawn / size,
        "best_match_phase_recall": fsum(best) / len(best),
    }


def _existing(ids: Collection[int], size: int) -> int:
    return sum(1 <= local_id <= size for local_id in set(ids))
