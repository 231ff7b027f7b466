"""Texts that contain what somebody searches for, however its letters are written."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from unicodedata import normalize

from django.db.models import Q

MARKS = re.compile("[\u0300-\u036f\u3099\u309a]")
"""Accents, and the voicing marks of Japanese, which stand behind the letter that they change."""
SAME = {
    "'": "'’‘‚‛′´`",
    '"': '"“”„‟″«»',
    " ": " \u00a0\u202f",
    "-": "-‐‑–—−",
}
"""What keyboards have, and what texts have in its place."""


def containing(field: str, text: str) -> Q:
    """In capitals or not, with or without accents, with any quotation marks."""
    is_plain = text.isascii() and not any(sign.isalpha() or sign in SAME for sign in text)
    return Q(
        **{f"{field}__icontains": text} if is_plain else {f"{field}__iregex": pattern_of(text)}
    )


def pattern_of(text: str) -> str:
    """For either database. A quotation mark may be escaped, as it is in JSON.

    Examples
    --------
    >>> found = re.compile(pattern_of("d'ete"), re.I)
    >>> [bool(found.search(text)) for text in ("l’air d’été", "D'E\u0301TE\u0301", "dete")]
    [True, True, False]
    """
    return "".join(map(_pattern, folded(text)))


def folded(text: str) -> str:
    """The letters alone, small and with plain quotation marks."""
    plain = normalize("NFC", MARKS.sub("", normalize("NFD", text))).lower()
    return "".join(_keys().get(sign, sign) for sign in plain)


def _pattern(sign: str) -> str:
    if len(parts := normalize("NFD", sign)) > 1:  # Hangul, which no accent makes
        return f"(?:{sign}|{parts})"
    signs = SAME.get(sign) or sign + "".join(_accented().get(sign, ()))
    one = f"[{re.escape(signs)}]" if len(signs) > 1 else re.escape(sign)
    return (r"\\?" if sign == '"' else "") + one + (f"{MARKS.pattern}*" if sign.isalpha() else "")


@cache
def _keys() -> dict[str, str]:
    return {sign: key for key, signs in SAME.items() for sign in signs}


@cache
def _accented() -> dict[str, list[str]]:
    """By letter, the letters of one sign that are it with an accent."""
    letters = defaultdict(list)
    for sign in map(chr, (*range(0xC0, 0xD800), *range(0xF900, 0x10000))):
        plain = normalize("NFC", MARKS.sub("", normalize("NFD", sign))).lower()
        if len(plain) == 1 and plain != sign.lower():
            letters[plain].append(sign)
    return letters
