"""Launching by keyword, as most tests do."""

from __future__ import annotations

from typing import Any

from evaluation.models import Run
from evaluation.services.launch import launch as launching
from labeling.models import GoldRelease


def launch(release: GoldRelease, *, queue: bool = True, **fields: Any) -> Run:
    """Of every item, unless the test names a split."""
    return launching.launch(
        launching.LaunchRequest(release=release, **{"split": "all"} | fields), queue=queue
    )


def estimate(release: GoldRelease, **fields: Any) -> Any:
    return launching.estimate(launching.LaunchRequest(release=release, **fields))
