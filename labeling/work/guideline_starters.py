"""Guidelines to start from, one text for each layer that has its own rules."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from django.conf import settings
from django.utils.translation import get_language

from labeling.schema import LAYERS

FOLDER = settings.BASE_DIR / "templates" / "labeling" / "starters"


def starter_for(layers: Iterable[str]) -> str:
    """The texts for these layers in one, in the reader's language where there is one.

    What refers to requirements follows their rules and has no text; requirements are the first.
    """
    chosen = set(layers)
    wanted = [name for name in _written() if name in chosen] or _written()[:1]
    return "\n".join(_text(name, (get_language() or "en")[:2]) for name in wanted)


@cache
def _written() -> list[str]:
    return [name for name in LAYERS if (FOLDER / f"{name}.en.md").is_file()]


@cache
def _text(layer: str, language: str) -> str:
    translated = FOLDER / f"{layer}.{language}.md"
    path = translated if translated.is_file() else FOLDER / f"{layer}.en.md"
    return path.read_text(encoding="utf-8")
