"""Numbers in text that anybody may have written: addresses, forms, commands."""

from __future__ import annotations

MOST_DIGITS = 18  # every such number fits a column of either database


def whole_number(text: str) -> int | None:
    """``"42"`` as 42; None for what is no whole number, or is too long to be the number of a row.

    Examples
    --------
    >>> whole_number("42"), whole_number("-1"), whole_number("9" * 19)
    (42, None, None)
    """
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None
