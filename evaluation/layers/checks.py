"""Checks of what pipelines return, shared by the layers; each refuses by ``MalformedOutput``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.layers.base import MalformedOutput


def labels(output: Mapping[str, Any], key: str) -> Iterator[tuple[str, Any]]:
    """The labels under ``key``, each with its path."""
    labels = output.get(key)
    if not isinstance(labels, list):
        raise MalformedOutput("output.no_list", key=key)
    for position, label in enumerate(labels):
        yield f"{key}.{position}", label


def mapping(value: Any, path: str) -> None:
    if not isinstance(value, Mapping):
        raise MalformedOutput("output.no_object", path=path)


def text(value: Any, path: str) -> None:
    """Text, or nothing."""
    if not isinstance(value, str | None):
        raise MalformedOutput("output.no_text", path=path)


def texts(value: Any, path: str) -> None:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise MalformedOutput("output.no_list_of_texts", path=path)


def integers(value: Any, path: str) -> None:
    if not isinstance(value, list) or not all(type(number) is int for number in value):
        raise MalformedOutput("output.no_list_of_integers", path=path)


def sources(value: Any, path: str, message_count: int) -> None:
    if not isinstance(value, list) or not all(type(index) is int for index in value):
        raise MalformedOutput("output.no_list_of_positions", path=path)
    beyond = [index for index in value if not 0 <= index < message_count]
    if beyond:
        raise MalformedOutput("output.no_such_message", path=path, index=beyond[0])


def confidence(value: Any, path: str) -> None:
    if value is None:
        return
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        raise MalformedOutput("output.no_share", path=path)
