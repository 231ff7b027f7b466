"""What a calibration round rests on, and how often a team passes by chance."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Enough(NamedTuple):
    """What a round needs to open full labeling: κ of less says too little."""

    conversations: int = 10
    units: int = 50


ENOUGH = Enough()


class Evidence(NamedTuple):
    """What a round rests on: the least of any used layer and pair.

    ``units`` None where agreement is not of units.
    """

    conversations: int
    units: int | None

    @property
    def suffices(self) -> bool:
        """Whether a passed round may open full labeling."""
        units = ENOUGH.units if self.units is None else self.units
        return self.conversations >= ENOUGH.conversations and units >= ENOUGH.units


def evidence(figures: Mapping[str, Any] | None) -> Evidence:
    """Of the stored agreement of a round."""
    stated = figures or {}
    layers = [
        layer
        for layer in (stated.get("layers") or {"": stated}).values()
        if layer.get("outcome") != "not_measured"
    ]
    pairs = [(layer, pair) for layer in layers for pair in layer.get("pairs", [])]
    units = [pair["n"] for layer, pair in pairs if layer.get("measure") != "f1"]
    conversations = [pair["conversations"] for _, pair in pairs]
    return Evidence(min(conversations, default=0), min(units, default=None))


def passes_within(rounds: Sequence[Mapping[str, Any] | None], true: float) -> float | None:
    """How often a team of this true figure passes in one of these rounds, by their outlooks.

    None where one of the rounds was measured before outlooks were.

    Examples
    --------
    >>> outlook = [{"true": 0.7, "passes": 0.2}]
    >>> round(passes_within([{"outlook": outlook}, {"outlook": outlook}], 0.7), 2)
    0.36
    """
    missed = 1.0
    for figures in rounds:
        rows = (figures or {}).get("outlook") or []
        passes = next((row["passes"] for row in rows if row["true"] == true), None)
        if passes is None:
            return None
        missed *= 1 - passes
    return 1 - missed if rounds else None
