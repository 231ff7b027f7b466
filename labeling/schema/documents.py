"""The schema as documents for other programs and for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from labeling.schema.layers import LAYERS

SCHEMA_VERSION = 1

JsonSchema = dict[str, Any]
"""A document in the words of JSON Schema."""

_FOR_FORMS = ("widget", "choices", "at_least", "of", "within")


def json_schema(layers: Sequence[str] = tuple(LAYERS)) -> JsonSchema:
    """JSON Schema (2020-12) of a complete payload."""
    definitions: JsonSchema = {}
    for name in layers:
        schema = LAYERS[name].label.model_json_schema()
        definitions |= schema.pop("$defs", {}) | {LAYERS[name].label.__name__: schema}
    for definition in definitions.values():
        _drop_presentation(definition)
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


def _drop_presentation(definition: JsonSchema) -> None:
    for field in definition["properties"].values():
        for presentation in _FOR_FORMS:
            field.pop(presentation, None)


def yaml_schema(layers: Sequence[str] = tuple(LAYERS)) -> str:
    """The same schema as ``labeling-schema.yaml``, for people to read."""
    return yaml.safe_dump(json_schema(layers), sort_keys=False, allow_unicode=True, width=100)
