"""A client that a generator writes from the description goes the way of ours."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.handlers.wsgi import WSGIHandler
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer

from labeling.core import tokens
from tests import factories
from tests.clients.conftest import worker

NAME = "generated_assay"
FILES = dict.fromkeys(("application/zip", "application/x-ndjson"), "application/octet-stream")
"""Types that the generator does not know by themselves."""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    import openapi_python_client
    from openapi_python_client.config import Config, ConfigFile, MetaType

    folder = tmp_path_factory.mktemp("generated")
    description = folder / "openapi.json"
    described = SchemaGenerator().get_schema(request=None, public=True)
    description.write_bytes(OpenApiJsonRenderer().render(described))
    how = Config.from_sources(
        ConfigFile(post_hooks=[], content_type_overrides=FILES),
        MetaType.NONE,
        description,
        "utf-8",
        False,
        folder / NAME,
    )
    assert openapi_python_client.generate(config=how) == []
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module(NAME)
    for name in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[name]


def operation(subject: str, name: str) -> Any:
    return importlib.import_module(f"{NAME}.api.{subject}.{name}")


@pytest.fixture
def noor(generated: ModuleType, server: WSGIHandler, people: dict[str, User]) -> Any:
    token = tokens.issue(user=people["noor"], name="generated").secret
    client = generated.AuthenticatedClient("http://localhost", token, follow_redirects=False)
    transport = httpx.WSGITransport(server)
    headers = {"Authorization": f"Bearer {token}"}
    return client.set_httpx_client(
        httpx.Client(base_url="http://localhost", transport=transport, headers=headers)
    )


@pytest.mark.usefixtures("word_overlap")
def test_a_generated_client_launches_and_compares(noor: Any, people: dict[str, User]) -> None:
    factories.make_release(factories.make_project(), items=4, name="demo")
    models = importlib.import_module(f"{NAME}.models")

    (project,) = operation("projects", "get_projects").sync(client=noor).results
    assert project.slug == "orders"
    (release,) = operation("gold", "get_gold").sync(client=noor).results
    assert (release.name, release.version, release.n_items) == ("demo", 1, 4)

    def launch(pipeline: str) -> Any:
        asked = models.RunIn(gold="demo@1", pipeline=pipeline)
        return operation("runs", "post_runs").sync(client=noor, body=asked)

    floor, ceiling = launch("nothing"), launch("everything")
    assert isinstance(floor, models.RunDetailOut)
    assert floor.status == "queued"
    worker()
    finished = operation("runs", "get_run").sync(ceiling.id, client=noor)
    assert finished.status == "finished"
    assert {row.metric for row in finished.aggregates} >= {"requirement_f1", "requirement_recall"}

    compared = operation("runs", "get_compare").sync(
        client=noor, baseline=floor.id, run=[ceiling.id]
    )
    (row,) = compared.runs
    assert (row.run, row.cases) == (ceiling.id, 4)
    assert row.sentence

    refused = operation("runs", "get_run").sync(10**6, client=noor)
    assert isinstance(refused, models.ErrorOut)
    assert refused.code == "not_found"
