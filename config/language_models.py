"""Language models that are declared by name, in the TOML file that ``ASSAY_MODELS`` names.

A table for each model, with the fields of ``Endpoint``; ``key`` names the variable that holds the
key, so that the file itself holds none::

    [small]
    model = "gpt-5-mini"
    key = "OPENAI_API_KEY"
    reasoning_effort = "low"
    input_price = 0.25
    output_price = 2.00
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from config.env import env_secret, env_str

SETTING = "ASSAY_MODELS"
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,49}", re.IGNORECASE)
NOT_DECLARED = {"api_key", "name", "max_reply_bytes"}


def declared() -> dict[str, Any]:
    """By name; a declaration that cannot be used stops the start and says what to correct."""
    return {name: _endpoint(name, fields) for name, fields in _tables().items()}


def keys() -> list[str]:
    """Every key of a model, so that none of them leaves the process in a text."""
    named = [str(fields["key"]) for fields in _tables().values() if fields.get("key")]
    found = [env_secret(name) for name in ("LLM_API_KEY", "JUDGE_API_KEY", *named)]
    return [key for key in found if key]


def _tables() -> dict[str, dict[str, Any]]:
    file = env_str("ASSAY_MODELS")
    return _read(file) if file else {}


@cache
def _read(file: str) -> dict[str, dict[str, Any]]:
    try:
        tables = tomllib.loads(Path(file).expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ImproperlyConfigured(
            f"{SETTING} names {file!r}, which cannot be read as TOML ({error}): correct it."
        ) from None
    for name, fields in tables.items():
        if not NAME.fullmatch(name) or not isinstance(fields, dict):
            raise ImproperlyConfigured(
                f"{file} declares {name[:60]!r}: it has to be a table such as [small], named in "
                "letters, digits, dots, hyphens and underscores."
            )
    return tables


def _endpoint(name: str, fields: dict[str, Any]) -> Any:
    from pydantic import ValidationError

    from pipelines.chat.endpoint import Endpoint

    wrong = sorted(NOT_DECLARED & fields.keys())
    if wrong:
        raise ImproperlyConfigured(
            f"{SETTING}: [{name}] sets {wrong[0]!r}, which is not declared there: take it out "
            "('key' names the variable that holds the key)."
        )
    key = fields.get("key", "")
    secret = env_secret(key) if isinstance(key, str) and key else ""
    try:
        return Endpoint(**{"key": "", **fields}, name=name, api_key=secret or "")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise ImproperlyConfigured(
            f"{SETTING}: {field!r} of [{name}]: {first['msg']}: correct it."
        ) from None
