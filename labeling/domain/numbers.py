"""Numbers in text: those that anybody may have written, and those that a person reads."""

from __future__ import annotations

MOST_DIGITS = 18  # every such number fits a column of either database
MOST_DECIMALS = 9  # nearer figures than these tell apart count as equal everywhere


def whole_number(text: str) -> int | None:
    """``"42"`` as 42; None for anything else, and for more digits than a row's number has.

    Examples
    --------
    >>> whole_number("42"), whole_number("-1"), whole_number("9" * 19)
    (42, None, None)
    """
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def decimals_apart(value: float | None, limit: float, usual: int) -> int:
    """How many decimals show on which side of a limit a value is; the usual ones where they do.

    Examples
    --------
    >>> decimals_apart(0.6018, 0.6, 2), decimals_apart(0.74, 0.6, 2), decimals_apart(0.6, 0.6, 2)
    (3, 2, 2)
    """
    if value is None:
        return usual
    each = range(usual, MOST_DECIMALS + 1)
    return next((n for n in each if round(value, n) != round(limit, n)), usual)
