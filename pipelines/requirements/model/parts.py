"""A long conversation is read in parts, and what a later part changes of an earlier one is merged.

Parts overlap, so that an answer is read together with its question. Each is read with the list of
the requirements that stood before it: it adds to them, repeats, corrects or ends them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.requirements.config import PartsConfig
from pipelines.requirements.extraction.discourse import client_messages
from pipelines.requirements.labels import Requirement
from pipelines.types import Message

CORRECTED = ("title", "action", "condition", "acceptance_criteria")
"""What a correction may say anew; an empty value leaves what was said before."""
ENDED = ("withdrawn", "refused")
MOST_OVERLAP = 3
"""An overlap takes at most this part of a part, however long its messages are."""


def parts_of(messages: Sequence[Message], config: PartsConfig) -> list[Sequence[Message]]:
    """Each message is in one part or more, and every part has one that no earlier part has."""
    parts: list[Sequence[Message]] = []
    start = read = 0
    while read < len(messages):
        end = _end(messages, start, after=read, most=config.part_characters)
        parts.append(messages[start:end])
        read = end
        start = _overlap(messages, end, config)
    return parts


def _end(messages: Sequence[Message], start: int, *, after: int, most: int) -> int:
    size, end = 0, start
    while end < len(messages):
        size += len(messages[end].content)
        if end > after and size > most:
            break
        end += 1
    return end


def _overlap(messages: Sequence[Message], end: int, config: PartsConfig) -> int:
    """Where the part after ``end`` begins."""
    size, start = 0, end
    while end - start < config.overlap_messages:
        size += len(messages[start - 1].content)
        if start == 0 or size > config.part_characters / MOST_OVERLAP:
            break
        start -= 1
    return start


class Standing:
    """The requirements that hold after the parts that were read, under their handles."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._by_ref: dict[str, Requirement] = {}
        self._last = 0
        self._clients = client_messages(messages)
        self.changes: Counter[str] = Counter()

    @property
    def by_ref(self) -> Mapping[str, Requirement]:
        return self._by_ref

    def take(self, requirements: Sequence[Mapping[str, Any]], changes: Sequence[Any]) -> None:
        """What one part says: first of what stood before it, then what it adds."""
        for change in changes:
            self._change(change)
        for requirement in requirements:
            self._add(requirement)

    def _change(self, change: Mapping[str, Any]) -> None:
        """Of several changes to one requirement, those after its end change nothing."""
        before = self._by_ref.get(change["ref"])
        if before is None:
            return
        self.changes[change["change"]] += 1
        if change["change"] in ENDED:
            del self._by_ref[change["ref"]]
            return
        new = {field: change[field] for field in CORRECTED if change[field]}
        corrected = new if change["change"] == "corrected" else {}
        self._put(change["ref"], _with_sources({**before, **corrected}, change["messages"]))  # type: ignore[typeddict-item]

    def _add(self, requirement: Mapping[str, Any]) -> None:
        """What an analyst put forward counts only with the client's yes."""
        fields = dict(requirement)
        how, accepted = fields.pop("how"), fields.pop("accepted_in")
        if how != "stated":
            if accepted not in self._clients:
                self.changes["unaccepted"] += 1
                return
            fields["source_messages"] = [*fields["source_messages"], accepted]
        self._put("", _with_sources(fields, []))  # type: ignore[arg-type]

    def _put(self, ref: str, new: Requirement) -> None:
        """Under its handle or a new one; what stands in the same words is the same."""
        twin = next(
            (other for other, label in self._by_ref.items() if other != ref and _same(label, new)),
            None,
        )
        if twin is not None:
            self.changes["repeated"] += 1
            self._by_ref[twin] = _with_sources(self._by_ref[twin], new["source_messages"])
            self._by_ref.pop(ref, None)
            return
        if not ref:
            self._last += 1
            ref = f"S{self._last}"
        self._by_ref[ref] = new


def _with_sources(label: Requirement, more: Sequence[int]) -> Requirement:
    return {**label, "source_messages": sorted({*label["source_messages"], *more})}


def _same(one: Requirement, other: Requirement) -> bool:
    """Said twice in the overlap of two parts, or by an analyst's summary, in the same words."""
    return _words(one) == _words(other)


def _words(label: Requirement) -> list[str]:
    return f"{label['actor']} {label['action']} {label['condition'] or ''}".casefold().split()
