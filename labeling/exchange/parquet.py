"""Rows written to a Parquet file as they come, a group at a time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from labeling.conversations.formats.typed_rows import ColumnType

if TYPE_CHECKING:
    import pyarrow

GROUP = 500
"""Rows of one group at most: what is in memory, and what a reader may load alone."""

ENTRIES = 20_000
"""Entries of lists in one group: 500 conversations of 40 messages, or 13 of 1,500."""


class Rows:
    """A file that is open for rows of these columns; the same rows give the same bytes.

    ``says`` is kept in the file as its metadata.
    """

    def __init__(
        self, path: Path, columns: Mapping[str, ColumnType], *, says: Mapping[str, str]
    ) -> None:
        import pyarrow
        from pyarrow import parquet

        self._arrow = pyarrow
        self._schema = pyarrow.schema(
            [(name, _arrow_type(type_)) for name, type_ in columns.items()], metadata=dict(says)
        )
        self._file = parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Mapping[str, Any]] = []
        self._entries = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        if not any(failure):
            self._write()
        self._file.close()

    def add(self, row: Mapping[str, Any]) -> None:
        self._rows.append(row)
        self._entries += sum(len(value) for value in row.values() if isinstance(value, list))
        if len(self._rows) == GROUP or self._entries >= ENTRIES:
            self._write()

    def _write(self) -> None:
        if self._rows:
            self._file.write_table(self._arrow.Table.from_pylist(self._rows, schema=self._schema))
            self._rows.clear()
            self._entries = 0


def _arrow_type(type_: ColumnType) -> pyarrow.DataType:
    import pyarrow

    match type_:
        case [of]:
            return pyarrow.list_(_arrow_type(of))
        case dict():
            return pyarrow.struct([(name, _arrow_type(part)) for name, part in type_.items()])
        case "string":
            return pyarrow.string()
        case "int64":
            return pyarrow.int64()
        case "float64":
            return pyarrow.float64()
    return pyarrow.bool_()
