"""What the server answers with: records that have the fields of the API as attributes.

A field that a newer server adds is there, too. ``None`` is undefined; a field next to it says why.
``models.pyi`` says which fields a record has, as the API describes them; nothing is declared here.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import Any

Labels = dict[str, Any]
"""Labels by their key, as in ``{"requirements": […]}``."""

TIMES = {"at", "since", "time", "last_active"}
SECRETS = {"link"}


class Record(dict[str, Any]):
    """An object of an answer, as it came; times are read where they are asked for by attribute."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(f"{type(self).__name__} has no {name}; it has: {', '.join(self)}.")
        value = self[name]
        if isinstance(value, str) and is_time(name):
            with suppress(ValueError):
                return datetime.fromisoformat(value)
        return value

    def __repr__(self) -> str:
        shown = (f"{name}={self[name]!r}" for name in self if name not in SECRETS)
        return f"{type(self).__name__}({', '.join(shown)})"

    def model_dump(self) -> dict[str, Any]:
        """Its fields with their values, times as times."""
        return {name: self.__getattr__(name) for name in self}


def is_time(name: str) -> bool:
    return name in TIMES or name.endswith(("_at", "_since"))


def __getattr__(name: str) -> type[Record]:
    """A record by the name that it has in ``models.pyi``."""
    if name.startswith("_"):
        raise AttributeError(name)
    return _kind(name)


@cache
def _kind(name: str) -> type[Record]:
    return type(name, (Record,), {"__module__": __name__})
