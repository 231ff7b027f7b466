"""Places in a text: browsers count UTF-16 code units, Assay and Python count code points."""

from __future__ import annotations

from labeling.conversations.formats.answers import Unreadable
from labeling.domain.msgids import msgid


def to_utf16(text: str, offset: int) -> int:
    """How many UTF-16 code units come before the code point at ``offset``.

    Examples
    --------
    >>> to_utf16("a😀b", 2)
    3
    """
    return len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2


def from_utf16(text: str, offset: int) -> int:
    """The code point at which ``offset`` UTF-16 code units have passed.

    Examples
    --------
    >>> from_utf16("a😀b", 3)
    2
    """
    units = text.encode("utf-16-le", "surrogatepass")
    if not 0 <= offset * 2 <= len(units):
        raise Unreadable(msgid("offset {offset:d} lies outside of the text"), offset=offset)
    try:
        return len(units[: offset * 2].decode("utf-16-le"))
    except UnicodeDecodeError:
        raise Unreadable(
            msgid("offset {offset:d} lies inside of a character"), offset=offset
        ) from None
