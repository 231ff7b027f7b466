"""The words of the pure places in the language of the reader: the edge where they are shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from django.conf import settings
from django.utils.translation import get_language, gettext, gettext_lazy
from django.utils.translation.trans_real import DjangoTranslation
from django.views.i18n import JavaScriptCatalog

from labeling.schema import EventSchema, OpenFields, form_layers
from labeling.work.rules.keys import Key

SHOWN = frozenset({"title", "label", "help", "group"})
"""The keys of what a page gives its scripts whose texts are for people."""


RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
"""Letters of the scripts that are read from the right."""


def isolated(text: Any) -> str:
    """What people wrote, within a sentence of ours: its script does not turn the sentence."""
    written = str(text)
    return f"\u2068{written}\u2069" if RIGHT_TO_LEFT.search(written) else written


def lazy(text: str) -> str:
    """``gettext_lazy``, typed as the text that it becomes: for the tables of a module."""
    return cast("str", gettext_lazy(text))


def translated(text: Any) -> str:
    """A text of a table; untranslated texts stay as they are."""
    return gettext(text) if text else ""  # gettext("") is the head of the catalog


def translated_tree(value: Any) -> Any:
    """Plain JSON with the texts under the ``SHOWN`` keys translated."""
    if isinstance(value, Mapping):
        return {
            key: translated(item)
            if key in SHOWN and isinstance(item, str)
            else translated_tree(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [translated_tree(item) for item in value]
    return value


def translated_keys(keys: Iterable[Key]) -> Any:
    return translated_tree([key._asdict() for key in keys])


def translated_layers(
    layers: Sequence[str],
    event_schema: EventSchema | None,
    open_fields: OpenFields | None = None,
) -> Any:
    """:func:`form_layers` for a page."""
    return translated_tree(form_layers(layers, event_schema=event_schema, open_fields=open_fields))


def script_texts() -> dict[str, str]:
    """The catalog of the scripts in the language of the page; nothing for English."""
    return _script_texts(get_language() or settings.LANGUAGE_CODE)


@cache
def _script_texts(language: str) -> dict[str, str]:
    if language.startswith("en"):
        return {}
    catalog = JavaScriptCatalog()
    catalog.translation = DjangoTranslation(
        language, domain="djangojs", localedirs=[str(path) for path in settings.LOCALE_PATHS]
    )
    return {
        text: translation
        for text, translation in catalog.get_catalog().items()
        if isinstance(translation, str)
    }
