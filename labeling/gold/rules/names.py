"""The people in an item's provenance: under pseudonyms in what is frozen, by name for leads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any, TypeVar, cast

from labeling.gold.rules.content import Provenance

PREFIX = "annotator-"
PSEUDONYMS = "pseudonyms"
"""What ``people`` of a provenance says where its names are pseudonyms."""

_OF_FIGURES = frozenset({"a", "b", "annotator"})
"""The keys of agreement that hold a name, also within the values of a reason."""

Rename = Callable[[str], str]


def pseudonym(number: int) -> str:
    return f"{PREFIX}{number}"


def number_of(name: str) -> int | None:
    """The number of a pseudonym, or of an account that is called like one.

    Examples
    --------
    >>> number_of("annotator-12"), number_of("annotator-012"), number_of("ana")
    (12, None, None)
    """
    digits = name.removeprefix(PREFIX)
    is_one = name != digits and digits.isascii() and digits.isdigit() and digits[0] != "0"
    return int(digits) if is_one and len(digits) <= 6 else None


def numbered(names: Iterable[str], taken: Mapping[str, int]) -> dict[str, int]:
    """A number for everybody who has none, in the order of their names.

    Examples
    --------
    >>> numbered(["cleo", "ana", "ben"], {"ben": 1})
    {'ana': 2, 'cleo': 3}
    """
    free = (number for number in count(1) if number not in taken.values())
    return dict(zip(sorted({*names} - taken.keys()), free, strict=False))


def with_pseudonyms(provenance: Provenance, pseudonyms: Mapping[str, str]) -> Provenance:
    """Lists are in the order of the pseudonyms: that of the names would give them away."""
    renamed = _row(provenance, pseudonyms.__getitem__)
    return cast(Provenance, {**renamed, "people": PSEUDONYMS})


def with_names(provenance: Provenance, names: Mapping[str, str]) -> Provenance:
    """``names`` is by pseudonym; who is not in it keeps theirs, and names stay as they are."""
    if provenance.get("people") != PSEUDONYMS or not names:
        return provenance
    renamed = _row(provenance, lambda name: names.get(name, name))
    return cast(Provenance, {key: value for key, value in renamed.items() if key != "people"})


Figures = TypeVar("Figures")


def in_figures(figures: Figures, names: Mapping[str, str]) -> Figures:
    """Figures of agreement, and the reasons in them, with other names for the people they name.

    Examples
    --------
    >>> in_figures({"pairs": [{"a": "ana", "b": "ben", "n": 4}]}, {"ana": "annotator-1"})
    {'pairs': [{'a': 'annotator-1', 'b': 'ben', 'n': 4}]}
    """
    if isinstance(figures, list):
        return cast(Figures, [in_figures(value, names) for value in figures])
    if not isinstance(figures, dict):
        return figures
    named = {
        key: names.get(value, value)
        if key in _OF_FIGURES and isinstance(value, str)
        else in_figures(value, names)
        for key, value in figures.items()
    }
    return cast(Figures, named)


def _row(row: Mapping[str, Any], rename: Rename) -> dict[str, Any]:
    """A part of provenance with other names."""
    return {key: _value(key, value, rename) for key, value in row.items()}


def _value(key: str, value: Any, rename: Rename) -> Any:
    """How names stand under each key of provenance; other keys hold none."""
    match key:
        case "username" | "annotator" | "accepted_by" | "fixed_by":
            return rename(value)
        case "adjudicated_by":
            return value and ", ".join(_in_order(map(rename, value.split(", "))))
        case "by" | "decided_by":
            return _in_order(map(rename, value))
        case "fields":
            return {field: _in_order(map(rename, names)) for field, names in value.items()}
        case "answers" | "without_reference" | "uids" | "origins":
            return {rename(name): row for name, row in value.items()}
        case "labels" | "phases" | "stages":
            return {name: _row(row, rename) for name, row in value.items()}
        case "corrections":
            return [_row(row, rename) for row in value]
        case "annotators" | "skipped" | "dissent":
            rows = [_row(row, rename) for row in value]
            return sorted(rows, key=lambda row: _place(row.get("username") or row["annotator"]))
    return value


def _in_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=_place)


def _place(name: str) -> tuple[int, str]:
    """Pseudonyms by their number, which sorts annotator-2 before annotator-10; then names."""
    number = number_of(name)
    return (number or 1_000_000, name)
