"""Training must not read what is kept for testing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from labeling.domain.fingerprints import fingerprint, is_same

TEST = "test"


class TrainingText(NamedTuple):
    """A conversation as a line of a file has it."""

    name: str
    split: str
    texts: Sequence[str]


class TestItems(Exception):
    """Somebody wants to train on a test conversation. The sentence says on which."""

    __test__ = False  # pytest collects what is called so


def same_conversation(one: Iterable[str], other: Iterable[str]) -> bool:
    """By their words, whatever they are called."""
    return is_same(fingerprint(one), fingerprint(other))


def refuse_test_items(
    training: Iterable[TrainingText], *, kept_back: Iterable[TrainingText] = ()
) -> None:
    """Of the split test, or the same conversation as one that is, whatever it is called.

    Raises
    ------
    TestItems
        With the names of those that must not be trained on.
    """
    lines = list(training)
    tests = [
        (line.name, fingerprint(line.texts)) for line in (*lines, *kept_back) if line.split == TEST
    ]
    refused = []
    for line in lines:
        if line.split == TEST:
            refused.append(f"{line.name} is of the split test")
            continue
        known = fingerprint(line.texts)
        copies = [name for name, other in tests if is_same(known, other)]
        if copies:
            refused.append(f"{line.name} is the same conversation as {copies[0]} of the split test")
    if refused:
        raise TestItems(
            f"Nothing was trained: {'; '.join(refused)}. Export items of train and dev alone."
        )
