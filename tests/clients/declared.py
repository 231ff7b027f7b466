"""The types of the client as the API describes them: ``models.pyi``."""

from __future__ import annotations

from collections.abc import Iterator
from keyword import iskeyword
from pathlib import Path
from typing import Any

from drf_spectacular.generators import SchemaGenerator

import assay_client

FILE = Path(assay_client.__file__).with_name("models.pyi")
HEAD = '''"""Made from the description of the API: ``make client`` writes it again."""

from datetime import datetime
from typing import Any, TypedDict

Labels = dict[str, Any]

class Record(dict[str, Any]):
    def model_dump(self) -> dict[str, Any]: ...

def is_time(name: str) -> bool: ...
'''
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
PAGING = {"after", "before", "cursor", "limit"}
Described = dict[str, Any]


def description() -> Described:
    return dict(SchemaGenerator().get_schema(request=None, public=True))


def types(described: Described) -> str:
    return HEAD + "".join(
        f"\nclass {name}({base}):\n{''.join(fields)}" for name, base, fields in _classes(described)
    )


def _classes(described: Described) -> Iterator[tuple[str, str, list[str]]]:
    for name, shape in sorted(described["components"]["schemas"].items()):
        fields = shape.get("properties", {}).items()
        if name.endswith(("Out", "IO")) and not name.endswith("PageOut"):
            shown = [_line(field, of) for field, of in fields if not hasattr(dict, field)]
            yield name.removesuffix("Out"), "Record", shown
        elif name.endswith("In"):
            yield name, "TypedDict, total=False", [_line(field, of) for field, of in fields]
    for operation in sorted(_lists(described), key=lambda each: str(each["operationId"])):
        filters = [
            _line(each["name"], each["schema"] | {"nullable": True})
            for each in operation["parameters"]
            if each["in"] == "query" and each["name"] not in PAGING and not iskeyword(each["name"])
        ]
        if filters:
            yield _name(operation["operationId"]), "TypedDict, total=False", filters


def _lists(described: Described) -> Iterator[Described]:
    for operations in described["paths"].values():
        asked = operations.get("get", {})
        if {each["name"] for each in asked.get("parameters", [])} & PAGING:
            yield asked


def _name(operation: str) -> str:
    return operation.title().replace("_", "")


def _line(name: str, shape: Described) -> str:
    return f"    {name}: {_type(shape)}\n"


def _type(shape: Described) -> str:
    if shape.get("nullable"):
        kind = _type({key: value for key, value in shape.items() if key != "nullable"})
        return kind if kind == "Any" else f"{kind} | None"
    if "allOf" in shape:
        return _type(shape["allOf"][0])
    if "$ref" in shape:
        return str(shape["$ref"]).rpartition("/")[2].removesuffix("Out")
    if shape.get("format") == "date-time":
        return "datetime"
    if shape.get("type") == "array":
        return f"list[{_type(shape['items'])}]"
    if shape.get("type") == "object":
        return f"dict[str, {_type(shape.get('additionalProperties') or {})}]"
    return PLAIN.get(shape.get("type", ""), "Any")
