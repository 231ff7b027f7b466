"""Pipelines and metrics of installed packages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evaluation.metrics.registry import METRICS
from labeling.domain.plugins import Fault, Registry
from labeling.exchange import plugins
from pipelines.registry import PIPELINES


def _registries() -> Iterable[Registry[Any]]:
    return PIPELINES, METRICS


def register() -> None:
    plugins.register(_registries)


def faults() -> list[Fault]:
    """What somebody who launches a run may look for in vain."""
    return [*PIPELINES.faults, *METRICS.faults]
