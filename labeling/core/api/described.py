"""What the description of the API says of a method, kept until somebody asks for the description.

drf_spectacular loads Django's test client and more with its first decorator: a third of the start
of a web process, for a page that few ever open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

_WAITING: list[tuple[Callable[..., Any], dict[str, Any]]] = []


def extend_schema(**options: Any) -> Callable[[Method], Method]:
    """As ``drf_spectacular.utils.extend_schema``, later."""

    def keep(method: Method) -> Method:
        _WAITING.append((method, options))
        return method

    return keep


def apply() -> None:
    """Describe every method that was loaded since the last call."""
    from drf_spectacular.utils import extend_schema as describe

    while _WAITING:
        method, options = _WAITING.pop()
        describe(**options)(method)
