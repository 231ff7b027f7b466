"""Whether two labels, or two values of a field, say the same."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from labeling.schema.labels import StoredLabel

NAMES = frozenset({"uid", "id", "origin", "suggestion", "adopted_from", "uids"})
"""They say which label it is and how it came about, and nothing about the conversation."""

UNORDERED = frozenset({"source_messages", "evidence", "triggered_by", "arguments"})
"""Lists whose order says nothing."""


def content(label: Mapping[str, Any]) -> StoredLabel:
    """What a label says, so that two labels that say the same are equal.

    Examples
    --------
    >>> content({"uid": "a", "source_messages": [2, 1]}) == content({"source_messages": [1, 2]})
    True
    """
    values = {name: bare(name, value) for name, value in label.items() if name not in NAMES}
    return {name: value for name, value in values.items() if value is not None}


def bare(name: str, value: Any) -> Any:
    """A field's value without names and idle order; an empty field is an open one."""
    if isinstance(value, Mapping):
        return content(value)
    if isinstance(value, list):
        items = [content(item) if isinstance(item, Mapping) else item for item in value]
        return (sorted(items, key=_written) if name in UNORDERED else items) or None
    return None if value == "" else value


def _written(value: Any) -> str:
    return f"{value:09d}" if type(value) is int else json.dumps(value, sort_keys=True)


def differing(labels: Iterable[Mapping[str, Any] | None], fields: Iterable[str]) -> list[str]:
    """Those of the fields in which versions of a label do not say the same; None says nothing.

    Examples
    --------
    >>> differing([{"title": "a"}, None, {"title": "b"}], ["title", "type"])
    ['title']
    """
    first, *others = [label for label in labels if label is not None] or [{}]
    return [
        name
        for name in fields
        if any(bare(name, label.get(name)) != bare(name, first.get(name)) for label in others)
    ]
