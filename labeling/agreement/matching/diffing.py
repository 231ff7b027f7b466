"""What differs between two versions of an answer: by label and field, never by position."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple

Payload = Mapping[str, Any]
Label = Mapping[str, Any]

NAMES = {"uid", "id"}  # they say which label it is


class Part(NamedTuple):
    """A piece of a text: in both versions, or only in one."""

    kind: Literal["same", "removed", "added"]
    text: str


class FieldChange(NamedTuple):
    """One field of a label with both values."""

    name: str
    before: Any
    after: Any


class LabelChange(NamedTuple):
    """A label that only one version has, or that has other fields in the other one.

    ``label`` is the label itself, as it is in the newer of the versions that have it.
    """

    kind: Literal["added", "removed", "changed"]
    layer_key: str
    uid: str
    label: Label
    fields: list[FieldChange]


def difference(before: Payload, after: Payload) -> list[LabelChange]:
    """Everything that two versions do not share. Labels are the same when they have the same uid.

    Examples
    --------
    >>> old, new = {"uid": "a", "title": "Log in"}, {"uid": "a", "title": "Log out"}
    >>> difference({"requirements": [old]}, {"requirements": [new]})[0].fields[0].after
    'Log out'
    """
    return [
        change
        for key in dict.fromkeys([*before, *after])
        for change in _label_changes(key, _by_uid(before.get(key)), _by_uid(after.get(key)))
    ]


def _by_uid(labels: Iterable[Label] | None) -> dict[str, Label]:
    return {str(label["uid"]): label for label in labels or []}


def _label_changes(
    key: str, before: Mapping[str, Label], after: Mapping[str, Label]
) -> Iterator[LabelChange]:
    for uid, label in before.items():
        if uid not in after:
            yield LabelChange("removed", key, uid, label, [])
        elif changes := field_changes(label, after[uid]):
            yield LabelChange("changed", key, uid, after[uid], changes)
    for uid, label in after.items():
        if uid not in before:
            yield LabelChange("added", key, uid, label, [])


def field_changes(before: Label, after: Label) -> list[FieldChange]:
    """A field that is missing, None, an empty text or an empty list says the same: nothing."""
    names = [name for name in dict.fromkeys([*before, *after]) if name not in NAMES]
    pairs = [(name, before.get(name), after.get(name)) for name in names]
    return [FieldChange(name, old, new) for name, old, new in pairs if not _is_same(old, new)]


def _is_same(old: Any, new: Any) -> bool:
    return bool(old == new) or (_is_blank(old) and _is_blank(new))


def _is_blank(value: Any) -> bool:
    return value is None or value == "" or value == []


def word_parts(before: str, after: str) -> list[Part]:
    """Both texts in one, word by word; joining the parts of a side gives its text.

    Examples
    --------
    >>> [tuple(part) for part in word_parts("log in fast", "log out fast")]
    [('same', 'log '), ('removed', 'in'), ('added', 'out'), ('same', ' fast')]
    """
    old, new = _words(before), _words(after)
    parts: list[Part] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.append(Part("same", "".join(old[a:b])))
            continue
        parts += [Part("removed", "".join(old[a:b]))] if b > a else []
        parts += [Part("added", "".join(new[c:d]))] if d > c else []
    return parts


def _words(text: str) -> Sequence[str]:
    return re.findall(r"\w+|\s+|[^\w\s]", text)
