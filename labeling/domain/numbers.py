"""Numbers in text: those that anybody may have written, and those that a person reads."""

from __future__ import annotations

import re

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


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Sorts names by the numbers in them.

    Examples
    --------
    >>> sorted(["Chat_10", "Chat_9", "Chat"], key=natural_key)
    ['Chat', 'Chat_9', 'Chat_10']
    """
    parts = [part for part in re.split(r"(\d{1,18})", text) if part]
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def natural_bytes(text: str) -> bytes:
    """The same order for what compares bytes.

    Examples
    --------
    >>> sorted(["Chat_10", "Chat_9", "Chat"], key=natural_bytes)
    ['Chat', 'Chat_9', 'Chat_10']
    """
    parts = natural_key(text)
    return b"".join(b"1%b\0" % part.encode() if kind else b"0%018d" % n for kind, n, part in parts)
