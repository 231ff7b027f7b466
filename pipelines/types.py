"""What goes into a pipeline and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

Output = dict[str, Any]
"""Plain JSON: the key of each layer the pipeline serves, and ``model``.

``model`` is ``None`` when no language model was used, else ``"provider/name"``.
"""

Config = dict[str, Any]
"""The settings of a pipeline as plain JSON, by the fields of its configuration model."""


class Settings(BaseModel):
    """The configuration of a pipeline."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    RETIRED: ClassVar[frozenset[str]] = frozenset()
    """Settings that runs of earlier versions hold, and that do nothing any more."""

    @model_validator(mode="before")
    @classmethod
    def _without_retired(cls, given: Any) -> Any:
        known = isinstance(given, dict)
        return {k: v for k, v in given.items() if k not in cls.RETIRED} if known else given


def setting(
    default: Any, says: str, *, least: float | None = None, most: float | None = None
) -> Any:
    """A field of a configuration model: its default, what it does, and its range."""
    return Field(default=default, ge=least, le=most, description=says)


JsonSchema = dict[str, Any]
"""What a reply must look like, as a JSON Schema."""

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Message:
    index: int
    """Position in the conversation, 0-based."""
    role: str
    speaker: str
    content: str
    time: str | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A label of another conversation, and the messages that it cites."""

    conversation_id: str
    messages: tuple[Message, ...]
    label: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    case_id: str
    domain: str
    messages: tuple[Message, ...]
    question: str | None = None
    """The question about the conversation, in layers that have one."""
    conversation_id: str = ""
    """The same for all questions about a conversation."""
    task: str = ""
    """The gold layer that is scored."""
    event_schema: Mapping[str, Sequence[str]] | None = None
    """The event types to look for, each with its roles."""
    requirements: tuple[Mapping[str, Any], ...] | None = None
    """What inferred requirements and issues refer to; ``None``: it must be extracted first."""
    guideline: str = ""
    """What people were told to label by."""
    examples: tuple[Example, ...] = ()
    """Of gold, for a model: of train items of other conversations alone."""
    repetition: int = 1
    """Which try of the case: another one may draw another lot."""


class Pipeline(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str:
        """Changes whenever the same case and configuration may give another output."""

    @property
    def config(self) -> Config:
        """The full configuration as plain JSON, defaults included."""

    def run(self, case: Case) -> Output: ...


@runtime_checkable
class Preparing(Protocol):
    """A pipeline that builds something expensive from a conversation before the first question."""

    def prepare(self, case: Case) -> None:
        """Once for each conversation; ``run`` works without it, too."""


class Encoder(Protocol):
    @property
    def id(self) -> str: ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One L2-normalised row of 384 float32 for each text."""

    def encode_both(
        self, texts: Sequence[str]
    ) -> tuple[Vectors, list[tuple[tuple[str, ...], Vectors]]]:
        """The same, and of each text its pieces with a row for each."""


class Store(Protocol):
    """Bytes by key, kept between processes: expensive to compute and cheap to read."""

    def get(self, key: str) -> bytes | None: ...

    def put(self, key: str, value: bytes) -> None: ...
