"""Tests of what is behind the page in between: the person has said why they look."""

from __future__ import annotations

from typing import Any

from labeling.models import GoldRelease, Look
from labeling.services.gold import looks
from labeling.services.gold.looks import Sight

WHY = "A test of what comes after the question."


def say_why(release: GoldRelease, *people: Any, purposes: tuple[str, ...] = ()) -> None:
    """For every purpose, unless some are named."""
    for person in people:
        for purpose in purposes or Look.Purpose.values:
            looks.state(person, [release], Sight(purpose), WHY)
