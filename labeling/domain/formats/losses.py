"""What each format cannot carry. A test exports and imports every layer and compares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from labeling.domain.msgids import msgid
from labeling.domain.schema import LAYERS


class Losses(NamedTuple):
    """``answer``: lost fields of an answer. ``fields``: by layer, lost fields of its labels.
    ``note`` explains them."""

    answer: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]]
    note: str


LOSSES = {
    "native": Losses(
        (),
        {},
        msgid(
            "Nothing: answers and decisions about them are complete. Use it to keep labels or to "
            "move them between projects."
        ),
    ),
    "labelstudio": Losses(
        ("round", "guideline_version", "skip_reason"),
        dict.fromkeys(LAYERS, ("suggestion",)),
        msgid(
            "All decisions, and the suggestion that a label was taken from. A label without a "
            "message is placed on that of the label it is about."
        ),
    ),
    "doccano": Losses(
        (),
        {},
        msgid(
            "Decisions; nothing else if the metadata next to a text is kept. In doccano only the "
            "places in the text can be changed: a label whose place was changed comes back "
            "without its words."
        ),
    ),
}


def lost_in(format: str, layer: str) -> str:
    """The lost fields of a layer as words for a table; empty when nothing is lost."""
    return ", ".join(f"`{name}`" for name in LOSSES[format].fields.get(layer, ()))
