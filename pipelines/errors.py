"""What a caller did wrong, as a code with values; it becomes words where somebody reads it."""

from __future__ import annotations

from typing import Any, TypedDict


class Fact(TypedDict):
    """The plain JSON of a code with its values: numbers, texts, None, lists, or facts again."""

    code: str
    values: dict[str, Any]


def fact(code: str, /, **values: Any) -> Fact:
    return {"code": code, "values": values}


class PipelineError(Exception):
    """A pipeline cannot be built or run as asked (a bug raises something else)."""

    def __init__(self, code: str, /, **values: Any) -> None:
        super().__init__(code)
        self.code = code
        self.values = values

    def __str__(self) -> str:
        return f"{self.code} {self.values}" if self.values else self.code

    def as_json(self) -> Fact:
        return fact(self.code, **self.values)


class UnknownPipeline(PipelineError):
    """No pipeline has this name."""


class UnknownSetting(PipelineError):
    """The pipeline has no such setting."""


class InvalidSetting(PipelineError):
    """A setting has an invalid value."""


class NoModel(PipelineError):
    """The request needs a language model, and none is configured."""


class WrongWeights(PipelineError):
    """The encoder's file is not the one that all figures were measured with."""
