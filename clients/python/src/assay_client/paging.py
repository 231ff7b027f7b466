"""Lists that the server gives a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import parse_qs, urlsplit

from assay_client.models import Record
from assay_client.transport import Query, Transport

if TYPE_CHECKING:
    import pandas

Row = TypeVar("Row", bound=Record)


class Rows(Generic[Row]):
    """A list that asks for its pages as it is read, every time it is read.

    Read it in a loop, by ``list(rows)``, by ``rows.first(20)`` or by ``rows.to_pandas()``.
    """

    def __init__(
        self, transport: Transport, path: str, read: Callable[[Any], Row], query: Query | None
    ) -> None:
        self._transport = transport
        self._path = path
        self._read = read
        self._query = query

    def __iter__(self) -> Iterator[Row]:
        query = self._query
        while True:
            page = self._transport.get(self._path, query)
            yield from map(self._read, page["results"])
            if page["next"] is None:
                return
            # only what comes after the question mark: the token goes to no other address
            query = parse_qs(urlsplit(page["next"]).query)

    def first(self, number: int) -> list[Row]:
        """The first ``number`` rows, with no more requests than these need."""
        return list(islice(self, number))

    def to_pandas(self) -> pandas.DataFrame:
        """All rows as a table, a column for each field. Needs ``assay-client[pandas]``."""
        return to_pandas(self)

    def __repr__(self) -> str:
        return f"<Rows of {self._path}>"


def to_pandas(rows: Iterable[Record]) -> pandas.DataFrame:
    """A table of rows, a column for each field. Needs ``assay-client[pandas]``."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("Tables need pandas: install assay-client[pandas].") from error
    return pandas.DataFrame([row.model_dump() for row in rows])
