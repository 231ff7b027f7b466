from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

TOO_DEEP = "This JSON is nested too deeply."
BAD_NUMBER = "This JSON holds NaN, an infinity, or a number of thousands of digits."
MOST_LEVELS = 100


class ShallowJSONParser(JSONParser):
    """JSON, except what is nested so deeply that Python gives up on it."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None
    ) -> Any:
        try:
            document = super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise ParseError(TOO_DEEP) from None
        except ParseError as error:
            if type(error.__context__) is ValueError:  # it is JSON, and Python advises programmers
                raise ParseError(BAD_NUMBER) from None
            raise
        if _is_deep(document):
            raise ParseError(TOO_DEEP)
        return document


def _is_deep(document: Any) -> bool:
    """Level by level, so that it needs no stack: what comes later walks it by recursion."""
    level = [document]
    for _ in range(MOST_LEVELS):
        level = [part for value in level for part in _parts(value) if isinstance(part, dict | list)]
    return bool(level)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
