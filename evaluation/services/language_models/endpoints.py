"""The language models that the settings name. Without them there is none, and nothing pretends.

``judging``: the one that judges answers, which is the other one where no settings are its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from evaluation.judge import how_asked
from evaluation.models.spec import ModelDescription
from evaluation.services.language_models.replies import CachedModel
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from pipelines.chat.client import OpenAIModel
from pipelines.chat.endpoint import Endpoint
from pipelines.chat.receiving import MEGABYTE
from pipelines.chat.redaction import redacted
from pipelines.registry import Entry

OPENAI = "https://api.openai.com/v1"


class ModelMissing(RuleError):
    """What was asked for needs a language model, and a setting for it is missing."""

    code = "model_missing"


def missing_setting(*, judging: bool = False) -> str:
    """The first setting that a language model still needs; empty if all are there."""
    if judging and settings.JUDGE_MODEL:
        endpoint = _judge()
        return "" if endpoint.api_key or endpoint.base_url != OPENAI else "JUDGE_API_KEY"
    if not settings.LLM_MODEL:
        return "LLM_MODEL"
    if not settings.LLM_API_KEY and not settings.LLM_BASE_URL:
        return "LLM_API_KEY"
    return ""


def require(what: Fact, *, judging: bool = False) -> None:
    """Refuse ``what`` before anything runs if no model is configured for it."""
    missing = missing_setting(judging=judging)
    if missing:
        raise ModelMissing("model.missing", what=what, name=missing, details={"setting": missing})


def uses_model(entry: Entry, config: Mapping[str, Any]) -> bool:
    return entry.asks_model(config)


def endpoint_from_settings(*, judging: bool = False) -> Endpoint | None:
    if missing_setting(judging=judging):
        return None
    return _judge() if judging and settings.JUDGE_MODEL else _model()


def _model() -> Endpoint:
    base_url = settings.LLM_BASE_URL or OPENAI
    return Endpoint(
        model=settings.LLM_MODEL,
        base_url=base_url,
        provider=settings.LLM_PROVIDER or _host(base_url),
        api_key=settings.LLM_API_KEY or "",
        temperature=settings.LLM_TEMPERATURE,
        max_tokens=settings.LLM_MAX_TOKENS,
        timeout_seconds=settings.LLM_TIMEOUT_SECONDS,
        max_reply_bytes=settings.LLM_MAX_REPLY_MB * MEGABYTE,
        max_concurrency=settings.LLM_MAX_CONCURRENCY,
        input_price=settings.LLM_INPUT_PRICE,
        output_price=settings.LLM_OUTPUT_PRICE,
    )


def _judge() -> Endpoint:
    """Asked in the same way. A key never goes to another address than the one that it is for."""
    other = _model()
    base_url = settings.JUDGE_BASE_URL or other.base_url
    here = base_url == other.base_url
    return replace(
        other,
        model=settings.JUDGE_MODEL,
        base_url=base_url,
        provider=other.provider if here else _host(base_url),
        api_key=settings.JUDGE_API_KEY or (other.api_key if here else ""),
        input_price=settings.JUDGE_INPUT_PRICE,
        output_price=settings.JUDGE_OUTPUT_PRICE,
        settings="JUDGE",
    )


def id_from_settings(*, judging: bool = False) -> str:
    """Empty: none is set up."""
    endpoint = endpoint_from_settings(judging=judging)
    return endpoint.id if endpoint else ""


def model_from_settings(
    *, judging: bool = False, before_asking: Callable[[], None] | None = None
) -> CachedModel | None:
    endpoint = endpoint_from_settings(judging=judging)
    return CachedModel(client_of(endpoint), before_asking=before_asking) if endpoint else None


@cache
def client_of(endpoint: Endpoint) -> OpenAIModel:
    """One for a process, so that all its threads keep to one limit and share connections."""
    return OpenAIModel(endpoint)


def describe(*, judging: bool = False) -> ModelDescription | None:
    """What a run writes down of the model: never the key, nor an address that may hold one."""
    endpoint = endpoint_from_settings(judging=judging)
    if endpoint is None:
        return None
    return {
        "id": endpoint.id,
        **endpoint.parameters,
        "input_price": endpoint.input_price,
        "output_price": endpoint.output_price,
        "currency": settings.LLM_CURRENCY,
    }


def parameters(description: Mapping[str, Any]) -> str:
    """The parameters that a model is asked with; ``server``: none is sent."""
    asked = sorted((name, value) for name, value in how_asked(description).items() if name != "id")
    return ", ".join(f"{name}={'server' if value is None else value}" for name, value in asked)


def keyless(text: str) -> str:
    """What an error says, without the keys that any library may quote in it."""
    keys = (settings.LLM_API_KEY, settings.JUDGE_API_KEY)
    return redacted(text, [key for key in keys if key])


def _host(base_url: str) -> str:
    host = urlsplit(base_url).hostname or "local"
    return "openai" if host == "api.openai.com" else host
