"""A chat model by the vendor's client, for any server that speaks the OpenAI protocol.

The only place where requests are retried. The client below it doesn't retry, and callers may take
the errors of this module as final.
"""

from __future__ import annotations

import json
import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pipelines.chat import background, failures, receiving
from pipelines.chat.counting import tokens_in, usage_of
from pipelines.chat.endpoint import Endpoint
from pipelines.chat.limiter import AdaptiveLimit
from pipelines.chat.redaction import without
from pipelines.chat.strict import strict
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
ASKED = 2
"""How often for a document: what cannot be used is asked for once more."""

NEWER, OLDER = "max_completion_tokens", "max_tokens"
"""What servers call the limit of a reply."""
COUNTED = "stream_options"
"""By which a count of the tokens is asked for."""

STRICT, WORDS = "strict", "words"
"""How a schema is asked for: the reply is bound to it, or it stands in the prompt, which every
server takes."""
FORMAT_NAME = "reply"
INSTRUCTION = (
    "Reply with one JSON document and nothing else. It must fit this JSON schema:\n{schema}"
)
ASK_AGAIN = (
    "Your reply cannot be used. {problem} Reply again with the whole, corrected JSON document "
    "and nothing else. It must fit this JSON schema:\n{schema}"
)
PROBLEMS = {
    "reply.cut_off": "The reply was cut off: it may have {limit} tokens.",
    "reply.empty": "The reply is empty.",
    "reply.too_deep": "The reply is nested too deeply.",
    "reply.no_json": "The reply holds no JSON that can be read.",
    "reply.broken_off": "The reply breaks off before its end.",
    "reply.only_reasoning": "The reply holds nothing but reasoning.",
    "reply.unfit": "It does not fit the schema: {problem}.",
}
"""What is wrong with the model's reply, for the prompt that asks again."""


@dataclass(slots=True)
class Answer:
    """What came back for one request, before it is understood; it grows as it arrives."""

    model: str
    text: str = ""
    counted: object = None
    """The server's own count of tokens, as it was sent."""
    ended_by: str = ""
    refused: bool = False
    schema_by: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def truncated(self) -> bool:
        return self.ended_by == "length"


class OpenAIModel:
    def __init__(self, endpoint: Endpoint, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.endpoint = endpoint
        self.limit = AdaptiveLimit(endpoint.max_concurrency)
        self._sleep = sleep
        self._binds = True
        """Whether the server takes schemas, as far as it is known."""
        self._unknown: set[str] = set()
        """Parameters that it does not know, and that can be left out."""

    @property
    def id(self) -> str:
        return self.endpoint.id

    @property
    def context_tokens(self) -> int:
        return self.endpoint.context_tokens

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
            return self._document(messages, schema, bill)
        except ModelError as error:
            error.usage = bill.usage
            raise

    def prepare(self) -> None:
        """Load what asks the server, so that no reply seems to have taken that long."""
        _ = self._client

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        if "_client" in self.__dict__:
            background.run(self.__dict__.pop("_client").close(), seconds=5)

    def _text(self, messages: Sequence[ChatMessage], bill: Bill) -> Reply:
        answer = self._answer(messages, None, bill)
        if answer.truncated:
            raise InvalidReply("reply.cut_off", limit=self.endpoint.max_tokens)
        if not answer.text.strip():
            raise InvalidReply("reply.no_text")
        return bill.reply(answer)

    def _document(self, messages: Sequence[ChatMessage], schema: JsonSchema, bill: Bill) -> Reply:
        """What cannot be used is asked for once more, with what is wrong."""
        for _ in range(ASKED):
            answer = self._answer(messages, schema, bill)
            try:
                return bill.reply(answer, self._understood(answer, schema))
            except Unparsable as unusable:
                problem = unusable
            said = PROBLEMS[problem.code].format(**problem.values)
            again = ASK_AGAIN.format(problem=said, schema=_shown(schema))
            turns = [ChatMessage("assistant", answer.text or "–"), ChatMessage("user", again)]
            messages = [*messages, *turns]
        error = InvalidReply("reply.unusable_twice", problem=problem.as_json())
        error.text = answer.text
        raise error

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
            answer = Answer(self.endpoint.model)
            try:
                with self.limit.slot(patience=LONGEST_WAIT_SECONDS):
                    while not self._asked(messages, schema, answer):
                        pass  # in another way, see ``_adapted``
                break
            except TooLargeReply:  # paid for, and longer than what is read
                bill.estimate(messages, self.endpoint.max_tokens)
                raise
            except failures.RETRIED as error:
                # the server may bill the prompt, and what it wrote, though the reply did not end
                if answer.pieces or error.code == failures.OUT_OF_TIME:
                    bill.estimate(messages, tokens_in(len(answer.text)))
                wait = self._wait(error, attempt)
                if wait is None:
                    raise
                self._sleep(wait)
        bill.add(messages, answer)
        if answer.refused:
            raise Refused("model.declined")
        return answer

    def _wait(self, error: ModelError, attempt: int) -> float | None:
        """Seconds until the next try, or None if there is none.

        What took all the time that it was given is not paid for again.
        """
        asked = error.retry_after if isinstance(error, RateLimited) else None
        final = attempt == TRIES or error.code == failures.OUT_OF_TIME
        if final or (asked or 0) > LONGEST_WAIT_SECONDS:
            return None
        backoff = FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1)
        spread = random.uniform(0.75, 1.25)  # so that threads don't all retry at the same moment
        return max(asked or 0.0, min(backoff * spread, LONGEST_WAIT_SECONDS))

    def _asked(
        self, messages: Sequence[ChatMessage], schema: JsonSchema | None, answer: Answer
    ) -> bool:
        """False if the server does not take such a request and another one can be made."""
        options = self._options(schema, answer)
        if answer.schema_by == WORDS and schema is not None:
            messages = _instructed(messages, schema)
        turns = [{"role": message.role, "content": message.content} for message in messages]
        try:
            asked = self._read(answer, messages=turns, **options)
            background.run(asked, seconds=self.endpoint.timeout_seconds)
        except Exception as error:  # from three libraries: failures.typed sorts them
            if self._adapted(error, options):
                return False
            answer.text = "".join(answer.pieces)
            # without its cause, which quotes the request: tracebacks are logged
            raise failures.typed(error, self.endpoint) from None
        answer.text = without("".join(answer.pieces), self.endpoint.api_key)
        answer.refused |= answer.ended_by == "content_filter"
        return True

    def _options(self, schema: JsonSchema | None, answer: Answer) -> dict[str, object]:
        endpoint = self.endpoint
        options: dict[str, object] = {"stream": True}
        options[OLDER if NEWER in self._unknown else NEWER] = endpoint.max_tokens
        if COUNTED not in self._unknown:
            options[COUNTED] = {"include_usage": True}
        if endpoint.temperature is not None:
            options["temperature"] = endpoint.temperature
        if endpoint.reasoning_effort:
            options["reasoning_effort"] = endpoint.reasoning_effort
        if schema is not None:
            bound = strict(schema) if self._binds else None
            answer.schema_by = STRICT if bound else WORDS
            if bound:  # the reply is checked in any case
                asked = {"name": FORMAT_NAME, "schema": bound, "strict": True}
                options["response_format"] = {"type": "json_schema", "json_schema": asked}
        return options

    def _adapted(self, error: Exception, options: Mapping[str, object]) -> bool:
        """Whether the server refused something that can be asked for otherwise from now on."""
        if "response_format" in options and failures.takes_no_format(error):
            self._binds = False
            logger.warning("%s takes no schema: it is asked for in words.", self.id)
            return True
        for name in (NEWER, COUNTED):
            if name in options and failures.does_not_know(error, name):
                self._unknown.add(name)
                logger.info("%s does not know %s.", self.id, name)
                return True
        return False

    async def _read(self, answer: Answer, **request: Any) -> None:
        """The reply piece by piece, so that of one that is given up the tokens are known."""
        ask = self._client.chat.completions.create
        stream = await ask(model=self.endpoint.model, **request)
        async with stream:
            if "event-stream" not in stream.response.headers.get("content-type", ""):
                raise TypeError("no stream")
            async for chunk in stream:
                self._take(answer, chunk)
            if not answer.ended_by:
                raise ConnectionError("the reply breaks off")

    def _take(self, answer: Answer, chunk: Any) -> None:
        # without characters that a database would refuse
        name = "".join(filter(str.isprintable, str(chunk.model or "")))
        answer.model = name[:LONGEST_NAME] or self.endpoint.model
        answer.counted = getattr(chunk, "usage", None) or answer.counted
        for choice in (chunk.choices or ())[:1]:
            if isinstance(choice.delta.content, str):
                answer.pieces.append(choice.delta.content)
            answer.refused |= bool(choice.delta.refusal)
            answer.ended_by = choice.finish_reason or answer.ended_by

    @cached_property
    def _client(self) -> Any:
        import openai

        endpoint = self.endpoint
        return openai.AsyncOpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.api_key or "none",
            timeout=endpoint.timeout_seconds,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(
                timeout=endpoint.timeout_seconds,
                follow_redirects=False,  # or the conversation would go wherever it names
                headers=receiving.ACCEPTED,
                event_hooks={"response": [receiving.guard(endpoint)]},
            ),
        )


class Bill:
    """The cost of a reply, over all requests that it takes."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.usage = NO_USAGE

    def add(self, messages: Sequence[ChatMessage], answer: Answer) -> None:
        sent, received = _length(messages), len(answer.text)
        most = self._endpoint.max_tokens
        self._add(usage_of(_plain(answer.counted), sent=sent, received=received, max_tokens=most))

    def estimate(self, messages: Sequence[ChatMessage], written: int) -> None:
        self._add(Usage(tokens_in(_length(messages)), written, estimated=True))

    def _add(self, usage: Usage) -> None:
        self.usage = self.usage + replace(usage, cost=self._endpoint.cost(usage))

    def reply(self, answer: Answer, data: Any = None) -> Reply:
        return Reply(
            answer.text,
            data,
            self.usage,
            model=answer.model,
            schema_by=answer.schema_by,
        )


def _length(messages: Sequence[ChatMessage]) -> int:
    return sum(len(message.content) for message in messages)


def _plain(counted: Any) -> Any:
    """The count as it was sent, whatever its types."""
    return counted.model_dump(warnings=False) if hasattr(counted, "model_dump") else counted


def _instructed(messages: Sequence[ChatMessage], schema: JsonSchema) -> list[ChatMessage]:
    """In the first message if that is the system's: many servers accept them nowhere else."""
    instruction = INSTRUCTION.format(schema=_shown(schema))
    if messages and messages[0].role == "system":
        first = ChatMessage("system", f"{messages[0].content}\n\n{instruction}")
        return [first, *messages[1:]]
    return [ChatMessage("system", instruction), *messages]


def _shown(schema: JsonSchema) -> str:
    return json.dumps(schema, ensure_ascii=False)
