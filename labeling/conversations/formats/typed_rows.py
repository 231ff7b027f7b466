"""Gold items as rows whose columns have types, for tools that read tables of nested values.

The types of a label's fields come from the shape of its layer. What a label holds beyond them, or
in another type (old releases may), is kept as JSON in ``other``, so a row loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from labeling.domain.canonical import canonical_json
from labeling.gold.rules.content import GoldContent
from labeling.schema import LAYERS
from labeling.schema.labels import StoredLabel
from labeling.schema.targets import END_TO_END

Scalar = Literal["string", "int64", "float64", "bool"]
ColumnType: TypeAlias = "Scalar | list[ColumnType] | dict[str, ColumnType]"
"""A scalar; a list of one type; or a record of named ones. Everything may be null."""

OTHER = "other"
NO_SPLIT = "unassigned"
COLLECTED = "collected"

MESSAGE: dict[str, ColumnType] = {
    "index": "int64",
    "role": "string",
    "speaker": "string",
    "content": "string",
    "time": "string",
}
_SCALARS: dict[str, Scalar] = {
    "string": "string",
    "integer": "int64",
    "number": "float64",
    "boolean": "bool",
}


def columns_of(layer: str) -> dict[str, ColumnType]:
    """The columns of a release of this layer: one for the labels of each layer that it holds."""
    stages = [stage.name for stage in LAYERS.values() if stage.is_stage]
    labels: dict[str, ColumnType] = {
        LAYERS[name].key: [_label_type(name)]
        for name in (stages if layer == END_TO_END else [layer])
    }
    return {
        "item_id": "string",
        "domain": "string",
        "difficulty": "string",
        "split": "string",
        "origin": "string",
        "generator": "string",
        "how": "string",
        "conversation": [MESSAGE],
        "layer": "string",
        **labels,
        "given": "string",
        "provenance": "string",
        "schema_version": "int64",
        "sha256": "string",
    }


def _label_type(layer: str) -> dict[str, ColumnType]:
    schema = LAYERS[layer].label.model_json_schema()
    return {**_record(schema, schema.get("$defs", {})), OTHER: "string"}


def _record(schema: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, ColumnType]:
    return {name: _type_of(field, known) for name, field in schema["properties"].items()}


def _type_of(schema: Mapping[str, Any], known: Mapping[str, Any]) -> ColumnType:
    """The type of a JSON Schema as the shapes of labels have it."""
    if "$ref" in schema:
        return _record(known[schema["$ref"].rpartition("/")[2]], known)
    if "anyOf" in schema:  # a type, or null
        [present] = [option for option in schema["anyOf"] if option.get("type") != "null"]
        return _type_of(present, known)
    if schema["type"] == "array":
        return [_type_of(schema["items"], known)]
    if schema["type"] == "object":
        return _record(schema, known)
    return _SCALARS[schema["type"]]


def row_of(item: GoldContent, *, sha256: str) -> dict[str, Any]:
    """An item as such a row. Labels of other layers and provenance are JSON in a text."""
    columns = columns_of(item["layer"])
    labels: dict[str, list[dict[str, Any]]] = {}
    for key, written in item["gold"].items():
        match columns.get(key):
            case [dict() as type_]:
                labels[key] = [_label_row(label, type_) for label in written]
    return {
        "item_id": item["item_id"],
        "domain": item["domain"],
        "difficulty": item["difficulty"],
        "split": item["split"] or NO_SPLIT,
        "origin": item.get("origin", COLLECTED),
        "generator": item.get("generator", ""),
        "how": item["provenance"].get("how", ""),
        "conversation": [dict(message) for message in item["conversation"]],
        "layer": item["layer"],
        **labels,
        "given": canonical_json(item["given"]) if "given" in item else "",
        "provenance": canonical_json(item["provenance"]),
        "schema_version": item["schema_version"],
        "sha256": sha256,
    }


def _label_row(label: StoredLabel, type_: Mapping[str, ColumnType]) -> dict[str, Any]:
    fields = {key: value for key, value in label.items() if key in type_ and key != OTHER}
    fitting = {key: value for key, value in fields.items() if _fits(value, type_[key])}
    rest = {key: value for key, value in label.items() if key not in fitting}
    return {**fitting, OTHER: canonical_json(rest) if rest else ""}


def _fits(value: Any, type_: ColumnType) -> bool:
    match type_:
        case _ if value is None:
            return True
        case [of]:
            return isinstance(value, list) and all(_fits(each, of) for each in value)
        case dict():
            return (
                isinstance(value, dict)
                and value.keys() <= type_.keys()
                and all(_fits(value[key], type_[key]) for key in value)
            )
        case "int64":
            return _is_whole(value) and -(2**63) <= value < 2**63
        case "float64":
            return isinstance(value, float) or (_is_whole(value) and abs(value) <= 2**53)
        case "bool":
            return isinstance(value, bool)
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def features(columns: Mapping[str, ColumnType]) -> list[dict[str, Any]]:
    """The columns as the head of a dataset card names them.

    Examples
    --------
    >>> features({"id": "string", "tags": ["string"], "spans": [{"start": "int64"}]})
    [{'name': 'id', 'dtype': 'string'}, {'name': 'tags', 'sequence': 'string'}, \
{'name': 'spans', 'list': [{'name': 'start', 'dtype': 'int64'}]}]
    """
    return [{"name": name, **_feature(type_)} for name, type_ in columns.items()]


def _feature(type_: ColumnType) -> dict[str, Any]:
    match type_:
        case str():
            return {"dtype": type_}
        case [str() as of]:
            return {"sequence": of}
        case [dict() as of]:
            return {"list": features(of)}
        case dict():
            return {"struct": features(type_)}
    raise TypeError(f"no feature for {type_!r}")
