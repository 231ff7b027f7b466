"""What a calibration round rests on."""

from collections.abc import Mapping
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
