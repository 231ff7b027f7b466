"""What each format cannot carry. A test writes and reads every layer and compares with this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from labeling.domain.msgids import msgid
from labeling.domain.schema import LAYERS


class Losses(NamedTuple):
    """``answer``: what is lost of an answer. ``fields``: by layer, what is lost of its labels.
    ``note`` says in words what a person should know."""

    answer: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]]
    note: str


LOSSES = {
    "native": Losses(
        (),
        {},
        msgid(
            "Nothing of answers and of decisions about them. The file to keep, and to move labels "
            "between projects."
        ),
    ),
    "labelstudio": Losses(
        ("round", "guideline_version", "skip_reason"),
        dict.fromkeys(LAYERS, ("suggestion",)),
        msgid(
            "Of a label only the suggestion that it was taken from, and all decisions. A label "
            "that points to no message lies over that of the label it is about."
        ),
    ),
    "doccano": Losses(
        (),
        {},
        msgid(
            "Decisions; nothing else, as long as the metadata beside a text is kept. In doccano "
            "only the places in the text can be changed: a label whose place was changed comes "
            "back without its words."
        ),
    ),
}


def lost_in(format: str, layer: str) -> str:
    """The lost fields of a layer as words for a table; empty when nothing is lost."""
    return ", ".join(f"`{name}`" for name in LOSSES[format].fields.get(layer, ()))
