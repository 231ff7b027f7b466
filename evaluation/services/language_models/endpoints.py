"""The language models that the settings name. Without them there is none, and nothing pretends.

Each is an entry with a name: ``default`` is that of ``LLM_…``, ``judge`` that of ``JUDGE_…`` (which
is the default where nothing declares another), and further ones are in the file ``ASSAY_MODELS``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from threading import Lock
from typing import Any

from django.conf import settings

from config import language_models
from evaluation.judge import how_asked
from evaluation.models.spec import ModelDescription
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from pipelines.chat.client import OpenAIModel
from pipelines.chat.endpoint import DEFAULT, JUDGE, OPENAI, Endpoint
from pipelines.chat.receiving import MEGABYTE
from pipelines.chat.redaction import redacted

PRICES = ("input_price", "cached_price", "output_price")
MOST = 64
"""Cases of one run at a time."""


class ModelMissing(RuleError, code="model_missing"):
    """What was asked for needs a language model, and a setting for it is missing."""


class UnknownName(RuleError, code="unknown_model_name"):
    """No model of this name is declared."""


def choices() -> list[str]:
    """The names that a launch may choose from: those that can be asked, the default first."""
    names = [DEFAULT, *sorted(settings.MODELS.keys() - {DEFAULT, JUDGE})]
    return [name for name in names if not missing_setting(name)]


def check_name(name: str) -> None:
    """Refuse a name that nothing declares."""
    if name not in {DEFAULT, JUDGE, *settings.MODELS}:
        details = {"model": name, "known": choices()}
        raise UnknownName("model.unknown_name", name=name, known=choices(), details=details)


def missing_setting(name: str = DEFAULT) -> str:
    """The first setting that this model still needs; empty if all are there."""
    endpoint = _declared(name)
    if endpoint is None:
        return "LLM_MODEL"
    has_key = endpoint.api_key or endpoint.base_url != OPENAI
    return "" if has_key else endpoint.setting("api_key")


def require(what: Fact, name: str = DEFAULT) -> None:
    """Refuse ``what`` before anything runs if this model is not configured."""
    check_name(name)
    missing = missing_setting(name)
    if missing:
        raise ModelMissing("model.missing", what=what, name=missing, details={"setting": missing})


def named(name: str = DEFAULT) -> Endpoint | None:
    """``None``: it is not declared, or something is missing."""
    return None if missing_setting(name) else _declared(name)


def at_once(name: str = DEFAULT) -> int:
    """Cases at a time of a run that asks this model, where nobody says otherwise: it waits."""
    endpoint = named(name)
    return max(settings.RUN_CONCURRENCY, min(endpoint.max_concurrency if endpoint else 1, MOST))


def known() -> Iterator[Endpoint]:
    """All that this process can ask."""
    for name in dict.fromkeys([*choices(), JUDGE]):
        if endpoint := named(name):
            yield endpoint


def _declared(name: str) -> Endpoint | None:
    limit = {"max_reply_bytes": settings.LLM_MAX_REPLY_MB * MEGABYTE}
    if name in settings.MODELS:
        declared: Endpoint = settings.MODELS[name]
        return declared.model_copy(update=limit)
    if name == JUDGE:
        return _judge() if settings.JUDGE_MODEL else _declared(DEFAULT)
    return _model() if name == DEFAULT and settings.LLM_MODEL else None


AS_SET = (
    *("model", "provider", "temperature", "reasoning_effort", "max_tokens", "context_tokens"),
    *("timeout_seconds", "max_concurrency", "input_price", "cached_price", "output_price"),
)


def _model() -> Endpoint:
    return Endpoint(
        base_url=settings.LLM_BASE_URL or OPENAI,
        api_key=settings.LLM_API_KEY or "",
        max_reply_bytes=settings.LLM_MAX_REPLY_MB * MEGABYTE,
        **{name: getattr(settings, f"LLM_{name.upper()}") for name in AS_SET},
    )


def _judge() -> Endpoint:
    """Asked in the same way. A key never goes to another address than the one that it is for."""
    base_url = settings.JUDGE_BASE_URL or settings.LLM_BASE_URL or OPENAI
    here = base_url == (settings.LLM_BASE_URL or OPENAI)
    other = _declared(DEFAULT) or Endpoint(model=settings.JUDGE_MODEL)
    return other.model_copy(
        update={
            "name": JUDGE,
            "key": None,
            "model": settings.JUDGE_MODEL,
            "base_url": base_url,
            "provider": settings.LLM_PROVIDER if here else "",
            "api_key": settings.JUDGE_API_KEY or ((settings.LLM_API_KEY or "") if here else ""),
            "input_price": settings.JUDGE_INPUT_PRICE,
            "cached_price": None,
            "output_price": settings.JUDGE_OUTPUT_PRICE,
        }
    )


_opening = Lock()


def client_of(endpoint: Endpoint) -> OpenAIModel:
    """One for a process, so that all its threads keep to one limit and share connections."""
    with _opening:  # or of two threads that ask first, each would get its own
        return _client_of(endpoint)


@cache
def _client_of(endpoint: Endpoint) -> OpenAIModel:
    return OpenAIModel(endpoint)


def describe(name: str = DEFAULT) -> ModelDescription | None:
    """What a run writes down of the model: never the key, nor an address that may hold one."""
    endpoint = named(name)
    if endpoint is None:
        return None
    return {
        "id": endpoint.id,
        "name": endpoint.name,
        **endpoint.parameters,
        **{name: getattr(endpoint, name) for name in PRICES},
        "currency": settings.LLM_CURRENCY,
    }


def name_in(description: Mapping[str, Any] | None, role: str = DEFAULT) -> str:
    """The entry that was chosen; here it may have another name, and older versions knew none."""
    chosen = description or {}
    name = str(chosen.get("name") or role)
    here = named(name)
    if here is None or here.id != chosen.get("id"):
        return next((each.name for each in known() if each.id == chosen.get("id")), name)
    return name


def parameters(description: Mapping[str, Any]) -> str:
    """The parameters that a model is asked with; ``server``: none is sent."""
    asked = sorted((name, value) for name, value in how_asked(description).items() if name != "id")
    return ", ".join(f"{name}={'server' if value is None else value}" for name, value in asked)


def keyless(text: str) -> str:
    """What an error says, without the keys that any library may quote in it."""
    keys = (settings.LLM_API_KEY, settings.JUDGE_API_KEY, *language_models.keys())
    return redacted(text, [key for key in keys if key])
