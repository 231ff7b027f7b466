"""The language model that the settings name. Without them there is none, and nothing pretends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from evaluation.services.replies import CachedModel
from labeling.domain.errors import RuleError
from pipelines.chat.client import OpenAIModel
from pipelines.chat.endpoint import Endpoint
from pipelines.registry import Entry

OPENAI = "https://api.openai.com/v1"


class ModelMissing(RuleError):
    """What was asked for needs a language model, and a setting for it is missing."""

    code = "model_missing"


def missing_setting() -> str:
    """The first setting that a language model still needs; empty if all are there."""
    if not settings.LLM_MODEL:
        return "LLM_MODEL"
    if not settings.LLM_API_KEY and not settings.LLM_BASE_URL:
        return "LLM_API_KEY"
    return ""


def require(what: str) -> None:
    """Refuse ``what`` before anything runs, if there is no model for it."""
    missing = missing_setting()
    if missing:
        raise ModelMissing(
            f"{what} needs a language model: set {missing} in the environment or in .env, "
            "and start the servers anew.",
            setting=missing,
        )


def uses_model(entry: Entry, config: Mapping[str, Any]) -> bool:
    return entry.asks_model(config)


def endpoint_from_settings() -> Endpoint | None:
    if missing_setting():
        return None
    base_url = settings.LLM_BASE_URL or OPENAI
    return Endpoint(
        model=settings.LLM_MODEL,
        base_url=base_url,
        provider=settings.LLM_PROVIDER or _host(base_url),
        api_key=settings.LLM_API_KEY or "",
        temperature=settings.LLM_TEMPERATURE,
        max_tokens=settings.LLM_MAX_TOKENS,
        timeout_seconds=settings.LLM_TIMEOUT_SECONDS,
        max_concurrency=settings.LLM_MAX_CONCURRENCY,
        input_price=settings.LLM_INPUT_PRICE,
        output_price=settings.LLM_OUTPUT_PRICE,
    )


def model_from_settings(*, before_asking: Callable[[], None] | None = None) -> CachedModel | None:
    endpoint = endpoint_from_settings()
    return CachedModel(client_of(endpoint), before_asking=before_asking) if endpoint else None


@cache
def client_of(endpoint: Endpoint) -> OpenAIModel:
    """One for a process, so that all its threads keep to one limit and share connections."""
    return OpenAIModel(endpoint)


def describe() -> dict[str, Any] | None:
    """What a run writes down of the model: never the key, nor an address that may hold one."""
    endpoint = endpoint_from_settings()
    if endpoint is None:
        return None
    return {
        "id": endpoint.id,
        **endpoint.parameters,
        "input_price": endpoint.input_price,
        "output_price": endpoint.output_price,
        "currency": settings.LLM_CURRENCY,
    }


def _host(base_url: str) -> str:
    host = urlsplit(base_url).hostname or "local"
    return "openai" if host == "api.openai.com" else host
