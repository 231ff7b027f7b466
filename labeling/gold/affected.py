"""Who measured on items of gold that have changed since: other parts of the product know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from django.contrib.auth.models import AnonymousUser, User

from labeling.models import GoldRelease


class AffectedRun(NamedTuple):
    """``cases`` of its ``total`` cases are about such items."""

    title: str
    url: str
    cases: int
    total: int


Viewer = User | AnonymousUser | None
"""None is the operator of the server, who sees everything."""

Finder = Callable[[GoldRelease, Sequence[int], Viewer], list[AffectedRun]]
"""Those on the release with cases about these items, by the keys of the items."""

_finders: list[Finder] = []


def register(finder: Finder) -> None:
    """Evaluation does so when it starts: labeling does not know it."""
    if finder not in _finders:
        _finders.append(finder)


def runs(release: GoldRelease, items: Sequence[int], *, viewer: Viewer) -> list[AffectedRun]:
    if not items:
        return []
    return [run for finder in _finders for run in finder(release, items, viewer)]
