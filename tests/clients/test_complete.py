"""The client has a method for every operation of the API."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.urls import resolve

from assay_client import Client, NotFound, Retries, models
from assay_client.gold import Freeze
from assay_client.paging import Rows
from assay_client.part import Part
from assay_client.runs import Run
from tests.clients import declared

VALUES: dict[str, Any] = {
    "release": "demo@1",
    "gold": "demo@1",
    "member": models.Record(id=1),
    "invitation": models.Record(id=1),
    "others": Run(id=2),
}
"""What methods are called with by the names of their parameters; else by their type."""

LOOKED_UP: dict[tuple[str, str], dict[str, Any]] = {
    ("GET", "api-annotation"): {
        "status": "draft",
        "version": 0,
        "saved_at": None,
        "payload": {},
        "empty": False,
        "skip_reason": "",
        "active_seconds": 0,
        "locked_at": None,
    },
    ("GET", "api-adjudications"): {"next": None, "results": [], "preparing": False},
    ("GET", "api-adjudication"): {
        "layer": "extraction",
        "state": "disputed",
        "answers": "1",
        "agreement": None,
        "clusters": [],
        "decision": None,
    },
}
"""What methods ask first."""


class Recorder:
    """Answers as if nothing were there, but to what is only looked up on the way."""

    def __init__(self) -> None:
        self.asked: set[tuple[str, str]] = set()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        asked = request.method, str(resolve(request.url.path).url_name)
        self.asked.add(asked)
        if asked in LOOKED_UP:
            return httpx.Response(200, json=LOOKED_UP[asked])
        return httpx.Response(404, json={"code": "not_found", "message": "", "details": {}})


def parts(owner: Any) -> Iterator[Part]:
    """All that a client or a project is made of."""
    for part in vars(owner).values():
        if isinstance(part, Part):
            yield part
            yield from parts(part)


def methods(owner: Any) -> Iterator[Callable[..., Any]]:
    for kind in type(owner).__mro__:
        if kind.__module__.startswith("assay_client"):
            for name, member in vars(kind).items():
                if inspect.isfunction(member) and not name.startswith("_"):
                    yield getattr(owner, name)


def arguments(method: Callable[..., Any], folder: Path) -> tuple[list[Any], dict[str, Any]]:
    """Of all parameters that need a value, and one of those that take any number."""
    given, named = [], {}
    for name, parameter in inspect.signature(method).parameters.items():
        kind, has_default = parameter.kind, parameter.default is not parameter.empty
        if kind is parameter.VAR_KEYWORD or has_default:
            continue
        if kind is parameter.KEYWORD_ONLY:
            named[name] = value_of(parameter, folder)
        else:
            given.append(value_of(parameter, folder))
    return given, named


def value_of(parameter: inspect.Parameter, folder: Path) -> Any:
    if parameter.name in VALUES:
        return VALUES[parameter.name]
    wanted = str(parameter.annotation)
    if "PathLike" in wanted:
        return folder / "file"
    if wanted == "File":
        return ("file.jsonl", b"")
    if wanted.startswith("Sequence"):
        return []
    if wanted.startswith(("Mapping", "models.Labels")):
        return {}
    return "x" if "str" in wanted or "Literal" in wanted else 1


def never(seconds: float) -> None:
    raise AssertionError("There is nothing to wait for.")


@pytest.mark.no_database
def test_every_operation_has_a_method_of_the_client(tmp_path: Path) -> None:
    recorder = Recorder()
    transport = httpx.MockTransport(recorder)
    client = Client(
        "http://localhost", "assay_x", transport=transport, retries=Retries(sleep=never)
    )
    project = client.project("orders")
    run = Run(id=1, aggregates=[])
    freeze = Freeze(id=1)
    run._part, freeze._part = client.runs._top, project.freezes
    owners: list[Any] = [*parts(client), project, *parts(project)]
    owners += [run, freeze]

    for owner in owners:
        for method in methods(owner):
            given, named = arguments(method, tmp_path)
            with suppress(NotFound, KeyError):
                answer = method(*given, **named)
                if isinstance(answer, Rows):
                    list(answer)

    with suppress(NotFound):
        client.status()

    known = declared.description()["paths"]
    wanted = {
        (method.upper(), "api-" + operation["operationId"].partition("_")[2].replace("_", "-"))
        for operations in known.values()
        for method, operation in operations.items()
    }
    assert wanted - recorder.asked == set()


@pytest.mark.no_database
def test_the_types_of_answers_are_what_the_api_describes() -> None:
    described = declared.description()
    expected = declared.types(described)
    if os.environ.get("ASSAY_REFRESH_DOCS"):
        declared.FILE.write_text(expected, encoding="utf-8")
    assert declared.FILE.read_text(encoding="utf-8") == expected
    for name, shape in described["components"]["schemas"].items():
        for field, of in shape.get("properties", {}).items():
            is_time = "date-time" in str(of) and name.endswith("Out")
            assert not is_time or models.is_time(field), (name, field)
