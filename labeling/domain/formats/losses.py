"""What each format cannot carry. A test writes and reads every layer and compares with this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from labeling.domain.schema import LAYERS
from labeling.domain.sentences import noted

WHOLE = "*"


class Losses(NamedTuple):
    """``answer``: what is lost of an answer. ``fields``: by layer, what is lost of its labels;
    ``WHOLE`` is all of them. ``note`` says in words what a person should know."""

    answer: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]]
    note: str


_NAMES = ("uid", "origin", "suggestion")
_REQUIREMENT_TEXT = (
    *_NAMES,
    "id",
    "title",
    "actor",
    "action",
    "condition",
    "acceptance_criteria",
    "priority",
    "rationale",
    "confidence",
)

LOSSES = {
    "native": Losses(
        (), {}, noted("Nothing. The file to keep, and to move labels between projects.")
    ),
    "labelstudio": Losses(
        ("round", "guideline_version", "skip_reason"),
        dict.fromkeys(LAYERS, ("suggestion",)),
        noted(
            "Of a label only the suggestion that it was taken from. A label that points to no "
            "message lies over that of the label it is about."
        ),
    ),
    "doccano": Losses(
        (),
        {
            "extraction": _REQUIREMENT_TEXT,
            "inference": (WHOLE,),
            "validation": (WHOLE,),
            "qa": (*_NAMES, "question", "answer"),
            "arc": (*_NAMES, "question", "phases.uid", "phases.title", "phases.time_range"),
            "events": _NAMES,
            "relevance": (WHOLE,),
        },
        noted("Only what lies in the text. Of its labels, only events can be imported again."),
    ),
}


def importable(format: str, layer: str) -> bool:
    """Whether what comes back from a format is a whole label of the layer."""
    return set(LOSSES[format].fields.get(layer, ())) <= set(_NAMES)


def lost_in(format: str, layer: str) -> str:
    """The lost fields of a layer as words for a table; empty when nothing is lost."""
    fields = LOSSES[format].fields.get(layer, ())
    return noted("all of it") if fields == (WHOLE,) else ", ".join(f"`{name}`" for name in fields)
