from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pipelines.chat.client import OpenAIModel
from pipelines.chat.endpoint import Endpoint
from tests import llm_server
from tests.llm_server import LanguageServer


@pytest.fixture
def server() -> Iterator[LanguageServer]:
    with llm_server.running() as server:
        yield server


@pytest.fixture
def waits() -> list[float]:
    """Seconds that the client would have waited between tries."""
    return []


@pytest.fixture
def make_model(server: LanguageServer, waits: list[float]) -> Iterator[Callable[..., OpenAIModel]]:
    made: list[OpenAIModel] = []

    def make(**options: Any) -> OpenAIModel:
        given: dict[str, Any] = {
            "model": llm_server.MODEL,
            "base_url": server.url,
            "provider": "test",
            "api_key": llm_server.KEY,
            "input_price": 2.0,
            "output_price": 10.0,
        }
        made.append(OpenAIModel(Endpoint(**(given | options)), sleep=waits.append))
        return made[-1]

    yield make
    for model in made:
        model.close()


@pytest.fixture
def model(make_model: Callable[..., OpenAIModel]) -> OpenAIModel:
    return make_model()
