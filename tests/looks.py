"""Tests of what is behind the page in between: the person has said why they look."""

from __future__ import annotations

from typing import Any

from labeling.gold import looks
from labeling.gold.looks import Sight
from labeling.models import GoldRelease, Look

WHY = "A test of what comes after the question."


def say_why(release: GoldRelease, *people: Any, purposes: tuple[str, ...] = ()) -> None:
    """For every purpose, unless some are named."""
    for person in people:
        for purpose in purposes or Look.Purpose.values:
            looks.state(person, [release], Sight(purpose), WHY)
