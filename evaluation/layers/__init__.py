"""How each layer of gold is asked for, checked and scored: one module a layer."""

from __future__ import annotations

from evaluation.layers.base import Context, Example, GoldLayer, MalformedOutput, Part, Scored
from evaluation.layers.end_to_end import EndToEnd
from evaluation.layers.events import Events
from evaluation.layers.extraction import Extraction
from evaluation.layers.inference import Inference
from evaluation.layers.memory import Arcs, Questions
from evaluation.layers.validation import Validation

_LAYERS: tuple[GoldLayer, ...] = (
    Extraction(),
    Inference(),
    Validation(),
    EndToEnd(),
    Questions(),
    Arcs(),
    Events(),
)
GOLD_LAYERS = {layer.name: layer for layer in _LAYERS}


def gold_layer(name: str) -> GoldLayer:
    """The layer; ``KeyError`` for one that cannot be measured yet."""
    return GOLD_LAYERS[name]
