"""Every way in which a server can answer, over a real socket: each ends as a typed result."""

from __future__ import annotations

import asyncio
import os
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from config.env import no_tracing
from pipelines.chat.client import TRIES, OpenAIModel
from pipelines.llm import (
    ChatMessage,
    InvalidReply,
    ModelError,
    NoQuota,
    PromptTooLong,
    RateLimited,
    Refused,
    Reply,
    Unavailable,
    UnknownModel,
    WrongKey,
)
from tests.llm_server import KEY, SERVED, LanguageServer

SCHEMA = {
    "type": "object",
    "properties": {"label": {"type": "string"}},
    "required": ["label"],
}
QUESTION = [ChatMessage("system", "You label."), ChatMessage("user", "Is it?")]
YES = {"label": "yes"}
ONE_CALL = 0.0003  # (100 × 2 + 10 × 10) / 1 000 000


def ask(model: OpenAIModel, schema: dict[str, Any] | None = SCHEMA) -> Reply:
    return model.complete(QUESTION, schema=schema)


def test_a_good_reply_comes_with_its_tokens_its_cost_and_the_models_own_name(
    model: OpenAIModel, server: LanguageServer
) -> None:
    reply = ask(model)

    assert reply.data == YES
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (100, 10)
    assert reply.usage.cost == pytest.approx(ONE_CALL)
    assert not reply.usage.estimated
    assert reply.model == SERVED
    assert not reply.cached
    (sent,) = server.requests
    assert sent["messages"] == [{"role": m.role, "content": m.content} for m in QUESTION]
    asked = sent["response_format"]["json_schema"]
    assert asked["schema"] == {**SCHEMA, "additionalProperties": False}
    assert (asked["strict"], reply.schema_by) == (True, "strict")
    assert not {"temperature", "reasoning_effort"} & sent.keys()
    assert (sent["stream"], sent["max_completion_tokens"]) == (True, 16_000)


def test_what_the_settings_name_is_sent_and_nothing_is_bound_where_text_is_asked_for(
    make_model: Any, server: LanguageServer
) -> None:
    model = make_model(temperature=0.0, reasoning_effort="low", input_price=None)

    reply = ask(model, schema=None)

    (sent,) = server.requests
    assert (sent["temperature"], sent["reasoning_effort"]) == (0.0, "low")
    assert "response_format" not in sent
    assert (reply.text, reply.data) == (server.answer, None)
    assert reply.usage.cost is None  # not known, and not nothing


def test_kept_and_thought_tokens_are_in_the_books(make_model: Any, server: LanguageServer) -> None:
    server.usage |= {
        "prompt_tokens_details": {"cached_tokens": 80},
        "completion_tokens_details": {"reasoning_tokens": 7},
    }

    usage = ask(make_model(cached_price=0.5)).usage

    assert (usage.cached_tokens, usage.reasoning_tokens) == (80, 7)
    assert usage.cost == pytest.approx((20 * 2 + 80 * 0.5 + 10 * 10) / 1_000_000)


@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_schema_is_put_into_words_where_the_server_takes_none_and_the_reply_says_so(
    model: OpenAIModel, server: LanguageServer, status: int
) -> None:
    server.refuses_format = status

    replies = [ask(model), ask(model)]

    assert ["response_format" in body for body in server.requests] == [True, False, False]
    assert {reply.schema_by for reply in replies} == {"words"}
    system, user = server.requests[-1]["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert '"required": ["label"]' in system["content"]


def test_a_schema_that_cannot_be_strict_is_put_into_words(
    model: OpenAIModel, server: LanguageServer
) -> None:
    open_schema = {"type": "object", "properties": {"label": {"type": "string"}}}

    assert ask(model, open_schema).schema_by == "words"

    assert "response_format" not in server.requests[0]


@pytest.mark.parametrize(
    ("said", "kept"), [("tiny\x00-\ud8001", "tiny-1"), ("x" * 300, "x" * 200), ("\x00", "tiny")]
)
def test_what_a_server_calls_its_model_can_be_stored(
    model: OpenAIModel, server: LanguageServer, said: str, kept: str
) -> None:
    server.served = said

    name = ask(model).model

    assert name == (kept if kept != "tiny" else model.id.partition("/")[2])


def test_a_server_that_does_not_count_gets_its_tokens_estimated(
    model: OpenAIModel, server: LanguageServer
) -> None:
    server.counts_tokens = False

    usage = ask(model).usage

    assert usage.estimated
    assert usage.prompt_tokens == 6  # 16 characters by threes, rounded up
    assert usage.completion_tokens == 6  # {"label": "yes"} has 16
    assert usage.cost == pytest.approx((6 * 2 + 6 * 10) / 1_000_000)


@pytest.mark.parametrize("way", ["fenced", "sloppy"])
def test_a_reply_is_read_out_of_its_wrapping_without_asking_again(
    model: OpenAIModel, server: LanguageServer, way: str
) -> None:
    server.plan(way)

    assert ask(model).data == YES
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("way", "named"),
    [
        ("truncated", "cut off"),
        ("broken_off", "breaks off before its end"),
        ("wrong_schema", "label: 7 is not of type 'string'"),
        ("prose", "holds no JSON"),
        ("empty", "is empty"),
    ],
)
def test_an_unusable_reply_is_asked_for_once_more_with_the_problem_named(
    model: OpenAIModel, server: LanguageServer, way: str, named: str
) -> None:
    server.plan(way)

    reply = ask(model)

    assert reply.data == YES
    assert reply.usage.prompt_tokens == 200  # both were paid
    assert reply.usage.cost == pytest.approx(2 * ONE_CALL)
    assert len(server.requests) == 2
    assert named in server.requests[1]["messages"][-1]["content"]
    assert server.requests[1]["messages"][-2]["role"] == "assistant"


@pytest.mark.parametrize("way", ["truncated", "wrong_schema"])
def test_what_is_unusable_twice_is_an_invalid_reply_that_was_paid(
    model: OpenAIModel, server: LanguageServer, way: str
) -> None:
    server.plan(way, way)

    with pytest.raises(InvalidReply, match=r"reply\.unusable_twice") as caught:
        ask(model)

    assert len(server.requests) == 2
    assert caught.value.usage.prompt_tokens == 200
    assert caught.value.usage.cost == pytest.approx(2 * ONE_CALL)


@pytest.mark.parametrize(
    ("way", "schema", "error", "said", "cost"),
    [
        ("truncated", None, InvalidReply, r"reply\.cut_off", ONE_CALL),
        ("empty", None, InvalidReply, r"reply\.no_text", ONE_CALL),
        ("refusal", SCHEMA, Refused, r"model\.declined", ONE_CALL),
        ("refusal", None, Refused, r"model\.declined", ONE_CALL),
        ("filtered", SCHEMA, Refused, r"model\.declined", ONE_CALL),
        ("filtered", None, Refused, r"model\.declined", ONE_CALL),
        ("no_quota", SCHEMA, NoQuota, "You exceeded your current quota", 0),
        ("too_long", SCHEMA, PromptTooLong, r"model\.prompt_too_long", 0),
        ("too_long_without_code", SCHEMA, PromptTooLong, "maximum context length is 4096", 0),
        ("unknown_model", SCHEMA, UnknownModel, r"model\.unknown", 0),
        ("page", SCHEMA, InvalidReply, r"model\.other_shape", 0),
        ("page_not_found", SCHEMA, UnknownModel, r"model\.web_page .*LLM_BASE_URL", 0),
        ("odd_words", SCHEMA, ModelError, r"model\.server_refused", 0),  # only like a parameter's
    ],
)
def test_what_would_fail_again_is_not_tried_again_and_costs_what_was_answered(
    model: OpenAIModel, server: LanguageServer, waits: list[float],
    way: str, schema: Any, error: type[ModelError], said: str, cost: float,
) -> None:  # fmt: skip
    server.plan(way)

    with pytest.raises(error, match=said) as caught:
        ask(model, schema)

    assert type(caught.value) is error
    assert (len(server.requests), waits) == (1, [])
    assert caught.value.usage.cost == pytest.approx(cost)


@pytest.mark.parametrize("way", ["torn", "unfinished", "stumbling"])
def test_a_stream_that_breaks_off_is_tried_again_and_what_came_is_in_the_books(
    model: OpenAIModel, server: LanguageServer, way: str
) -> None:
    server.plan(way)

    reply = ask(model)

    assert (reply.data, len(server.requests)) == (YES, 2)
    assert reply.usage.completion_tokens == 10 + 5  # "Let me think." by threes
    assert reply.usage.estimated


@pytest.mark.parametrize(
    ("way", "error"),
    [("failing", Unavailable), ("reset", Unavailable), ("rate_limited", RateLimited)],
)
def test_a_failure_that_may_pass_is_tried_again_and_given_up_at_last(
    model: OpenAIModel,
    server: LanguageServer,
    waits: list[float],
    way: str,
    error: type[ModelError],
) -> None:
    server.plan(way, way)

    assert ask(model).data == YES
    assert len(server.requests) == TRIES == 3
    assert len(waits) == 2
    assert waits[1] > waits[0] >= 0.2

    server.default = way
    with pytest.raises(error):
        ask(model)
    assert len(server.requests) == 2 * TRIES


def test_the_server_is_given_the_time_it_asks_for(
    model: OpenAIModel, server: LanguageServer, waits: list[float]
) -> None:
    server.retry_after = "2"
    server.plan("rate_limited")

    assert ask(model).data == YES
    assert waits == [2.0]


def test_a_wait_that_is_too_long_is_handed_to_the_caller_with_its_end(
    model: OpenAIModel, server: LanguageServer, waits: list[float]
) -> None:
    server.retry_after = "7200"
    server.plan("rate_limited")

    with pytest.raises(RateLimited) as caught:
        ask(model)

    assert caught.value.retry_after == 7200
    said = caught.value.values["until"].replace(" UTC", "+00:00")
    left = datetime.fromisoformat(said) - datetime.now(UTC)
    assert timedelta(minutes=110) < left < timedelta(minutes=121)
    assert (len(server.requests), waits) == (1, [])
    with pytest.raises(RateLimited):  # and nobody asks before that
        ask(model)
    assert len(server.requests) == 1


@pytest.mark.parametrize("wrong", ["sk-wrong-9876543210zyx", "correct horse battery"])
def test_the_key_is_in_no_error_and_no_traceback(make_model: Any, wrong: str) -> None:
    model = make_model(api_key=wrong)

    with pytest.raises(WrongKey, match=r"model\.wrong_key") as caught:
        ask(model)

    assert caught.value.values["setting"] == "LLM_API_KEY"
    shown = "".join(traceback.format_exception(caught.value)) + str(caught.value.values)
    assert wrong not in shown
    assert KEY not in shown
    assert wrong not in repr(model.endpoint)


def test_it_works_inside_somebody_elses_event_loop(model: OpenAIModel) -> None:
    async def inside() -> Reply:
        return ask(model)

    with ThreadPoolExecutor(1) as another:  # a browser test may have left a loop in this thread
        assert another.submit(lambda: asyncio.run(inside())).result().data == YES


def test_no_more_requests_are_under_way_than_the_limit_allows(
    make_model: Any, server: LanguageServer
) -> None:
    together = threading.Barrier(3)

    def slowly(body: dict[str, Any]) -> str:
        together.wait(60)
        time.sleep(0.03)  # in which more could come
        return server.answer

    server.default = slowly
    model = make_model(max_concurrency=3)
    threads = [threading.Thread(target=ask, args=[model]) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(server.requests) == 12
    assert server.most_at_once == 3


def test_a_server_that_repeats_the_key_tells_nobody(
    make_model: Any, server: LanguageServer
) -> None:
    server.plan(lambda body: f"You sent {KEY}, and sk-is-no-key-of-ours.")

    reply = make_model().complete([ChatMessage("user", "Hello")])

    assert reply.text == "You sent [key], and sk-is-no-key-of-ours."


def test_no_prompt_is_sent_to_langsmith_whatever_the_shell_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from langsmith import utils

    utils.get_env_var.cache_clear()
    for name in ("LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING"):
        monkeypatch.setenv(name, "true")
    assert utils.tracing_is_enabled()

    utils.get_env_var.cache_clear()
    no_tracing(os.environ)

    assert not utils.tracing_is_enabled()


def test_the_limit_of_a_reply_goes_by_the_older_name_to_a_server_that_knows_only_that(
    model: OpenAIModel, server: LanguageServer
) -> None:
    server.unknown = {"max_completion_tokens"}

    assert ask(model).data == YES
    assert ask(model).data == YES

    names = [body.keys() & {"max_completion_tokens", "max_tokens"} for body in server.requests]
    assert names == [{"max_completion_tokens"}, {"max_tokens"}, {"max_tokens"}]
    assert server.requests[-1]["max_tokens"] == model.endpoint.max_tokens


@pytest.mark.parametrize(
    ("parameters", "setting"),
    [
        ({"temperature"}, "LLM_TEMPERATURE"),
        ({"reasoning_effort"}, "LLM_REASONING_EFFORT"),
        ({"max_completion_tokens", "max_tokens"}, "LLM_MAX_TOKENS"),
    ],
)
def test_a_refused_parameter_names_the_setting_that_decides_on_it(
    make_model: Any, server: LanguageServer, parameters: set[str], setting: str
) -> None:
    server.unknown = parameters

    with pytest.raises(UnknownModel) as caught:
        ask(make_model(temperature=0.5, reasoning_effort="low"))

    assert caught.value.code == "model.parameter_refused"
    assert caught.value.values["setting"] == setting


def test_nobody_listening_is_said_with_the_address_and_no_secret(make_model: Any) -> None:
    with pytest.raises(Unavailable) as caught:
        ask(make_model(base_url="http://kim:pw-123456@127.0.0.1:9/v1"))

    assert caught.value.values["address"] == "http://127.0.0.1:9/v1"
    assert "pw-123456" not in str(caught.value)


@pytest.mark.parametrize(("way", "written"), [("hanging", 0), ("dripping", None), ("stalling", 5)])
def test_a_request_ends_at_its_time_limit_and_costs_what_was_sent_and_came_by_estimate(
    make_model: Any, server: LanguageServer, way: str, written: int | None
) -> None:
    server.default = way

    with pytest.raises(Unavailable, match=r"model\.no_answer_in_time") as caught:
        ask(make_model(timeout_seconds=0.5))  # the server would never come to an end

    assert len(server.requests) <= 1  # what took all its time is not paid for again
    assert caught.value.values == {"limit": 0.5}
    usage = caught.value.usage
    assert usage.estimated
    assert usage.cost > 0
    if written is not None:
        sent = sum(len(turn["content"]) for turn in server.requests[0]["messages"])
        assert sent / 5 < usage.prompt_tokens <= sent / 3 + 1
        assert usage.completion_tokens == written


def test_a_proxy_of_the_environment_is_used_and_no_library_says_a_word(
    make_model: Any, server: LanguageServer, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.address)
    monkeypatch.setenv("HTTPS_PROXY", server.address)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)

    assert ask(make_model(base_url="http://model.invalid/v1")).data == YES

    assert len(server.requests) == 1
    assert not [record for record in caplog.records if "proxy" in record.getMessage().lower()]
