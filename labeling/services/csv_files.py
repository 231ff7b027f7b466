"""Tables as files, which are sent while they are made."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.http import StreamingHttpResponse

from labeling.domain.csv_cells import safe_row


def csv_file(name: str, rows: Iterable[Sequence[Any]]) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        _lines(rows),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


class _Line:
    """A file that hands back what is written, so that csv can write into a stream."""

    def write(self, line: str) -> str:
        return line


def _lines(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    writer = csv.writer(_Line())
    for row in rows:
        yield writer.writerow(safe_row(row))
