"""A chat model over LangChain, for any server that speaks the OpenAI protocol.

The only place where requests are retried. LangChain and the client below it don't retry,
and callers may take the errors of this module as final.
"""

from __future__ import annotations

import json
import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pipelines.chat import background, failures, receiving
from pipelines.chat.counting import tokens_in, usage_of
from pipelines.chat.endpoint import Endpoint
from pipelines.chat.limiter import AdaptiveLimit
from pipelines.chat.redaction import without
from pipelines.llm import (
    NO_USAGE,
    ChatMessage,
    InvalidReply,
    ModelError,
    RateLimited,
    Refused,
    Reply,
    TooLargeReply,
    Usage,
)
from pipelines.parsing import Unparsable, parse_json, schema_problem
from pipelines.types import JsonSchema

logger = logging.getLogger(__name__)

TRIES = 3
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0
"""A longer wait is reported instead: the run pauses rather than keep a worker busy."""
LONGEST_NAME = 200  # of a model's name, as the server reports it

NEWER, OLDER = "max_completion_tokens", "max_tokens"
"""What servers call the limit of a reply."""

FORMAT_NAME = "reply"
INSTRUCTION = (
    "Reply with one JSON document and nothing else. It must fit this JSON schema:\n{schema}"
)
ASK_AGAIN = (
    "Your reply cannot be used. {problem} Reply again with the whole, corrected JSON document "
    "and nothing else. It must fit this JSON schema:\n{schema}"
)
PROBLEMS = {
    "reply.cut_off": "The model's reply was cut off (LLM_MAX_TOKENS is {limit}).",
    "reply.empty": "The reply is empty.",
    "reply.too_deep": "The reply is nested too deeply.",
    "reply.no_json": "The reply holds no JSON that can be read.",
    "reply.broken_off": "The reply breaks off before its end.",
    "reply.only_reasoning": "The reply holds nothing but reasoning.",
    "reply.unfit": "It does not fit the schema: {problem}.",
}
"""What is wrong with the model's reply, for the prompt that asks again."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one request, before it is understood."""

    text: str
    counted: object
    """The server's own count of tokens, as it was sent."""
    model: str
    truncated: bool = False
    refused: bool = False


class OpenAIModel:
    def __init__(self, endpoint: Endpoint, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.endpoint = endpoint
        self.limit = AdaptiveLimit(endpoint.max_concurrency)
        self._sleep = sleep
        self._takes_format = True
        self._limit_name = NEWER

    @property
    def id(self) -> str:
        return self.endpoint.id

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: JsonSchema | None = None,
        repetition: int = 0,
    ) -> Reply:
        """``repetition`` distinguishes copies in a cache; the server never sees it."""
        bill = Bill(self.endpoint)
        try:
            if schema is None:
                return self._text(messages, bill)
            return self._document(list(messages), schema, bill)
        except ModelError as error:
            error.usage = bill.usage
            raise

    def prepare(self) -> None:
        """Load what asks the server, so that no reply seems to have taken that long."""
        _ = self._chat

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        if "_chat" in self.__dict__:
            chat = self.__dict__.pop("_chat")
            background.run(chat.http_async_client.aclose(), seconds=5)

    def _text(self, messages: Sequence[ChatMessage], bill: Bill) -> Reply:
        answer = self._answer(messages, None, bill)
        if answer.truncated:
            raise InvalidReply("reply.cut_off", limit=self.endpoint.max_tokens)
        if not answer.text.strip():
            raise InvalidReply("reply.no_text")
        return bill.reply(answer)

    def _document(self, messages: list[ChatMessage], schema: JsonSchema, bill: Bill) -> Reply:
        answer = self._answer(messages, schema, bill)
        try:
            data = self._understood(answer, schema)
        except Unparsable as problem:
            again = ASK_AGAIN.format(problem=_described(problem), schema=_shown(schema))
            dialogue = [ChatMessage("assistant", answer.text or "–"), ChatMessage("user", again)]
            answer = self._answer([*messages, *dialogue], schema, bill)
            data = self._second(answer, schema)
        return bill.reply(answer, data)

    def _second(self, answer: Answer, schema: JsonSchema) -> Any:
        try:
            return self._understood(answer, schema)
        except Unparsable as problem:
            raise InvalidReply("reply.unusable_twice", problem=problem.as_json()) from None

    def _understood(self, answer: Answer, schema: JsonSchema) -> Any:
        if answer.truncated:
            raise Unparsable("reply.cut_off", limit=self.endpoint.max_tokens)
        value = parse_json(answer.text, schema)
        problem = schema_problem(value, schema)
        if problem:
            raise Unparsable("reply.unfit", problem=problem)
        return value

    def _answer(
        self, messages: Sequence[ChatMessage], schema: JsonSchema | None, bill: Bill
    ) -> Answer:
        for attempt in range(1, TRIES + 1):
            bill.requests += 1
            try:
                answer = self._limited(messages, schema)
                break
            except TooLargeReply:
                bill.add_unread(messages)
                raise
            except failures.RETRIED as error:
                if error.code == failures.OUT_OF_TIME:
                    bill.add_unanswered(messages)
                wait = self._wait(error, attempt)
                if wait is None:
                    raise
                self._sleep(wait)
        bill.add(messages, answer)
        if answer.refused:
            raise Refused("model.declined")
        return answer

    def _wait(self, error: ModelError, attempt: int) -> float | None:
        """Seconds until the next try, or None if there is none."""
        asked = error.retry_after if isinstance(error, RateLimited) else None
        if attempt == TRIES or (asked or 0) > LONGEST_WAIT_SECONDS:
            return None
        backoff = FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1)
        spread = random.uniform(0.75, 1.25)  # so that threads don't all retry at the same moment
        return max(asked or 0.0, min(backoff * spread, LONGEST_WAIT_SECONDS))

    def _limited(self, messages: Sequence[ChatMessage], schema: JsonSchema | None) -> Answer:
        with self.limit.slot(patience=LONGEST_WAIT_SECONDS):
            return self._formatted(messages, schema)

    def _formatted(self, messages: Sequence[ChatMessage], schema: JsonSchema | None) -> Answer:
        """The schema as ``response_format`` where the server takes it, else as an instruction."""
        if schema is None:
            return self._request(messages, {})
        if self._takes_format:
            try:
                return self._request(messages, {"response_format": _format(schema)})
            except FormatRefused:
                self._takes_format = False
        return self._request(_instructed(messages, schema), {})

    def _request(self, messages: Sequence[ChatMessage], options: Mapping[str, object]) -> Answer:
        limit = self.endpoint.timeout_seconds
        turns = [{"role": message.role, "content": message.content} for message in messages]
        try:
            asked = self._chat.ainvoke(turns, **self._longest(), **options)
            message = background.run(asked, seconds=limit)
        except Exception as error:  # from three libraries: failures.typed sorts them
            unfinished = _unfinished(error, self.endpoint)
            if unfinished is not None:
                return unfinished
            if options and failures.takes_no_format(error):
                raise FormatRefused from None
            if self._limit_name == NEWER and failures.does_not_know(error, NEWER):
                self._limit_name = OLDER
                logger.info("%s does not know %s: %s is sent.", self.id, NEWER, OLDER)
                return self._request(messages, options)
            # without its cause, which quotes the request: tracebacks are logged
            raise failures.typed(error, self.endpoint) from None
        return _answer_of(message, self.endpoint)

    def _longest(self) -> Mapping[str, object]:
        most = self.endpoint.max_tokens
        if self._limit_name == NEWER:
            return {NEWER: most}
        return {"extra_body": {OLDER: most}}  # past the library, which would rename it

    @cached_property
    def _chat(self) -> Any:
        import openai
        from langchain_openai import ChatOpenAI
        from pydantic import SecretStr

        endpoint = self.endpoint
        client = openai.DefaultAsyncHttpxClient(
            timeout=endpoint.timeout_seconds,
            follow_redirects=False,  # or the conversation would go to whatever address it names
            headers=receiving.ACCEPTED,
            event_hooks={"response": [receiving.guard(endpoint.max_reply_bytes)]},
        )

        class Chat(ChatOpenAI):
            """Leaves the server's count of tokens as it is: what it says is judged by us."""

            def _create_chat_result(self, response: Any, generation_info: Any = None) -> Any:
                counted = getattr(response, "usage", None)
                if counted is not None:
                    response.usage = None
                result = super()._create_chat_result(response, generation_info)
                result.llm_output = {**(result.llm_output or {}), "counted": _plain(counted)}
                return result

        return Chat(
            model=endpoint.model,
            base_url=endpoint.base_url,
            api_key=SecretStr(endpoint.api_key or "none"),
            temperature=endpoint.temperature,
            timeout=endpoint.timeout_seconds,
            max_retries=0,
            http_socket_options=(),  # or the library warns that its unused client knows no proxy
            cache=False,
            use_responses_api=False,
            http_async_client=client,
        )


class FormatRefused(Exception):
    """The server does not take ``response_format``."""


class Bill:
    """The cost of a reply, over all requests that it takes."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.usage = NO_USAGE
        self.requests = 0

    def add(self, messages: Sequence[ChatMessage], answer: Answer) -> None:
        self._add(
            usage_of(
                answer.counted,
                sent=sum(len(message.content) for message in messages),
                received=len(answer.text),
                max_tokens=self._endpoint.max_tokens,
            )
        )

    def add_unread(self, messages: Sequence[ChatMessage]) -> None:
        """A reply that was longer than what is read: all that it was allowed to be."""
        written = sum(len(message.content) for message in messages)
        self._add(Usage(tokens_in(written), self._endpoint.max_tokens, estimated=True))

    def add_unanswered(self, messages: Sequence[ChatMessage]) -> None:
        """The server has read the prompt, and may bill it, though no reply came in time."""
        written = sum(len(message.content) for message in messages)
        self._add(Usage(tokens_in(written), 0, estimated=True))

    def _add(self, usage: Usage) -> None:
        self.usage = self.usage + replace(usage, cost=self._endpoint.cost(usage))

    def reply(self, answer: Answer, data: Any = None) -> Reply:
        retries = self.requests - 1
        return Reply(answer.text, data, self.usage, model=answer.model, retries=retries)


def _answer_of(message: Any, endpoint: Endpoint) -> Answer:
    key = endpoint.api_key
    about = message.response_metadata
    return Answer(
        text=without(message.text if isinstance(message.text, str) else message.text(), key),
        counted=about.get("counted"),
        model=_named(about.get("model_name"), endpoint),
        truncated=about.get("finish_reason") == "length",
        refused=bool(message.additional_kwargs.get("refusal"))
        or about.get("finish_reason") == "content_filter",
    )


def _unfinished(error: Exception, endpoint: Endpoint) -> Answer | None:
    """The client raises when a structured reply was cut off or filtered, though it is paid for."""
    import openai

    cut_off = isinstance(error, openai.LengthFinishReasonError)
    if not cut_off and not isinstance(error, openai.ContentFilterFinishReasonError):
        return None
    completion: Any = getattr(error, "completion", None)
    if completion is None:
        return Answer("", None, endpoint.model, truncated=cut_off, refused=not cut_off)
    return Answer(
        text=without(completion.choices[0].message.content or "", endpoint.api_key),
        counted=_plain(completion.usage),
        model=_named(completion.model, endpoint),
        truncated=cut_off,
        refused=not cut_off,
    )


def _plain(counted: Any) -> Any:
    """The count as it was sent, whatever its types."""
    return counted.model_dump(warnings=False) if hasattr(counted, "model_dump") else counted


def _named(name_sent: object, endpoint: Endpoint) -> str:
    """The server's name for its model, without characters that a database would refuse."""
    name = "".join(character for character in str(name_sent or "") if character.isprintable())[
        :LONGEST_NAME
    ]
    return name or endpoint.model


def _format(schema: JsonSchema) -> Mapping[str, object]:
    """Not ``strict``: that takes a part of JSON Schema only, and the reply is checked anyway."""
    return {
        "type": "json_schema",
        "json_schema": {"name": FORMAT_NAME, "schema": schema, "strict": False},
    }


def _instructed(messages: Sequence[ChatMessage], schema: JsonSchema) -> list[ChatMessage]:
    """In the first message if that is the system's: many servers accept them nowhere else."""
    instruction = INSTRUCTION.format(schema=_shown(schema))
    if messages and messages[0].role == "system":
        first = ChatMessage("system", f"{messages[0].content}\n\n{instruction}")
        return [first, *messages[1:]]
    return [ChatMessage("system", instruction), *messages]


def _described(problem: Unparsable) -> str:
    return PROBLEMS[problem.code].format(**problem.values)


def _shown(schema: JsonSchema) -> str:
    return json.dumps(schema, ensure_ascii=False)
