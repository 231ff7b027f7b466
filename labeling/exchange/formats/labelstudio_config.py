"""The labeling interface that a Label Studio project needs to show our export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from labeling.exchange.formats.labelstudio_reading import PLAIN
from labeling.schema import LAYERS, EventSchema, form_fields


def config(layers: Sequence[str], *, event_schema: EventSchema | None = None) -> str:
    """Controls for the layers' labels, in the order of their fields."""
    schema = event_schema or {}
    inner = [
        '<Paragraphs name="dialogue" value="$dialogue" layout="dialogue" nameKey="author" '
        'textKey="text"/>',
        *_labels("links", ["Message"]),
    ]
    names: list[str] = []
    for name in layers:
        inner += _layer(name, schema, names)
    relations = [f"<Relation value={quoteattr(name)}/>" for name in dict.fromkeys(names)]
    lines = ["<View>", "<Relations>", *relations, "</Relations>", *inner, "</View>"]
    return "\n".join(lines) + "\n"


def _layer(name: str, schema: EventSchema, names: list[str]) -> Iterator[str]:
    layer = LAYERS[name]
    yield from _labels(layer.key, list(schema) if layer.project_types else [layer.label.__name__])
    for plain in PLAIN:
        if plain in layer.label.model_fields:
            yield _text_area(layer.key, plain)
    fields = form_fields(name, event_schema=schema)
    for asked in fields:
        if not (layer.project_types and asked["name"] == layer.type_field):
            yield from _control(layer.key, asked, schema, names)


def _control(
    key: str, asked: Mapping[str, Any], schema: EventSchema, names: list[str]
) -> Iterator[str]:
    name = asked["name"]
    match asked["widget"]:
        case "choice":
            yield from _choices(key, asked)
        case "confidence":
            yield f'<Number {_about(key, name)} min="0" max="1"/>'
        case "messages":
            names.append(name)
        case "references":
            names.append(name)
            yield _text_area(key, name)
        case "span" if asked["within"] == "field":
            yield from _quote(key, name)
        case "phases":
            names.append(name)
            yield from _labels("phases", ["Phase"])
            yield from _phase(asked["fields"], schema, names)
        case "arguments":
            names.append(name)
            yield from _labels(
                "arguments", dict.fromkeys(r for some in schema.values() for r in some)
            )
        case "text" | "textarea" | "lines":
            yield _text_area(key, name)


def _choices(key: str, asked: Mapping[str, Any]) -> Iterator[str]:
    yield f"<Choices {_about(key, asked['name'])}>"
    for choice in asked["choices"]:
        yield f"<Choice value={quoteattr(str(choice['value']))}/>"
    yield "</Choices>"


def _phase(
    fields: Sequence[Mapping[str, Any]], schema: EventSchema, names: list[str]
) -> Iterator[str]:
    for each in fields:
        yield from _control("phases", each, schema, names)


def _quote(key: str, name: str) -> Iterator[str]:
    yield _text_area(key, name)
    yield f"<Number {_about(key, f'{name}-start')}/>"


def _text_area(key: str, name: str) -> str:
    return f"<TextArea {_about(key, name)}/>"


def _about(key: str, name: str) -> str:
    return f'name="{key}-{name}" toName="dialogue" perRegion="true" whenTagName="{key}"'


def _labels(name: str, values: Any) -> Iterator[str]:
    yield f'<ParagraphLabels name="{name}" toName="dialogue">'
    for value in values:
        yield f"<Label value={quoteattr(value)}/>"
    yield "</ParagraphLabels>"
