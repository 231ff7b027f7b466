"""Names that look the same to people: in other case, or with letters of another script."""

from __future__ import annotations

from unicodedata import category, normalize

LATIN_FOR = str.maketrans(
    dict(
        zip(
            "авекмнорстухіјѕԁһԛԝӏёїαβεζηικμνορτυχ",
            "abekmhopctyxijsdhqwleiabezhikmnoptyx",
            strict=True,
        )
    )
)
"""Small Cyrillic and Greek letters: the Latin one that they, or their capitals, look like."""


def folded(name: str) -> str:
    """What a name looks like; equal for names that people take for the same.

    Examples
    --------
    >>> folded("ANA") == folded("ana") == folded("аnа")  # the last one with Cyrillic letters
    True
    >>> folded("ana") == folded("ann")
    False
    """
    same_form = normalize("NFKC", name).casefold()
    visible = "".join(sign for sign in same_form if category(sign) != "Cf").strip()
    return " ".join(visible.translate(LATIN_FOR).split())
