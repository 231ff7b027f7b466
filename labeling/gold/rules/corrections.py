"""Labels of gold that were decided anew, and what their provenance says of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from labeling.domain.canonical import canonical_json
from labeling.gold.rules.content import LabelCorrection, LabelOrigin, Provenance, SourceFile
from labeling.schema import reference_fields
from labeling.schema.labels import StoredLabel

UNSEEN = ("id", "confidence")
"""What may tell gold from a proposal, and says nothing about the conversation."""


def blind(layer: str, label: Mapping[str, Any]) -> StoredLabel:
    """The label as who decides sees it: nothing in its form may tell which side is gold.

    What was written in a form has its messages sorted, no empty fields and other line ends.
    Nested text stays as it is: the words of a span are exactly those of the message.

    Examples
    --------
    >>> blind("extraction", {"title": "A\\r\\nB", "id": "REQ-001", "source_messages": [3, 1]})
    {'source_messages': [1, 3], 'title': 'A\\nB'}
    """
    told = {name: _told(value) for name, value in label.items() if name not in UNSEEN}
    for name in reference_fields(layer):
        if isinstance(uids := told.get(name), list):
            told[name] = sorted(uids)
    filled = {name: value for name, value in told.items() if value not in (None, "", [])}
    seen: StoredLabel = json.loads(canonical_json(_sorted(filled)))
    return seen


def _told(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n")
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return [line.strip() for line in value if line.strip()]
    return value


def _sorted(value: Any) -> Any:
    """With the numbers of messages in order, however deep they are."""
    match value:
        case dict():
            return {name: _sorted(part) for name, part in value.items()}
        case list() if all(isinstance(part, int) for part in value):
            return sorted(value)
        case list():
            return [_sorted(part) for part in value]
    return value


def says(layer: str, label: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether they say the same, whatever their form."""
    return blind(layer, label) == blind(layer, other)


class Correction(NamedTuple):
    """A label that was decided otherwise than gold has it, or a correction of a file.

    ``dispute`` is the number of what was reopened. ``label`` None: the label goes. ``is_new``: gold
    had none. ``decided_by`` are user names.
    """

    dispute: int | None
    layer: str
    uid: str
    label: StoredLabel | None
    is_new: bool
    decided_by: tuple[str, ...]
    reason: str
    release: str
    """The release in which it looked wrong."""
    file: SourceFile | None = None


def changes(
    before: Sequence[StoredLabel], after: Sequence[StoredLabel]
) -> list[tuple[StoredLabel | None, StoredLabel | None]]:
    """The labels that differ, as they were and as they are; None on the side that lacks one.

    >>> changes([{"uid": "a", "x": 1}, {"uid": "b"}], [{"uid": "a", "x": 2}, {"uid": "b"}])
    [({'uid': 'a', 'x': 1}, {'uid': 'a', 'x': 2})]
    """
    old, new = ({str(label["uid"]): label for label in labels} for labels in (before, after))
    return [(old.get(uid), new.get(uid)) for uid in {**old, **new} if old.get(uid) != new.get(uid)]


def has_place(labels: Sequence[Mapping[str, Any]], correction: Correction) -> bool:
    """Whether the labels hold what it corrects; a label to add, or one that went, needs no place.

    >>> gone = Correction(1, "qa", "q", None, False, (), "", "")
    >>> has_place([], gone)
    True
    >>> has_place([], gone._replace(label={"uid": "q"}))
    False
    """
    if correction.is_new or correction.label is None:
        return True
    return any(label.get("uid") == correction.uid for label in labels)


def corrected(labels: Sequence[StoredLabel], correction: Correction) -> list[StoredLabel]:
    """The labels with the corrected one in its place.

    >>> corrected([{"uid": "a"}], Correction(1, "qa", "a", {"uid": "a", "x": 1}, False, (), "", ""))
    [{'uid': 'a', 'x': 1}]
    """
    new = correction.label
    if new is None:
        return [label for label in labels if label.get("uid") != correction.uid]
    if not any(label.get("uid") == correction.uid for label in labels):
        return [*labels, new]
    return [new if label.get("uid") == correction.uid else label for label in labels]


def with_correction(
    provenance: Provenance, correction: Correction, before: StoredLabel | None
) -> Provenance:
    """The provenance that says so: who decided, why, and the label as it was."""
    entry: LabelCorrection = {
        "dispute": correction.dispute,
        "layer": correction.layer,
        "uid": correction.uid,
        "decided_by": list(correction.decided_by),
        "reason": correction.reason,
        "release": correction.release,
        "before": before,
    }
    if correction.file is not None:
        entry["file"] = correction.file
    labels = {uid: row for uid, row in provenance["labels"].items() if uid != correction.uid}
    if correction.label is not None:
        old = provenance["labels"].get(correction.uid)
        origin: LabelOrigin = {**(old or {"by": []}), "how": "disputed"}  # type: ignore[typeddict-item]
        labels[correction.uid] = {**origin, **_found_again(origin, correction.label)}
    earlier = [
        row
        for row in provenance.get("corrections", [])
        if row["dispute"] is None
        or (row["dispute"], row["uid"]) != (correction.dispute, correction.uid)
    ]
    return {**provenance, "labels": labels, "corrections": [*earlier, entry]}


def _found_again(origin: LabelOrigin, label: StoredLabel) -> LabelOrigin:
    """What was unscorable for want of evidence may have some now."""
    if origin.get("unscorable") and label.get("evidence"):
        return {**origin, "unscorable": None}
    return origin
