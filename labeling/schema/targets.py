"""How much gold a project wants, by layer and by difficulty, and what is still missing."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from labeling.domain.msgids import msgid
from labeling.schema import LAYERS
from labeling.schema.layers import stages

END_TO_END = "end_to_end"
"""Gold for the whole way from conversation to document, where all its stages are labeled."""

END_TO_END_WANTED = 20
BY_DIFFICULTY = {"easy": 40, "medium": 30, "hard": 10}
MOST = 1_000_000


class Target(NamedTuple):
    """How many conversations are wanted, have all their answers, and are in gold."""

    name: str
    title: str
    wanted: int
    labeled: int
    gold: int

    @property
    def missing(self) -> int:
        return max(0, self.wanted - self.gold)


def target_layers(layers: Sequence[str]) -> list[str]:
    """The layers that can have a target: what is labeled, and the whole of its stages.

    Examples
    --------
    >>> target_layers(["extraction", "qa"])
    ['extraction', 'qa']
    """
    return [*layers, *([END_TO_END] if set(layers) >= set(stages()) else [])]


def stages_of(layer: str) -> list[str]:
    """The layers that gold of this layer is made of.

    Examples
    --------
    >>> stages_of("qa"), len(stages_of("end_to_end"))
    (['qa'], 3)
    """
    return stages() if layer == END_TO_END else [layer]


def title_of(layer: str) -> str:
    return LAYERS[layer].title if layer in LAYERS else msgid("End to end")


def wanted(targets: Mapping[str, Any], layers: Sequence[str]) -> dict[str, dict[str, int]]:
    """The targets of a project; what was never set is the default, and 0 means none is wanted.

    Examples
    --------
    >>> wanted({"layers": {"qa": 5}}, ["extraction", "qa"])["layers"]
    {'extraction': 80, 'qa': 5}
    >>> wanted({}, ["extraction"])["difficulty"]
    {'easy': 40, 'medium': 30, 'hard': 10}
    """
    by_layer = {
        **{name: layer.wanted for name, layer in LAYERS.items()},
        END_TO_END: END_TO_END_WANTED,
        **targets.get("layers", {}),
    }
    return {
        "layers": {layer: by_layer.get(layer, 0) for layer in target_layers(layers)},
        "difficulty": BY_DIFFICULTY | dict(targets.get("difficulty", {})),
    }
