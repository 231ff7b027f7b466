"""The sentence of each fact, in the language of the reader.

A text names the values of its fact in braces. Integers are grouped and decimals are written as
the reader does; ``{line:d}`` leaves an integer as it is. Facts among the values are worded
first, and lists are joined. ``evaluation/words.py`` adds its table when its app is ready.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from django.conf import settings
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.formats import number_format
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from labeling.domain.facts import Fact, Value
from labeling.translation import translated

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

Text: TypeAlias = "str | _StrPromise"

WORDS: dict[str, Text] = {
    "legacy.text": "{text}",
    "suggestions.given_up": _("Given up after {tries} tries: the worker stopped each time."),
}
"""A text with ``{places}``; where a number decides between forms, an ``ngettext_lazy``."""


def register(table: Mapping[str, Text]) -> None:
    """Add the table of another application."""
    if twice := [code for code in table if code in WORDS and WORDS[code] is not table[code]]:
        raise ValueError(f"these codes have words already: {twice}")
    WORDS.update(table)


def words(fact: Fact) -> str:
    """The sentence for whoever reads the current request."""
    if fact.code == "legacy.text":  # stored before there were codes, or said by another program
        return translated(fact.values["text"])
    if fact.code not in WORDS:
        return str(fact)  # of a newer version of the product
    values = {name: _shown(value) for name, value in fact.values.items()}
    return WORDS[fact.code].format(**values)


def in_english(fact: Fact) -> str:
    """The sentence for files, logs and the command line."""
    with override(settings.LANGUAGE_CODE):
        return words(fact)


def words_of(stored: Any) -> str:
    """The sentence of what a row holds: a fact, its JSON, or the text of an older row."""
    if isinstance(stored, Mapping):
        stored = Fact.from_json(stored)
    return words(stored) if isinstance(stored, Fact) else str(stored or "")


class _Integer(int):
    """A number that still decides on the plural."""

    def __format__(self, spec: str) -> str:
        return str(intcomma(int(self))) if not spec else format(int(self), spec)


class _Decimal(float):
    def __format__(self, spec: str) -> str:
        return str(number_format(format(float(self), spec or ".12g")))


def _shown(value: Value) -> Any:
    if isinstance(value, Fact):
        return words(value)
    if isinstance(value, list):
        separator = "; " if any(isinstance(one, Fact) for one in value) else ", "
        return separator.join(f"{_shown(one)}" for one in value)
    if isinstance(value, int):
        return _Integer(value)
    return _Decimal(value) if isinstance(value, float) else value
