"""What a token for programs may be used for: each scope opens one area of the API."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum


class Scope(StrEnum):
    READ = "read"
    """Everything that its owner may read."""
    LABEL = "label"
    """The owner's work: the queue, answers, calibration."""
    LEAD = "lead"
    """Projects: members, conversations, guidelines, rounds, reviews, decisions."""
    GOLD = "gold"
    """Releases: freezing, lint, reopened items, looks at test items."""
    RUNS = "runs"
    """Runs, gates and judges."""


ALL = tuple(Scope)


def allows(held: Collection[str] | None, needed: Collection[Scope]) -> bool:
    """Whether any of the ``needed`` scopes is held. ``None``: a token from before there were any.

    Examples
    --------
    >>> allows(["read", "runs"], [Scope.LABEL, Scope.READ])
    True
    >>> allows(["read"], [Scope.LEAD]), allows(None, [Scope.LEAD])
    (False, True)
    """
    return held is None or any(scope in held for scope in needed)
