"""What every part of the client is: an address, and how to ask it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

from assay_client.models import Record
from assay_client.paging import Rows
from assay_client.transport import Query, Transport, Upload

Kind = TypeVar("Kind", bound=Record)
Parts = Sequence[object] | str
"""Where something is below a part: one word, or several."""


class Part:
    def __init__(self, transport: Transport, root: str = "/api/") -> None:
        self._transport = transport
        self._root = root

    @property
    def _top(self) -> Part:
        return Part(self._transport)

    def _path(self, *parts: object) -> str:
        """The address below this part; what people named cannot lead elsewhere."""
        return self._root + "".join(f"{quote(str(part), safe='')}/" for part in parts)

    def _rows(self, kind: type[Kind], at: Parts, /, **query: Any) -> Rows[Kind]:
        return Rows(self._transport, self._at(at), self._read(kind), said(**query))

    def _get(self, kind: type[Kind], at: Parts, query: Query | None = None) -> Kind:
        return self._read(kind)(self._transport.get(self._at(at), query))

    def _post(
        self, kind: type[Kind], at: Parts, body: object = None, *, again: bool = False
    ) -> Kind:
        return self._read(kind)(self._transport.post(self._at(at), body, again=again))

    def _put(self, kind: type[Kind], at: Parts, body: object) -> Kind:
        return self._read(kind)(self._transport.put(self._at(at), body))

    def _upload(
        self, kind: type[Kind], at: Parts, files: Sequence[Upload], fields: Mapping[str, str]
    ) -> Kind:
        return self._read(kind)(self._transport.upload(self._at(at), files, fields))

    def _at(self, at: Parts) -> str:
        return self._path(*([at] if isinstance(at, str) else at))

    def _read(self, kind: type[Kind]) -> Callable[[Any], Kind]:
        """What makes a record of an answer: of those that act, one that knows the way."""

        def read(answer: Mapping[str, Any]) -> Kind:
            record = kind(answer)
            record.__dict__["_part"] = self
            return record

        return read


def said(**fields: Any) -> dict[str, Any]:
    """The fields that were given: the server has a default for the others."""
    return {name: value for name, value in fields.items() if value is not None}
