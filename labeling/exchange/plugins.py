"""What installed packages add, and what of it was refused: for checks and pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from labeling.domain.plugins import Fault, Registry
from labeling.exchange.export import EXPORTERS

Registries = Callable[[], Iterable[Registry[Any]]]

_elsewhere: list[Registries] = []


def register(registries: Registries) -> None:
    """Evaluation does so when it starts: labeling does not know pipelines and metrics."""
    if registries not in _elsewhere:
        _elsewhere.append(registries)


def registries() -> list[Registry[Any]]:
    return [EXPORTERS, *(registry for more in _elsewhere for registry in more())]


def faults() -> list[Fault]:
    return [fault for registry in registries() for fault in registry.faults]
