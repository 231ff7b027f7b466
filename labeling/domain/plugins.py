"""What installed packages add by entry points, and why something of them could not be added.

A package is other people's code: nothing that it does when it is loaded may keep Assay from
starting, and what is refused is named with the reason where people look for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from textwrap import shorten
from threading import RLock
from typing import Generic, NamedTuple, TypeVar

from labeling.domain.facts import Fact

T = TypeVar("T")

SLOW = ("torch", "transformers", "sentence_transformers", "sklearn", "pandas", "langgraph")
"""Packages that a web process must not hold: a plug-in imports them when it works."""


class Source(NamedTuple):
    """The installed package that something came from."""

    distribution: str
    version: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"


class Fault(NamedTuple):
    """An entry point that was not taken, and why."""

    group: str
    name: str
    source: Source
    reason: Fact


class PluginRefused(Exception):
    """What an entry point leads to has the wrong shape; ``fact`` says how."""

    def __init__(self, code: str, /, **values: str) -> None:
        self.fact = Fact(code, **values)
        super().__init__(str(self.fact))


@dataclass(frozen=True, slots=True)
class _Loaded(Generic[T]):
    entries: dict[str, T]
    sources: dict[str, Source]
    faults: list[Fault]


class Registry(MutableMapping[str, T]):
    """Ours by name, then those of installed packages, which are loaded when somebody first asks.

    ``check`` gets the name and the object of an entry point, and returns what is registered or
    raises :class:`PluginRefused`.
    """

    def __init__(self, group: str, own: Mapping[str, T], check: Callable[[str, object], T]) -> None:
        self.group = group
        self.own = dict(own)
        """What does not depend on installed packages."""
        self._check = check
        self._loaded: _Loaded[T] | None = None
        self._lock = RLock()

    def __getitem__(self, name: str) -> T:
        return self._all().entries[name]

    def __setitem__(self, name: str, entry: T) -> None:
        self._all().entries[name] = entry

    def __delitem__(self, name: str) -> None:
        del self._all().entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all().entries)

    def __len__(self) -> int:
        return len(self._all().entries)

    def source_of(self, name: str) -> Source | None:
        """The package that the entry came from; None for ours."""
        return self._all().sources.get(name)

    @property
    def faults(self) -> list[Fault]:
        return self._all().faults

    @property
    def added(self) -> dict[str, Source]:
        """The entries of packages, by name."""
        return self._all().sources

    def _all(self) -> _Loaded[T]:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = self._load()
        return self._loaded

    def _load(self) -> _Loaded[T]:
        """In the order of packages and names: which of two gets a name depends on nothing else."""
        loaded: _Loaded[T] = _Loaded(dict(self.own), {}, [])
        for point in sorted(entry_points(group=self.group), key=_place):
            source = _source(point)
            try:
                entry = self._entry(point, loaded)
            except PluginRefused as refused:
                loaded.faults.append(Fault(self.group, point.name, source, refused.fact))
            else:
                loaded.entries[point.name] = entry
                loaded.sources[point.name] = source
        return loaded

    def _entry(self, point: EntryPoint, loaded: _Loaded[T]) -> T:
        if point.name in self.own:
            raise PluginRefused("plugin.name_is_ours", name=point.name)
        if point.name in loaded.sources:
            raise PluginRefused("plugin.name_taken", by=str(loaded.sources[point.name]))
        before = set(sys.modules)
        try:
            found = point.load()
            slow = [name for name in SLOW if name in sys.modules and name not in before]
            if slow:
                raise PluginRefused("plugin.slow_import", module=slow[0])
            return self._check(point.name, found)
        except PluginRefused:
            raise
        except (Exception, SystemExit) as error:  # anything may happen in other people's code
            raise PluginRefused("plugin.cannot_load", text=said(error)) from error


def said(error: BaseException) -> str:
    """An error of other people's code may be unable even to say what it is about."""
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception:
        text = type(error).__name__
    return shorten(text, 300, placeholder="…")


def _place(point: EntryPoint) -> tuple[str, str]:
    return _source(point).distribution, point.name


def _source(point: EntryPoint) -> Source:
    if point.dist is None:
        return Source("", "")
    return Source(point.dist.name, point.dist.version)
