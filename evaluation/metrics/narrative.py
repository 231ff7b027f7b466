"""How well the returned phases meet those of a narrative arc. Titles are never compared."""

from collections.abc import Collection, Sequence
from math import fsum

from evaluation.metrics.metric import Value


def score_narrative(
    expected: Sequence[Collection[int]],
    phases: Sequence[Collection[int]],
    returned: Collection[int] = (),
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
        What was returned beside these: an answer may hold more than its phases do.

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
    return {
        "global_recall": Value(len(everything & union) / len(everything), detail=detail),
        "phase_coverage": Value(sum(share > 0 for share in shares) / len(shares), detail=detail),
        "phase_recall": Value(fsum(shares) / len(shares), detail={"each": shares}),
        "best_match_phase_recall": Value(fsum(best) / len(best), detail={"each": best}),
    }
