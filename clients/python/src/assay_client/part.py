"""What every part of the client is: an address, and how to ask it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from assay_client.paging import Rows
from assay_client.transport import Query, Transport

Shape = TypeVar("Shape", bound=BaseModel)


class Part:
    def __init__(self, transport: Transport, root: str = "/api/") -> None:
        self._transport = transport
        self._root = root

    def _path(self, *parts: str | int) -> str:
        """The address below this part; what people named cannot lead elsewhere."""
        return self._root + "".join(f"{quote(str(part), safe='')}/" for part in parts)

    def _rows(
        self, path: str, read: Callable[[Any], Shape], query: Query | None = None
    ) -> Rows[Shape]:
        return Rows(self._transport, path, read, query)


def said(**fields: Any) -> dict[str, Any]:
    """The fields that were given: the server has a default for the others."""
    return {name: value for name, value in fields.items() if value is not None}
