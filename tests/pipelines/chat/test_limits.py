"""What a bad server can do to us: nothing that a limit does not end."""

from __future__ import annotations

import resource
from typing import Any

import pytest

from pipelines.chat.client import OpenAIModel
from pipelines.llm import ChatMessage, InvalidReply, TooLargeReply, UnknownModel
from tests import llm_server
from tests.llm_server import LanguageServer

SCHEMA = {"type": "object", "properties": {"label": {"type": "string"}}, "required": ["label"]}
QUESTION = [ChatMessage("user", "Is it?")]
MEGABYTE = 1024 * 1024


def peak_megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


@pytest.mark.parametrize("way", ["endless", "large"])
@pytest.mark.parametrize("schema", [SCHEMA, None])
def test_no_reply_takes_more_memory_than_its_limit(
    model: OpenAIModel, server: LanguageServer, way: str, schema: Any
) -> None:
    model.complete(QUESTION, schema=schema)  # what is imported only now is no part of it
    server.megabytes = 8 if way == "large" else 64
    before = peak_megabytes()
    server.plan(way)

    with pytest.raises(TooLargeReply) as refused:
        model.complete(QUESTION, schema=schema)

    assert (refused.value.code, refused.value.values) == ("model.reply_too_large", {"limit": 4})
    assert len(server.requests) == 2  # not asked again: it would be as long
    assert refused.value.usage.completion_tokens == 16_000  # what it was allowed to be was paid
    assert refused.value.usage.estimated
    assert peak_megabytes() - before < 50
    assert server.sent_bytes < 20 * MEGABYTE


@pytest.mark.parametrize("way", ["packed", "bomb", "deep", "long_number", "other_shape"])
def test_what_is_no_reply_says_nothing_of_our_code(
    model: OpenAIModel, server: LanguageServer, way: str
) -> None:
    server.plan(way, way)

    with pytest.raises(InvalidReply) as refused:
        model.complete(QUESTION, schema=SCHEMA)

    said = str(refused.value)
    for ours in ("recursion", "NoneType", "attribute", "object is not", "set_int_max_str_digits"):
        assert ours not in said


def test_a_redirect_is_not_followed_and_says_where_it_leads(
    model: OpenAIModel, server: LanguageServer
) -> None:
    with llm_server.running() as other:
        server.elsewhere = f"http://user:secret@127.0.0.1:{other.server_port}/v1?key=abc"
        server.plan("moved")

        with pytest.raises(UnknownModel) as refused:
            model.complete(QUESTION)

        assert other.requests == []
        assert refused.value.code == "model.redirected"
        assert refused.value.values == {
            "status": 307,
            "to": f"http://127.0.0.1:{other.server_port}/v1",
            "setting": "LLM_BASE_URL",
        }


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": -5, "completion_tokens": 10},
        {"prompt_tokens": 10**30, "completion_tokens": 10},
        {"prompt_tokens": 5, "completion_tokens": 7.5},
        {"prompt_tokens": "many"},
        {"prompt_tokens": True, "completion_tokens": 1},
        ["five"],
        "five",
    ],
)
@pytest.mark.parametrize("schema", [SCHEMA, None])
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_a_count_that_cannot_be_true_is_replaced_by_our_estimate(
    model: OpenAIModel, server: LanguageServer, usage: Any, schema: Any
) -> None:
    server.usage = usage

    reply = model.complete(QUESTION, schema=schema)

    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (2, 6)
    assert reply.usage.estimated
    assert reply.usage.cost == pytest.approx((2 * 2 + 6 * 10) / 1_000_000)
