"""Records as plain JSON, and back: the dataclass alone says what is stored.

Facts, nested records, lists and pairs are read as their type says; keys that a record does not
know are ignored, and those that older rows lack have the record's default.
"""

from dataclasses import asdict
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

Stored = dict[str, Any]
"""A record as plain JSON."""

Record = TypeVar("Record")


def as_json(record: Any) -> Stored:
    """Of an instance of a dataclass."""
    return asdict(record)


def read(kind: type[Record], stored: object) -> Record:
    """What :func:`as_json` wrote of such a record.

    Raises
    ------
    pydantic.ValidationError
        If it is not the JSON of one.
    """
    record: Record = _reader(cast(Any, kind)).validate_python(stored)
    return record


@cache
def _reader(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
