"""The people in an item's provenance: under pseudonyms in what is frozen, by name for leads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from labeling.agreement.matching.consensus import Dissent
from labeling.gold.rules.content import (
    AnsweredBy,
    Decided,
    LabelCorrection,
    LabelOrigin,
    Provenance,
    SkippedBy,
)

PREFIX = "annotator-"
PSEUDONYMS = "pseudonyms"
"""What ``people`` of a provenance says where its names are pseudonyms."""

_OF_FIGURES = frozenset({"a", "b", "annotator"})
"""The keys of agreement that hold a name, also within the values of a reason."""

Value = TypeVar("Value")
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

    Labels that were exported under pseudonyms come back as accounts of these names: each keeps its
    number where that is free, so that the same labels give the same items.

    Examples
    --------
    >>> numbered(["cleo", "ana", "ben"], {"ben": 1})
    {'ana': 2, 'cleo': 3}
    >>> numbered(["annotator-2", "annotator-10", "ana"], {})
    {'annotator-2': 2, 'annotator-10': 10, 'ana': 1}
    """
    new = sorted({*names} - taken.keys())
    used = {*taken.values()}
    numbers: dict[str, int] = {}
    for name in sorted(new, key=lambda name: (number_of(name) is None, number_of(name) or 0)):
        number = number_of(name)
        if number is not None and number not in used:
            numbers[name] = number
            used.add(number)
    free = 1
    for name in new:
        if name not in numbers:
            while free in used:
                free += 1
            numbers[name] = free
            used.add(free)
    return numbers


def with_pseudonyms(provenance: Provenance, pseudonyms: Mapping[str, str]) -> Provenance:
    """Lists are in the order of the pseudonyms: that of the names would give them away."""
    renamed = _renamed(provenance, pseudonyms.__getitem__)
    return cast(Provenance, {**renamed, "people": PSEUDONYMS})


def with_names(provenance: Provenance, names: Mapping[str, str]) -> Provenance:
    """``names`` is by pseudonym; who is not in it keeps theirs, and names stay as they are."""
    if provenance.get("people") != PSEUDONYMS or not names:
        return provenance
    renamed = _renamed(provenance, lambda name: names.get(name, name))
    return cast(Provenance, {key: value for key, value in renamed.items() if key != "people"})


def deciders_with_names(row: LabelCorrection, names: Mapping[str, str]) -> LabelCorrection:
    """``names`` is by pseudonym."""
    return _corrected(row, lambda name: names.get(name, name))


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


def _renamed(provenance: Provenance, rename: Rename) -> dict[str, Any]:
    renamed: dict[str, Any] = {
        **_decided(provenance, rename),
        "labels": {uid: _origin(row, rename) for uid, row in provenance["labels"].items()},
        "annotators": _sorted([_answered(row, rename) for row in provenance["annotators"]]),
        "skipped": _sorted([_skipped(row, rename) for row in provenance["skipped"]]),
    }
    if "corrections" in provenance:
        renamed["corrections"] = [_corrected(row, rename) for row in provenance["corrections"]]
    if "stages" in provenance:
        stages = provenance["stages"].items()
        renamed["stages"] = {layer: _decided(stage, rename) for layer, stage in stages}
    return renamed


def _corrected(row: LabelCorrection, rename: Rename) -> LabelCorrection:
    return {**row, "decided_by": _in_order(map(rename, row["decided_by"]))}


def _decided(decided: Decided | Provenance, rename: Rename) -> dict[str, Any]:
    renamed: dict[str, Any] = {**decided}
    if by := decided["adjudicated_by"]:
        renamed["adjudicated_by"] = ", ".join(_in_order(rename(name) for name in by.split(", ")))
    if "accepted_by" in decided:
        renamed["accepted_by"] = rename(decided["accepted_by"])
    for key in ("answers", "without_reference"):
        if key in decided:
            renamed[key] = _keys(renamed[key], rename)
    return renamed


def _origin(origin: LabelOrigin, rename: Rename) -> LabelOrigin:
    renamed: LabelOrigin = {**origin, "by": _in_order(map(rename, origin["by"]))}
    if "uids" in origin:
        renamed["uids"] = _keys(origin["uids"], rename)
    if "origins" in origin:
        renamed["origins"] = _keys(origin["origins"], rename)
    if "dissent" in origin:
        dissent = [_dissent(row, rename) for row in origin["dissent"]]
        renamed["dissent"] = sorted(dissent, key=lambda row: _place(row["annotator"]))
    if "fields" in origin:
        fields = origin["fields"].items()
        renamed["fields"] = {field: _in_order(map(rename, by)) for field, by in fields}
    if "phases" in origin:
        renamed["phases"] = {uid: _origin(row, rename) for uid, row in origin["phases"].items()}
    return renamed


def _dissent(row: Dissent, rename: Rename) -> Dissent:
    return {**row, "annotator": rename(row["annotator"])}


def _answered(row: AnsweredBy, rename: Rename) -> AnsweredBy:
    renamed: AnsweredBy = {**row, "username": rename(row["username"])}
    if "fixed_by" in row:
        renamed["fixed_by"] = rename(row["fixed_by"])
    return renamed


def _skipped(row: SkippedBy, rename: Rename) -> SkippedBy:
    return {**row, "username": rename(row["username"])}


Person = TypeVar("Person", AnsweredBy, SkippedBy)


def _sorted(rows: Sequence[Person]) -> list[Person]:
    return sorted(rows, key=lambda row: _place(row["username"]))


def _keys(by_name: Mapping[str, Value], rename: Rename) -> dict[str, Value]:
    return {rename(name): value for name, value in by_name.items()}


def _in_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=_place)


def _place(name: str) -> tuple[int, str]:
    """Pseudonyms by their number, which sorts annotator-2 before annotator-10; then names."""
    number = number_of(name)
    return (number or 1_000_000, name)
