"""What gold can be of: a layer, or the whole of its stages."""

from collections.abc import Sequence

from labeling.domain.msgids import msgid
from labeling.schema import LAYERS
from labeling.schema.layers import stages

END_TO_END = "end_to_end"
"""Gold for the whole way from conversation to document, where all its stages are labeled."""


def target_layers(layers: Sequence[str]) -> list[str]:
    """The layers that can be gold: what is labeled, and the whole of its stages.

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
