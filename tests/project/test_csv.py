"""Cells from strangers reach spreadsheets through one writer, whatever the door."""

from __future__ import annotations

import re

from config.env import ROOT

OTHER_WRITERS = re.compile(r"csv\.(writer|DictWriter)\b|\.to_csv\(|\bwriterows?\(")
THE_WRITER = "labeling/domain/csv_cells.py"


def test_no_table_is_written_but_by_the_writer_that_quotes_every_cell() -> None:
    writers = {
        path.relative_to(ROOT).as_posix()
        for top in ("labeling", "evaluation", "pipelines", "config")
        for path in (ROOT / top).rglob("*.py")
        if OTHER_WRITERS.search(path.read_text(encoding="utf-8"))
    }

    assert writers == {THE_WRITER}
