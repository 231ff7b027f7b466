"""Guidelines to start from, one text for each layer that has rules of its own."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from django.conf import settings
from django.utils.translation import get_language

FOLDER = settings.BASE_DIR / "templates" / "labeling" / "starters"
LAYERS = ("extraction", "qa", "arc", "events")
"""Layers with a text; what refers to requirements follows the rules of requirements."""


def starter_for(layers: Iterable[str]) -> str:
    """The texts for these layers in one, in the reader's language where there is one."""
    wanted = [name for name in LAYERS if name in set(layers)] or ["extraction"]
    return "\n".join(_text(name, (get_language() or "en")[:2]) for name in wanted)


@cache
def _text(layer: str, language: str) -> str:
    translated = FOLDER / f"{layer}.{language}.md"
    path = translated if translated.is_file() else FOLDER / f"{layer}.en.md"
    return path.read_text(encoding="utf-8")
