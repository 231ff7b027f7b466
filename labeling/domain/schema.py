"""The label schema: what people (and pipelines) may say about a conversation.

The one source for validation, the workspace form, JSON Schema, ``labeling-schema.yaml`` and the
documentation. A draft may leave anything open; a submitted payload must be complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, cast

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

SCHEMA_VERSION = 1
MIN_CRITERIA = 2


class Problem(NamedTuple):
    """What is wrong with a payload, and where: ``requirements.0.title``."""

    path: str
    message: str


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "This is empty.")
    return text


def _two_criteria(criteria: list[str]) -> list[str]:
    if sum(bool(text.strip()) for text in criteria) < MIN_CRITERIA:
        raise PydanticCustomError("too_few", "Write at least two criteria, one per line.")
    return criteria


def _a_source(indices: list[int]) -> list[int]:
    if not indices:
        raise PydanticCustomError("too_few", "Link at least one message.")
    if len(set(indices)) < len(indices):
        raise PydanticCustomError("repeated", "A message is linked twice.")
    return indices


Line = Annotated[str, Field(max_length=200), AfterValidator(_not_blank)]
Prose = Annotated[str, Field(max_length=4000), AfterValidator(_not_blank)]
Criterion = Annotated[str, Field(max_length=1000)]
MessageIndex = Annotated[int, Field(ge=0, strict=True)]

# What a draft may still lack. Everything else (a wrong type, an unknown field) is a broken client.
_OPEN_IN_A_DRAFT = {"missing", "blank", "too_few"}


def _field(
    title: str,
    *,
    help: str,
    widget: str,
    choices: Mapping[str, str] | None = None,
    at_least: int = 1,
) -> Any:
    """A schema field with what a form needs: its widget, a help text per choice, how many items."""
    extra: dict[str, Any] = {"widget": widget, "at_least": at_least}
    if choices:
        extra["choices"] = dict(choices)
    return Field(title=title, description=help, json_schema_extra=extra)


TYPES = {
    "functional": "What the system does: features and behaviour",
    "non-functional": "How well it does it: speed, reliability, scale",
    "security": "Protection, access control, encryption",
    "data": "Storage, retention, privacy of data",
    "interface": "Screens, user experience, APIs",
    "constraint": "A technical or business limit",
}
PRIORITIES = {
    "must": "Essential: it does not work without it",
    "should": "Important, but it works without",
    "could": "Nice to have",
}


class Label(BaseModel):
    """What every label has. ``uid`` never changes, so that comments and gold can point to it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    uid: Annotated[str, Field(min_length=1, max_length=64)]


class Requirement(Label):
    """Something the people in the conversation want the system to do or to be."""

    id: str = Field(pattern=r"^REQ-\d{3,}$", title="ID", description="REQ-001, REQ-002, …")
    title: Line = _field(
        "Title",
        help="A clear noun phrase: User Authentication, not Users",
        widget="text",
    )
    type: Literal["functional", "non-functional", "security", "data", "interface", "constraint"] = (
        _field("Type", help="What kind of requirement it is", widget="choice", choices=TYPES)
    )
    actor: Line = _field(
        "Actor", help="Who or what acts, one and specific: Customer, System", widget="text"
    )
    action: Prose = _field(
        "Action",
        help="An active verb and its object: Log in with email and password. No should, could",
        widget="textarea",
    )
    condition: Annotated[str, Field(max_length=4000)] | None = Field(
        default=None,
        title="Condition",
        description="When or if it applies; empty when it always does",
        json_schema_extra={"widget": "text"},
    )
    acceptance_criteria: Annotated[
        list[Criterion], Field(max_length=50), AfterValidator(_two_criteria)
    ] = _field(
        "Acceptance criteria",
        help="Two to five tests that can be measured, one per line",
        widget="lines",
        at_least=MIN_CRITERIA,
    )
    priority: Literal["must", "should", "could"] = _field(
        "Priority", help="How much they need it", widget="choice", choices=PRIORITIES
    )
    source_messages: Annotated[list[MessageIndex], AfterValidator(_a_source)] = _field(
        "Source messages",
        help="The messages that say it; link them with m or a click on their number",
        widget="messages",
    )
    rationale: Prose = _field(
        "Rationale", help="Why this is a requirement, naming the message", widget="textarea"
    )
    confidence: Annotated[float, Field(ge=0, le=1)] = _field(
        "Confidence",
        help="1 is completely certain; below 0.7 say why in the rationale",
        widget="confidence",
    )


class Layer(NamedTuple):
    """One kind of label: its key in a payload and the shape of its labels."""

    name: str
    title: str
    key: str
    label: type[Label]


LAYERS = {
    layer.name: layer
    for layer in [Layer("extraction", "Requirements", "requirements", Requirement)]
}


def check_payload(
    payload: Mapping[str, Any],
    *,
    layers: Sequence[str],
    message_count: int,
    complete: bool,
    empty: bool = False,
) -> list[Problem]:
    """What is wrong with one annotation's payload; an empty list means nothing is.

    Parameters
    ----------
    layers
        The project's layers; a key of another layer is a problem.
    message_count
        Messages in the conversation; a source beyond it is a problem.
    complete
        False for a draft, which may leave fields open but not break the schema.
    empty
        The annotator's explicit "nothing here": then there must be no label, and without it a
        complete payload must have one.
    """
    known = {LAYERS[name].key: LAYERS[name] for name in layers}
    problems = [
        Problem(key, "This project has no such layer.") for key in payload if key not in known
    ]
    problems += _text_problems(payload)
    for key, layer in known.items():
        problems += _layer_problems(layer, payload.get(key, []), message_count, complete)
    problems += _emptiness_problems(payload, complete=complete, empty=empty)
    return problems


def _layer_problems(
    layer: Layer, labels: Any, message_count: int, complete: bool
) -> Iterator[Problem]:
    if not isinstance(labels, list):
        yield Problem(layer.key, "A list of labels is expected.")
        return
    for position, label in enumerate(labels):
        yield from _label_problems(layer, label, f"{layer.key}.{position}", message_count, complete)
    for field in ("uid", "id"):
        counts = Counter(str(label.get(field)) for label in labels if isinstance(label, Mapping))
        for value, count in counts.items():
            if count > 1:
                yield Problem(layer.key, f"Two labels have the {field} {value}.")


def _label_problems(
    layer: Layer, label: Any, path: str, message_count: int, complete: bool
) -> Iterator[Problem]:
    try:
        layer.label.model_validate(label)
    except ValidationError as error:
        for found in error.errors(include_url=False):
            if complete or not _is_open(found):
                yield Problem(".".join([path, *map(str, found["loc"])]), _sentence(found))
    sources = label.get("source_messages", []) if isinstance(label, Mapping) else []
    for index in sources if isinstance(sources, list) else []:
        if isinstance(index, int) and index >= message_count:
            yield Problem(f"{path}.source_messages", f"There is no message {index}.")


def _is_open(error: Any) -> bool:
    """True if this only says that a field is still to be filled in; a uid always is."""
    if not error["loc"] or "uid" in error["loc"]:
        return False
    return error["type"] in _OPEN_IN_A_DRAFT or error["input"] in ("", None)


def _sentence(error: Any) -> str:
    if error["type"] in ("missing", "blank") or error["input"] == "":
        return "This is empty."
    message: str = error["msg"]
    return message if message.endswith(".") else f"{message}."


def _emptiness_problems(
    payload: Mapping[str, Any], *, complete: bool, empty: bool
) -> Iterator[Problem]:
    labelled = any(payload.values())
    if empty and labelled:
        yield Problem("empty", "“Nothing here” cannot stand beside labels: remove one of the two.")
    if complete and not empty and not labelled:
        yield Problem(
            "empty", "There is no label. Say “nothing here” if there is nothing to label."
        )


def _text_problems(value: Any, path: str = "") -> Iterator[Problem]:
    """Text that a database cannot store: NUL, and halves of surrogate pairs."""
    if isinstance(value, str):
        if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
            yield Problem(path, "This text holds a character that cannot be stored.")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _text_problems(item, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _text_problems(item, f"{path}.{position}")


def form_fields(layer: str) -> list[dict[str, Any]]:
    """What the workspace needs to draw the form of one label, in order."""
    fields = LAYERS[layer].label.model_fields
    return [_form_field(name, info) for name, info in fields.items() if info.json_schema_extra]


def _form_field(name: str, info: FieldInfo) -> dict[str, Any]:
    extra = cast(dict[str, Any], info.json_schema_extra)
    choices = extra.get("choices", {})
    return {
        "name": name,
        "label": info.title,
        "help": info.description,
        "widget": extra["widget"],
        "choices": [{"value": value, "help": meaning} for value, meaning in choices.items()],
        "required": info.is_required(),
        "at_least": extra.get("at_least", 1),
    }


def json_schema(layers: Sequence[str] = tuple(LAYERS)) -> dict[str, Any]:
    """JSON Schema (2020-12) of a complete payload."""
    definitions = {LAYERS[name].label.__name__: _definition(name) for name in layers}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Assay labels, schema version {SCHEMA_VERSION}",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            LAYERS[name].key: {
                "type": "array",
                "items": {"$ref": f"#/$defs/{LAYERS[name].label.__name__}"},
            }
            for name in layers
        },
        "$defs": definitions,
    }


def _definition(layer: str) -> dict[str, Any]:
    schema = LAYERS[layer].label.model_json_schema()
    for field in schema["properties"].values():
        for presentation in ("widget", "choices", "at_least"):
            field.pop(presentation, None)
    return schema


def yaml_schema(layers: Sequence[str] = tuple(LAYERS)) -> str:
    """The same schema as ``labeling-schema.yaml``, for people to read."""
    return yaml.safe_dump(json_schema(layers), sort_keys=False, allow_unicode=True, width=100)
