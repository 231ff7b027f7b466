"""Cells for CSV files that people open in a spreadsheet."""

import csv
import io
from collections.abc import Iterable
from typing import Any

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_cell(value: Any) -> Any:
    """The value, with text that a spreadsheet would run as a formula made plain text.

    Conversations and labels come from strangers; an apostrophe in front keeps
    ``=HYPERLINK(…)`` from being executed. Numbers stay numbers, ``None`` an empty cell.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("＝1+1"), safe_cell("login"), safe_cell(-0.5), safe_cell(None)
    ("'=1+1", "'＝1+1", 'login', -0.5, '')
    """
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value


def csv_line(values: Iterable[Any]) -> str:
    """The one writer of rows: each cell in quotes, or a spreadsheet that separates by ``;`` makes
    a formula of what comes after one.

    Examples
    --------
    >>> csv_line(["x;=1+1", "=1", 0.5, None])
    '"x;=1+1","\'=1","0.5",""\\n'
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow([safe_cell(value) for value in values])
    return buffer.getvalue()


def unsafe_cell(text: str) -> str:
    """What :func:`safe_cell` was given, of a cell that it may have written.

    Examples
    --------
    >>> unsafe_cell("'=1+1"), unsafe_cell("'tis"), unsafe_cell("login")
    ('=1+1', "'tis", 'login')
    """
    return text[1:] if text[:1] == "'" and text[1:].startswith(FORMULA_STARTS) else text
