"""Tables as files, which are sent while they are made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.http import StreamingHttpResponse

from labeling.domain.csv_cells import csv_line


def csv_file(name: str, rows: Iterable[Sequence[Any]]) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        map(csv_line, rows),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )
