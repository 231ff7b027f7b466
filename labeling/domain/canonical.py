"""The one way to write a JSON value down, so that equal values have equal hashes."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from labeling.domain.errors import NotCanonical

UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # NUL, and halves of surrogate pairs


def canonical_json(value: Any) -> str:
    """The one way to write a JSON value down.

    Keys are sorted, there is no white space, text stays as it is (UTF-8). Whole
    floats are written as integers, because databases do not all keep the
    difference between 1 and 1.0.

    Raises
    ------
    NotCanonical
        For NaN, infinity, keys that are not text, NUL or unpaired surrogates in a
        text, and anything that is not JSON; the fact names the place.

    Examples
    --------
    >>> canonical_json({"b": [1.0, 0.5, None], "a": "é"})
    '{"a":"é","b":[1,0.5,null]}'
    >>> canonical_json({"score": float("nan")})
    Traceback (most recent call last):
        ...
    labeling.domain.errors.NotCanonical: canonical.not_a_number path=$.score number=nan
    """
    return json.dumps(_plain(value, "$"), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _plain(value: Any, path: str) -> Any:
    match value:
        case None | bool() | int():
            return value
        case float():
            return _number(value, path)
        case str():
            return _text(value, path)
        case list() | tuple():
            return [_plain(item, f"{path}[{index}]") for index, item in enumerate(value)]
        case Mapping():
            return {_key(key, path): _plain(item, f"{path}.{key}") for key, item in value.items()}
    raise NotCanonical(
        "canonical.not_json", path=path, type=type(value).__name__, details={"path": path}
    )


def _number(value: float, path: str) -> float | int:
    if not math.isfinite(value):
        raise NotCanonical(
            "canonical.not_a_number", path=path, number=str(value), details={"path": path}
        )
    return int(value) if value.is_integer() else value


def _text(value: str, path: str) -> str:
    if UNSTORABLE.search(value):
        raise NotCanonical("canonical.bad_character", path=path, details={"path": path})
    return value


def _key(key: Any, path: str) -> str:
    if not isinstance(key, str):
        raise NotCanonical(
            "canonical.key_not_text", path=path, key=repr(key), details={"path": path}
        )
    return _text(key, path)


def with_line_feeds(text: str) -> str:
    """The text with every line end as one line feed, as browsers count it.

    Examples
    --------
    >>> with_line_feeds("a\\r\\nb\\rc")
    'a\\nb\\nc'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n")
