"""Texts in the language of the reader."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.html import json_script
from django.utils.safestring import SafeString

from labeling.models import GoldItem
from labeling.schema import form_fields
from labeling.schema.targets import title_of
from labeling.translation import isolated, script_texts, translated
from labeling.words import within as title_within
from labeling.words import words_of

register = template.Library()


@register.filter(name="translated")
def in_the_language(text: Any) -> str:
    """What a pure place, a table or the state of a row says: ``{{ metric.title|translated }}``."""
    return translated(str(text) if not isinstance(text, str) else text)


@register.filter(name="words")
def words_of_fact(fact: Any) -> str:
    """The sentence of a fact, or of what a row holds of one: ``{{ run.failure|words }}``."""
    return words_of(fact)


@register.filter
def layer_title(name: str) -> str:
    """What people call a layer: ``{{ release.layer|layer_title }}``."""
    return translated(title_of(name))


@register.filter
def field_title(name: str, layer: str) -> str:
    """What forms call a field of this layer."""
    titles = {field["name"]: field["label"] for field in form_fields(layer)}
    return translated(titles.get(name, name))


@register.filter
def how_settled(how: str) -> str:
    """How the labels of an item of gold came about."""
    return str(GoldItem.How(how).label) if how in GoldItem.How.values else how


@register.filter
def within(text: Any) -> str:
    """A title within a sentence: a small first letter, but German nouns keep theirs."""
    return title_within(str(text))


@register.filter(name="isolated")
def isolated_text(text: Any) -> str:
    """A name within a sentence: ``with name=user.get_username|isolated``."""
    return isolated(text)


@register.simple_tag
def texts_of_scripts() -> SafeString:
    """The catalog for ``t()`` of static/labeling/texts.js."""
    return json_script(script_texts(), "texts")
