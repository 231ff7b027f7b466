"""Which chats are for training and which are kept back, by the number in the file's name."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from labeling.domain.errors import RuleError
from labeling.domain.msgids import msgid


class BadSplits(RuleError, code="bad_splits"):
    """The ranges of chats overlap, or cannot be read."""


class Splits(NamedTuple):
    """The numbers of each split."""

    ranges: Mapping[str, frozenset[int]]

    def of(self, number: int | None) -> str:
        """The split of a chat; empty when no range holds it."""
        return next((name for name, numbers in self.ranges.items() if number in numbers), "")


def read_splits(texts: Mapping[str, str]) -> Splits:
    """Read ranges such as ``1-7`` or ``1-4,6`` by split; a number may be in one split only.

    Examples
    --------
    >>> read_splits({"train": "1-7", "test": "8-10"}).of(8)
    'test'
    >>> read_splits({"train": "1-8", "test": "8-10"})
    Traceback (most recent call last):
        ...
    labeling.conversations.published.splits.BadSplits: splits.chat_in_two chat=8 first=train second=test
    """  # noqa: E501
    ranges: dict[str, frozenset[int]] = {}
    for name, text in texts.items():
        numbers = frozenset(_numbers(name, text))
        for other, taken in ranges.items():
            if both := sorted(numbers & taken):
                raise BadSplits(
                    "splits.chat_in_two",
                    chat=both[0],
                    first=other,
                    second=name,
                    details={"numbers": both},
                )
        ranges[name] = numbers
    return Splits(ranges)


def _numbers(name: str, text: str) -> list[int]:
    numbers: list[int] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(r"(\d{1,4})(?:\s*-\s*(\d{1,4}))?", part)
        first = int(match[1]) if match else 1
        last = int(match[2] or first) if match else 0
        if last < first:
            raise BadSplits(
                msgid("The range “{range}” of {split} cannot be read: write it like 1-7."),
                range=part,
                split=name,
            )
        numbers += range(first, last + 1)
    return numbers
