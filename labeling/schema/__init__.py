"""The label schema: what people (and pipelines) may say about a conversation.

The one source for validation, the workspace form, JSON Schema, ``labeling-schema.yaml`` and the
documentation. A draft may leave anything open; a submitted payload must be complete.
"""

from labeling.schema.checking import check_payload
from labeling.schema.documents import SCHEMA_VERSION, json_schema, yaml_schema
from labeling.schema.forms import (
    EventSchema,
    OpenFields,
    compared_fields,
    compared_names,
    form_fields,
    form_layers,
    quotes_messages,
    reference_fields,
    span_fields,
)
from labeling.schema.labels import PRIORITIES, REQUIREMENT_FIELDS, TYPES, Requirement
from labeling.schema.layers import DEFAULT_LAYER, LAYERS, Layer
from labeling.schema.links import Problem
