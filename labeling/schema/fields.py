"""The kinds of fields that labels are made of, and how a form asks for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

MIN_CRITERIA = 2
MIN_PHASES = 2


def broken(code: str) -> PydanticCustomError:
    """What a validator raises; ``checking`` makes a fact of it."""
    return PydanticCustomError(code, code)


def _not_blank(text: str) -> str:
    if not text.strip():
        raise broken("schema.empty")
    return text


def _two_criteria(criteria: list[str]) -> list[str]:
    if sum(bool(text.strip()) for text in criteria) < MIN_CRITERIA:
        raise broken("schema.few_criteria")
    return criteria


def _a_message(indices: list[int]) -> list[int]:
    if not indices:
        raise broken("schema.no_message_linked")
    if len(set(indices)) < len(indices):
        raise broken("schema.message_twice")
    return indices


def _a_reference(uids: list[str]) -> list[str]:
    if not uids:
        raise broken("schema.nothing_chosen")
    if len(set(uids)) < len(uids):
        raise broken("schema.label_twice")
    return uids


Uid = Annotated[str, Field(min_length=1, max_length=64)]
Line = Annotated[str, Field(max_length=200), AfterValidator(_not_blank)]
Prose = Annotated[str, Field(max_length=4000), AfterValidator(_not_blank)]
OpenLine = Annotated[str, Field(max_length=200)] | None
OpenProse = Annotated[str, Field(max_length=4000)] | None
Criterion = Annotated[str, Field(max_length=1000)]
Criteria = Annotated[list[Criterion], Field(max_length=50), AfterValidator(_two_criteria)]
MessageIndex = Annotated[int, Field(ge=0, strict=True)]
Messages = Annotated[list[MessageIndex], AfterValidator(_a_message)]
References = Annotated[list[Uid], AfterValidator(_a_reference)]
Confidence = Annotated[float, Field(ge=0, le=1)]


class Shape(BaseModel):
    """No unknown key, no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Named(Shape):
    """``uid`` never changes, so that comments and gold can point to it."""

    uid: Uid


class TakenFrom(Shape):
    """A label of a pipeline's suggestion: the suggestion's number, and the label's uid in it."""

    id: MessageIndex
    uid: Uid


class Label(Named):
    """What every label has: its name, and where it comes from."""

    origin: Literal["typed", "accepted", "edited"] = Field(
        default="typed",
        title="Origin",
        description="typed by hand, accepted from a suggestion as it was, or edited since",
    )
    suggestion: TakenFrom | None = Field(
        default=None, title="Suggestion", description="The suggested label it was taken from"
    )


class FieldSpan(Shape):
    """A piece of one field of a requirement: its place in code points, and the text itself.

    The text of a field with several lines is these lines joined by line feeds.
    """

    start: MessageIndex
    end: MessageIndex
    text: str

    @model_validator(mode="after")
    def _as_long_as_its_text(self) -> Self:
        if not 0 <= self.start < self.end or len(self.text) != self.end - self.start:
            raise broken("schema.quote_length")
        return self


class MessageSpan(FieldSpan):
    """A piece of one message."""

    message: MessageIndex


def asked(
    title: str,
    *,
    help: str,
    widget: str,
    choices: Mapping[Any, str] | None = None,
    at_least: int = 1,
    of: tuple[str, ...] = (),
    within: str = "message",
    **options: Any,
) -> Any:
    """A schema field with what a form needs (see :func:`labeling.schema.form_fields`)."""
    extra: JsonDict = {
        "widget": widget,
        "choices": [{"value": value, "help": text} for value, text in (choices or {}).items()],
        "at_least": at_least,
        "of": [*of],
        "within": within,
    }
    return Field(title=title, description=help, json_schema_extra=extra, **options)
