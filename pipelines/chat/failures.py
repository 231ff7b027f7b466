"""What went wrong with a request, as one of our typed errors."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from pipelines.chat.endpoint import Endpoint
from pipelines.chat.redaction import redacted
from pipelines.llm import (
    InvalidReply,
    ModelError,
    NoQuota,
    PromptTooLong,
    RateLimited,
    Refused,
    Unavailable,
    UnknownModel,
    WrongKey,
)

RETRIED = (RateLimited, Unavailable)
OUT_OF_MONEY = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
REFUSALS = {"content_filter", "content_policy_violation"}
TOO_LONG = {"context_length_exceeded", "exceed_context_size_error"}
TOO_LONG_PHRASES = ("context length", "context size", "context window")
BUSY = {408, 409, 425}
LONGEST_UNNAMED_SECONDS = 60.0
LONGEST_NAMED_SECONDS = 366 * 24 * 3600.0
OUT_OF_TIME = "model.no_answer_in_time"
LONGEST = 300  # characters quoted from a server's message
SETTINGS = {
    "max_completion_tokens": "max_tokens",
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "reasoning_effort": "reasoning_effort",
}
"""What decides on a parameter that a server may refuse."""
UNKNOWN = re.compile(
    "un(?:supported|known|recogni[sz]ed|expected)|not (?:supported|permitted|allowed|known)|extra",
    re.IGNORECASE,
)
PAGE = re.compile(r"\s*<(!doctype|html|head|\?xml)", re.IGNORECASE)


def typed(error: BaseException, endpoint: Endpoint) -> ModelError:
    """The typed error for whatever the client library raised."""
    import openai

    for refused in (error, error.__cause__):
        if isinstance(refused, ModelError):  # of ``receiving``
            return refused
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, endpoint)
    key = endpoint.api_key
    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return Unavailable(OUT_OF_TIME, limit=endpoint.timeout_seconds)
    if type(error) is openai.APIError:  # within a stream
        return Unavailable("model.stream_failed", said=_message_of(error, key))
    if isinstance(error, openai.APIConnectionError | OSError) or _broke_off(error):
        # its text only says that there was one; its cause says why
        said = _message_of(error.__cause__ or error, key)
        address = redacted(endpoint.address, [key])
        return Unavailable("model.unreachable_at", address=address, said=said)
    if isinstance(error, RecursionError):
        return InvalidReply("reply.too_deep")
    if type(error) is ValueError and "digits" in str(error):  # Python's advice to programmers
        return InvalidReply("reply.long_number")
    if isinstance(error, openai.OpenAIError | ValueError):
        return InvalidReply("model.not_a_chat_completion", said=_message_of(error, key))
    return InvalidReply("model.other_shape", setting=endpoint.setting("base_url"))


def _broke_off(error: BaseException) -> bool:
    """An error of the connection, by whichever copy of httpx the client brings."""
    return any(kind.__name__ == "TransportError" for kind in type(error).__mro__)


def _of_status(error: Any, endpoint: Endpoint) -> ModelError:
    status, code, text = error.status_code, _code(error), _message_of(error, endpoint.api_key)
    if code in OUT_OF_MONEY or status == 402:
        return NoQuota("model.no_quota", said=text)
    if status == 429:
        return _of_rush(text, retry_after(error.response.headers))
    if status in (401, 403):
        return WrongKey("model.wrong_key", said=text, setting=endpoint.setting("api_key"))
    if status in (404, 405):
        return _of_nothing(error, text, endpoint)
    if status >= 500 or status in BUSY:
        return Unavailable("model.server_failed", status=status, said=text)
    if code in REFUSALS:
        return Refused("model.server_declined", said=text)
    if code in TOO_LONG or any(words in text.lower() for words in TOO_LONG_PHRASES):
        return PromptTooLong("model.prompt_too_long", said=text)
    parameter = next((name for name in SETTINGS if names(error, name)), None)
    if parameter is not None:
        asked = {"parameter": parameter, "setting": endpoint.setting(SETTINGS[parameter])}
        return UnknownModel("model.parameter_refused", status=status, said=text, **asked)
    return ModelError("model.server_refused", status=status, said=text)


def _of_nothing(error: Any, text: str, endpoint: Endpoint) -> ModelError:
    if PAGE.match(error.response.text):
        address, setting = redacted(endpoint.address, [endpoint.api_key]), "base_url"
        return UnknownModel("model.web_page", address=address, setting=endpoint.setting(setting))
    settings = f"{endpoint.setting('model')}, {endpoint.setting('base_url')}"
    return UnknownModel("model.unknown", said=text, setting=settings)


def _of_rush(text: str, wait: float | None) -> RateLimited:
    """Of a long wait the end is named: who reads that the run is paused wants to know when."""
    if wait is None or wait <= LONGEST_UNNAMED_SECONDS:
        return RateLimited("model.too_many_requests", said=text, retry_after=wait)
    end = datetime.now(UTC) + timedelta(seconds=min(wait, LONGEST_NAMED_SECONDS))
    until = f"{end:%Y-%m-%d %H:%M} UTC"
    return RateLimited("model.too_many_requests_until", said=text, until=until, retry_after=wait)


def names(error: BaseException, parameter: str) -> bool:
    """Whether the server refuses the request because of this parameter."""
    import openai

    if not isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
        return False
    body = error.body if isinstance(error.body, dict) else {}
    named = rf"""['"`]{parameter}['"`]|^\W*{parameter}\b|parameter:? {parameter}\b"""
    said = rf"{named}|\b{parameter} (?:is|must|should|does|exceeds)\b"
    return body.get("param") == parameter or bool(re.search(said, _message_of(error, "")))


def does_not_know(error: BaseException, parameter: str) -> bool:
    """Whether it refuses the parameter itself, and not its value."""
    return names(error, parameter) and bool(UNKNOWN.search(_message_of(error, "")))


def takes_no_format(error: BaseException) -> bool:
    """The server doesn't support ``response_format``, or not with a schema; some say so as an
    error of their own."""
    import openai

    refused = openai.BadRequestError | openai.UnprocessableEntityError | openai.InternalServerError
    if not isinstance(error, refused):
        return False
    text = str(error).lower()
    return any(word in text for word in ("response_format", "json_schema", "structured output"))


def retry_after(headers: Any) -> float | None:
    """Seconds, from either header; None if neither can be read.

    Examples
    --------
    >>> retry_after({"retry-after": "2.5"}), retry_after({"retry-after-ms": "1500"})
    (2.5, 1.5)
    >>> retry_after({"retry-after": "soon"})
    """
    exact = _number(headers.get("retry-after-ms"))
    return _number(headers.get("retry-after")) if exact is None else exact / 1000


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _code(error: Any) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    return str(getattr(error, "code", None) or body.get("code") or body.get("type") or "")


def _message_of(error: BaseException, key: str) -> str:
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    text = " ".join(redacted(str(message or error), [key]).split())
    return text[:LONGEST].rstrip(".") or type(error).__name__
