"""What happened, as data: stored, compared and branched on; words are made where it is shown.

What is stored or branched on is a code, whose sentence is in ``labeling/words.py`` or
``evaluation/words.py``. A refusal that somebody reads at once carries its sentence instead, marked
by :func:`msgid`, and is translated where it is shown.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, TypedDict

from pydantic_core import core_schema

Value: TypeAlias = "bool | int | float | str | Fact | list[Value] | None"
"""What a fact may hold: plain JSON, and facts again."""


CODE = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")
SENTENCE = re.compile(r"(?:[^{}]++|\{\w++(?::[^{}\d]*+)?\})++")
"""Words and places for values, which reach no further: a stored one may be anybody's."""


def _is_sentence(text: str) -> bool:
    """Several words, and nothing around them."""
    is_many = any(map(str.isspace, text)) and text == text.strip()
    return is_many and SENTENCE.fullmatch(text) is not None


class StoredFact(TypedDict):
    """A fact as plain JSON."""

    code: str
    values: dict[str, Any]


class MalformedFact(ValueError):
    """A value is not the JSON of a fact, or not something that a fact can hold."""


@dataclass(frozen=True, init=False, slots=True)
class Fact:
    """A code, or a sentence of the source, and its values.

    A number is given as a number, so that it can be written as its reader does; what people
    wrote and names are texts; a reason within a reason is a fact.

    Examples
    --------
    >>> reason = Fact("gold.not_all_submitted", submitted=1, overlap=2)
    >>> reason.values["overlap"]
    2
    >>> str(reason)
    'gold.not_all_submitted submitted=1 overlap=2'
    >>> whole = Fact("gold.nothing_settled", total=3, reasons=[reason])
    >>> whole.as_json()["values"]["reasons"][0]["code"]
    'gold.not_all_submitted'
    >>> Fact.from_json(whole.as_json()) == whole
    True
    """

    code: str
    values: Mapping[str, Value]

    def __init__(self, code: str, /, **values: Value | Sequence[Value]) -> None:
        if not (CODE.fullmatch(code) or _is_sentence(code)):
            raise MalformedFact(f"not a code: {code!r:.200}")
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "values", {name: _value(value) for name, value in values.items()})

    def __hash__(self) -> int:
        return hash(json.dumps(self.as_json(), sort_keys=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return Fact.from_json, (self.as_json(),)

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> core_schema.CoreSchema:
        """Within a record that is read back: its JSON, or a fact."""
        return core_schema.no_info_plain_validator_function(
            lambda value: value if isinstance(value, cls) else cls.from_json(value)
        )

    def __str__(self) -> str:
        """For logs and debugging: not a sentence."""
        values = (f"{name}={_debugged(value)}" for name, value in self.values.items())
        return " ".join([self.code, *values])

    def as_json(self) -> StoredFact:
        values = {name: _as_json(value) for name, value in self.values.items()}
        return {"code": self.code, "values": values}

    @classmethod
    def from_json(cls, stored: object) -> Self:
        """The fact that ``as_json`` wrote.

        Raises
        ------
        MalformedFact
            If this is anything else.
        """
        if not isinstance(stored, Mapping) or set(stored) != {"code", "values"}:
            raise MalformedFact(f"not a fact: {stored!r:.200}")
        code, values = stored["code"], stored["values"]
        if not isinstance(code, str) or not isinstance(values, Mapping):
            raise MalformedFact(f"not a fact: {stored!r:.200}")
        return cls(code, **{str(name): _from_json(value) for name, value in values.items()})


def _value(value: object) -> Value:
    if isinstance(value, float) and not math.isfinite(value):
        raise MalformedFact(f"{value} is not JSON")
    if value is None or isinstance(value, bool | int | float | str | Fact):
        return value
    if isinstance(value, list | tuple):
        return [_value(item) for item in value]
    raise MalformedFact(f"a fact holds no {type(value).__name__}")


def _debugged(value: Value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_debugged, value))}]"
    return f"({value})" if isinstance(value, Fact) and value.values else str(value)


def _as_json(value: Value) -> Any:
    if isinstance(value, Fact):
        return value.as_json()
    return [_as_json(item) for item in value] if isinstance(value, list) else value


def _from_json(value: Any) -> Value:
    if isinstance(value, Mapping):
        return Fact.from_json(value)
    return [_from_json(item) for item in value] if isinstance(value, list) else _value(value)
