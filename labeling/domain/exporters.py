"""Formats of gold that installed packages add, see ``templates/docs/plug-ins.md``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from labeling.domain.plugins import PluginRefused
from labeling.gold.rules.content import GoldContent

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
"""It is part of addresses, of file names and of commands."""


@dataclass(frozen=True, slots=True)
class GoldToExport:
    """A release as an exporter reads it."""

    name: str
    version: int
    layer: str
    sha256: str
    license: str
    """What was said about the licence; mostly empty."""
    items: Iterable[GoldContent]
    """In the order of the release; read from the database each time they are gone through."""


@dataclass(frozen=True, slots=True)
class Exporter:
    """A format: ``write`` puts files into an empty folder; the same gold, the same bytes."""

    name: str
    title: str
    write: Callable[[GoldToExport, Path], object]
    layers: frozenset[str] = frozenset()
    """The layers that it has a place for; empty: all."""


def check(name: str, found: object) -> Exporter:
    """What an entry point of the group ``assay.exporters`` must lead to."""
    if not isinstance(found, Exporter):
        raise PluginRefused("plugin.wrong_type", wanted="Exporter", type=type(found).__name__)
    if found.name != name or not NAME.fullmatch(name):
        raise PluginRefused("plugin.wrong_name", name=str(found.name))
    if not isinstance(found.title, str) or not found.title.strip():
        raise PluginRefused("plugin.no_title")
    if not callable(found.write):
        raise PluginRefused("plugin.not_callable", field="write")
    if not isinstance(found.layers, frozenset):
        raise PluginRefused("plugin.layers", layers=repr(found.layers))
    return found
