"""The kinds of notes on the wording of a label that its writer gets, and whom nobody helps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from labeling.domain.msgids import msgid

KINDS: dict[str, str] = {
    "noun_phrase": msgid("A title that is not a noun phrase"),
    "one_actor": msgid("Several actors, or none that is specific"),
    "modal": msgid("“should” or “could” in an action"),
    "vague": msgid("A vague word in an action"),
    "two_actions": msgid("Two actions in one label"),
    "untestable": msgid("A criterion that no test can tell"),
    "repeated": msgid("A title or criterion that another label has"),
    "unsure": msgid("A low confidence without a rationale"),
}
"""By their codes, as a lead switches them on and off."""


class Hint(NamedTuple):
    """One note: at which field of which label; ``words`` are those it is about."""

    uid: str
    field: str
    kind: str
    words: str


Detector = Callable[[Sequence[Mapping[str, Any]]], Sequence[Hint]]
"""What looks at the labels of one layer of one answer."""
