"""JSON out of what a language model wrote, with what had to be done to read it."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from pipelines.errors import PipelineError
from pipelines.types import JsonSchema

FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
OPENING = re.compile(r"[{\[]")
MAX_DEPTH = 100
MAX_DIGITS = 4_000


@dataclass(frozen=True, slots=True)
class Parsed:
    value: Any
    fenced: bool = False
    """It was in a code fence."""
    repaired: bool = False
    """It was not valid JSON until something was repaired: a comma, a quote, words around it."""


class Unparsable(PipelineError):
    """No JSON can be read from it; the code says why."""


def parse_json(text: str) -> Parsed:
    """The one JSON document in ``text``.

    A document that breaks off is refused, not mended: closing its brackets would silently lose
    what did not arrive.

    Examples
    --------
    >>> parse_json('Here it is:\\n```json\\n{"a": [1, 2,]}\\n```')
    Parsed(value={'a': [1, 2]}, fenced=True, repaired=True)
    """
    whole = text.strip()
    if not whole:
        raise Unparsable("reply.empty")
    try:
        return _parsed(whole)
    except RecursionError:
        raise Unparsable("reply.too_deep") from None


def _parsed(whole: str) -> Parsed:
    """As it is, then out of its fence, then repaired: a fence may also be quoted text."""
    with suppress(json.JSONDecodeError):
        return Parsed(_loads(whole))
    fence = FENCE.search(whole)
    body = fence.group(1).strip() if fence else whole
    with suppress(json.JSONDecodeError):
        return Parsed(_loads(body), fenced=bool(fence))
    return Parsed(_repaired(body), fenced=bool(fence), repaired=True)


def _repaired(body: str) -> Any:
    from json_repair import repair_json

    opening = OPENING.search(body)
    if opening is None:
        raise Unparsable("reply.no_json")
    document = body[opening.start() :]
    end = _end_of(document)
    if end is None:
        raise Unparsable("reply.broken_off")
    try:
        return _loads(repair_json(document[:end]))
    except (json.JSONDecodeError, RecursionError):
        raise Unparsable("reply.no_json") from None


def _end_of(document: str) -> int | None:
    """Where the first bracket is closed again, or None; brackets in quoted text do not count."""
    depth, quoted, escaped = 0, False, False
    for place, sign in enumerate(document):
        if quoted:
            quoted, escaped = escaped or sign != '"', sign == "\\" and not escaped
        elif sign == '"':
            quoted = True
        elif sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
        if depth == 0:
            return place + 1
        if depth > MAX_DEPTH:
            raise Unparsable("reply.too_deep")
    return None


def _loads(text: str) -> Any:
    return json.loads(text, parse_constant=_no_number, parse_float=_finite, parse_int=_whole)


def _finite(digits: str) -> float:
    """``1e999`` is written as JSON wants it, but it is read as infinity."""
    number = float(digits)
    return number if math.isfinite(number) else _no_number(digits)


def _whole(digits: str) -> int:
    """Python refuses to read very long ones, which would take long."""
    return int(digits) if len(digits) <= MAX_DIGITS else _no_number(digits[:20])


def _no_number(name: str) -> NoReturn:
    raise Unparsable("reply.no_number", name=name)


def schema_problem(value: Any, schema: JsonSchema) -> str:
    """What does not fit the JSON schema, with its place; empty if all does."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    problem = best_match(Draft202012Validator(schema).iter_errors(value))
    if problem is None:
        return ""
    place = ".".join(str(part) for part in problem.absolute_path) or "the reply"
    return f"{place}: {problem.message[:300]}"
