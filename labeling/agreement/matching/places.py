"""Where in the conversation a label of any layer belongs."""

from collections.abc import Iterator, Mapping
from typing import Any

Label = Mapping[str, Any]


def cited_by(label: Label) -> Iterator[int]:
    """Every message that the label links as a whole, its phases included.

    Examples
    --------
    >>> list(cited_by({"phases": [{"evidence": [4, 2]}, {"evidence": [7]}]}))
    [4, 2, 7]
    """
    yield from label.get("source_messages") or label.get("evidence") or []
    for phase in label.get("phases") or []:
        yield from phase.get("evidence") or []


def first_place(label: Label) -> tuple[int, int]:
    """The first message that it cites or quotes, and where in it; (0, 0) if it does neither.

    Examples
    --------
    >>> first_place({"trigger": {"message": 3, "start": 8}}), first_place({"evidence": [5, 2]})
    ((3, 8), (2, 0))
    """
    trigger = label.get("trigger") or {}
    if "message" in trigger:
        return int(trigger["message"]), int(trigger.get("start") or 0)
    return min(cited_by(label), default=0), 0
