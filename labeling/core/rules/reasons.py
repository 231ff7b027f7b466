"""What people write because they have to: it must be something that another can read."""

from __future__ import annotations

from unicodedata import category

UNSEEN = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and signs by their category that show nothing."""


def reason_in(text: str) -> str:
    """The text without the space around it; empty where nothing of it can be seen.

    Examples
    --------
    >>> reason_in(" because "), reason_in("\\u200b \\ufeff\\xad")
    ('because', '')
    """
    return text.strip() if any(map(_is_seen, text)) else ""


def _is_seen(character: str) -> bool:
    """Not control and format characters, space, and marks without the letter they belong to.

    What has no category yet may be newer than this Python: a new emoji is seen.
    """
    kind = category(character)
    return kind not in ("Cc", "Cf", "Cs") and kind[0] not in "MZ" and character not in UNSEEN
