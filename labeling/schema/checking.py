"""What is wrong with a payload. A draft may leave anything open, but not break the schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from labeling.domain.facts import Fact
from labeling.schema.forms import EventSchema, OpenFields
from labeling.schema.layers import LAYERS, Layer
from labeling.schema.links import Problem, Surroundings, link_problems

# What a draft may still lack. Everything else (a wrong type, an unknown field) is a broken client.
_OPEN_IN_A_DRAFT = {
    "missing",
    "schema.empty",
    "schema.few_criteria",
    "schema.few_phases",
    "schema.no_message_linked",
    "schema.nothing_chosen",
}


def check_payload(
    payload: Mapping[str, Any],
    *,
    layers: Sequence[str],
    message_count: int,
    complete: bool,
    empty: bool = False,
    messages: Sequence[str] | None = None,
    event_schema: EventSchema | None = None,
    open_fields: OpenFields | None = None,
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
    messages
        The texts of the messages; with them a span must quote the text at its place.
    event_schema
        The project's event types and their roles; without it any type and role is accepted.
    open_fields
        By layer, the fields that a complete label may lack; a layer's ``may_be_open`` bounds them.
    """
    known = {LAYERS[name].key: LAYERS[name] for name in layers}
    problems = [Problem(key, Fact("schema.no_such_layer")) for key in payload if key not in known]
    problems += _text_problems(payload)
    around = Surroundings(
        labels={layer.name: _by_uid(payload.get(layer.key)) for layer in known.values()},
        message_count=message_count,
        messages=messages,
        event_schema=event_schema or {},
        complete=complete,
    )
    for key, layer in known.items():
        allowed = {*(open_fields or {}).get(layer.name, ())} & {*layer.may_be_open}
        problems += _layer_problems(layer, payload.get(key, []), around, allowed)
    problems += _repeated_names(payload, known)
    problems += _emptiness_problems(payload, complete=complete, empty=empty)
    return problems


def _by_uid(labels: Any) -> dict[str, Mapping[str, Any]]:
    mappings = (label for label in _listed(labels) if isinstance(label, Mapping))
    return {str(label.get("uid")): label for label in mappings}


def _layer_problems(
    layer: Layer, labels: Any, around: Surroundings, may_be_open: Collection[str]
) -> Iterator[Problem]:
    if not isinstance(labels, list):
        yield Problem(layer.key, Fact("schema.not_a_list"))
        return
    for position, label in enumerate(labels):
        path = f"{layer.key}.{position}"
        broken = list(_shape_problems(layer, label, path, around.complete, may_be_open))
        yield from broken
        if isinstance(label, Mapping):
            paths = {problem.path for problem in broken}
            linked = link_problems(layer, label, path, around)
            yield from (problem for problem in linked if problem.path not in paths)


def _shape_problems(
    layer: Layer, label: Any, path: str, complete: bool, may_be_open: Collection[str]
) -> Iterator[Problem]:
    try:
        layer.label.model_validate(label)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            is_asked = complete and not (detail["loc"] and detail["loc"][0] in may_be_open)
            if is_asked or not _is_open(detail):
                yield Problem(".".join([path, *map(str, detail["loc"])]), _fact_of(detail))


def _repeated_names(payload: Mapping[str, Any], layers: Iterable[str]) -> Iterator[Problem]:
    """A uid names one label of the whole payload, since references and comments point to it."""
    labels = [
        (key, label)
        for key in layers
        for label in _listed(payload.get(key))
        if isinstance(label, Mapping)
    ]
    for field in ("uid", "id"):
        named = [(key, str(label[field])) for key, label in labels if field in label]
        counts = Counter(name for _, name in named)
        last = {name: key for key, name in named}
        for name, count in counts.items():
            if count > 1:
                yield Problem(last[name], Fact("schema.repeated_name", field=field, name=name))


def _listed(labels: Any) -> list[Any]:
    return labels if isinstance(labels, list) else []


def _is_open(error: Any) -> bool:
    """True if this only says that a field is still to be filled in; a uid always is."""
    if not error["loc"] or "uid" in error["loc"]:
        return False
    return error["type"] in _OPEN_IN_A_DRAFT or error["input"] in ("", None)


def _fact_of(error: Any) -> Fact:
    if error["type"] == "missing" or error["input"] == "":
        return Fact("schema.empty")
    if error["type"].startswith("schema."):  # of our own validators
        return Fact(error["type"])
    return Fact("schema.not_valid", said=error["msg"].rstrip("."))


def _emptiness_problems(
    payload: Mapping[str, Any], *, complete: bool, empty: bool
) -> Iterator[Problem]:
    labeled = any(payload.values())
    if empty and labeled:
        yield Problem("empty", Fact("schema.empty_with_labels"))
    if complete and not empty and not labeled:
        yield Problem("empty", Fact("schema.no_label"))


def _text_problems(value: Any, path: str = "") -> Iterator[Problem]:
    """Text that a database cannot store: NUL, and halves of surrogate pairs."""
    if isinstance(value, str):
        if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
            yield Problem(path, Fact("schema.bad_character"))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _text_problems(item, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _text_problems(item, f"{path}.{position}")
