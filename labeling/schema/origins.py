"""Where a label comes from: typed by the annotator, or taken over from a pipeline's suggestion.

A label names the suggested label it was taken from and says whether it was accepted as it is or
edited since. What stores labels believes neither: :func:`verified` compares them. A label that
says nothing was typed.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from labeling.schema import LAYERS, form_fields
from labeling.schema.labels import Payload as StoredLabels
from labeling.schema.labels import StoredLabel
from labeling.schema.sameness import bare

TYPED, ACCEPTED, EDITED = "typed", "accepted", "edited"
FIELDS = ("origin", "suggestion")

Label = Mapping[str, Any]
Payload = Mapping[str, Any]
Source = tuple[int, str]
"""A suggestion's number and the uid of one label in it."""
Suggested = Mapping[str, Mapping[Source, Label]]
"""By layer, the suggested labels that an annotator has seen."""


def is_assisted(label: Label) -> bool:
    """
    Examples
    --------
    >>> is_assisted({"title": "Log in"}), is_assisted({"origin": "edited"})
    (False, True)
    """
    return bool(label.get("origin", TYPED) != TYPED)


def claims(payload: Payload) -> bool:
    """Whether any label says where it comes from."""
    return any(
        field in label for labels in payload.values() for label in labels for field in FIELDS
    )


def verified(payload: Payload, *, suggested: Suggested, before: Payload) -> StoredLabels:
    """The payload with the truth about each label's origin.

    Parameters
    ----------
    suggested
        What the annotator has seen; a label taken from anything else is ``typed``.
    before
        What was stored so far: a label that was taken over stays so, whatever the payload claims.

    Returns
    -------
    dict
        ``accepted`` is only what says the same as its suggestion; ``edited`` is the rest of what
        was taken over, also what says so of itself.
    """
    known = {layer.key: layer.name for layer in LAYERS.values()}
    return {
        key: [
            _verified(known[key], label, _earlier(before, key), suggested.get(known[key], {}))
            for label in labels
        ]
        for key, labels in payload.items()
    }


def _earlier(before: Payload, key: str) -> dict[str, Source]:
    named = ((str(label.get("uid")), source_of(label)) for label in before.get(key) or [])
    return {uid: source for uid, source in named if source}


def _verified(
    layer: str, label: Label, earlier: Mapping[str, Source], suggested: Mapping[Source, Label]
) -> StoredLabel:
    source = source_of(label)
    if source not in suggested:
        source = earlier.get(str(label.get("uid")))
    suggestion = suggested.get(source) if source else None
    if source is None or suggestion is None:
        return plain(label) | ({"origin": TYPED} if "origin" in label else {})
    unchanged = label.get("origin") != EDITED and is_same(layer, label, suggestion)
    taken = {"id": source[0], "uid": source[1]}
    return {**label, "origin": ACCEPTED if unchanged else EDITED, "suggestion": taken}


def source_of(label: Label) -> Source | None:
    taken = label.get("suggestion")
    if not isinstance(taken, Mapping) or not {"id", "uid"} <= taken.keys():
        return None
    return int(taken["id"]), str(taken["uid"])


def plain(label: Label) -> StoredLabel:
    """The label without its origin."""
    return {name: value for name, value in label.items() if name not in FIELDS}


def is_same(layer: str, label: Label, other: Label) -> bool:
    """Whether two labels say the same.

    Names say nothing, nor does the order of messages; and what a label refers to is another
    label of the same annotator, which no suggestion can name.

    Examples
    --------
    >>> label = {"uid": "a", "id": "REQ-001", "title": "Log in", "source_messages": [2, 1]}
    >>> other = {**label, "uid": "b", "id": "REQ-007", "source_messages": [1, 2]}
    >>> is_same("extraction", label, other)
    True
    >>> is_same("extraction", label, {**label, "title": "Log out"})
    False
    """
    return all(
        bare(name, label.get(name)) == bare(name, other.get(name))
        for name in _compared_fields(layer)
    )


@cache
def _compared_fields(layer: str) -> tuple[str, ...]:
    return tuple(field["name"] for field in form_fields(layer) if field["widget"] != "references")


def typed(layer: str, payload: Payload) -> StoredLabels:
    """The payload without those labels of the layer that were taken over."""
    key = LAYERS[layer].key
    labels = [label for label in payload.get(key, []) if not is_assisted(label)]
    return {**payload, key: labels}
