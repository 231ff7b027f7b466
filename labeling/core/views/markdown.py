"""Markdown as safe HTML, for guidelines that users write and for the product's own documents.

Raw HTML is shown as text, links lead to web pages and mail addresses only, and no style attribute
is written (the content security policy would refuse it).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, TypedDict

from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from labeling.models import Guideline

SCROLLING_PRE = '<pre tabindex="0">'
TABLE_OPEN = '<div class="table-wrap" tabindex="0"><table class="table">\n'
"""Wide tables scroll by themselves, by keyboard too."""
LINK_SCHEMES = ("http", "https", "mailto")


class ShownGuideline(TypedDict):
    """A version of the guidelines for the panel next to a conversation."""

    version: int
    html: SafeString


def shown_guideline(guideline: Guideline | None) -> ShownGuideline | None:
    if guideline is None:
        return None
    return {"version": guideline.version, "html": render_markdown(guideline.body)}


class Heading(NamedTuple):
    level: int
    anchor: str
    title: str


class Document(NamedTuple):
    html: SafeString
    headings: list[Heading]


@lru_cache(maxsize=64)
def render_markdown(text: str) -> SafeString:
    """Text of a user. Headings start at level 2 and have no ids, which the page may use itself.

    Kept, because guidelines are sent with every conversation and never change.
    """
    tokens = PARSER.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
    return _html(tokens)


def render_section(body: str, *, anchored: re.Pattern[str]) -> SafeString:
    """A part of a document that a pipeline wrote. Headings start at level 3; only one that reads
    as ``anchored`` can be linked to, by its text in small letters.
    """
    tokens = PARSER.parse(body)
    for at, token in enumerate(tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{max(int(token.tag[1]), 3)}"
        if token.type == "heading_open" and anchored.fullmatch(text := tokens[at + 1].content):
            token.attrs["id"] = text.lower()
    return _html(tokens)


def render_document(text: str, *, link: Callable[[str], str]) -> Document:
    """A document with anchors. ``link`` turns the target of each link into its address."""
    tokens = PARSER.parse(text)
    taken: set[str] = set()
    headings = list(_give_anchors(tokens, taken))
    _give_rows_anchors(tokens, taken)
    for token in _all(tokens):
        if token.type == "link_open":
            token.attrs["href"] = link(str(token.attrs["href"]))
    return Document(_html(tokens), headings)


def _give_anchors(tokens: list[Token], taken: set[str]) -> Iterator[Heading]:
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        title = "".join(child.content for child in inline.children or [])
        anchor = _free(slugify(title, allow_unicode=True) or "section", taken)
        opening.attrs["id"] = anchor
        yield Heading(int(opening.tag[1]), anchor, title)


def _give_rows_anchors(tokens: list[Token], taken: set[str]) -> None:
    """A row that begins with a name as code, of a metric or a setting, can be linked to by it."""
    for row, cell, inline in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if (row.type, cell.type) != ("tr_open", "td_open"):
            continue
        children = [child for child in inline.children or [] if child.type != "text"]
        if len(children) == 1 and re.fullmatch(r"[\w-]+", name := children[0].content):
            cell.attrs["id"] = _free(name, taken)


def _free(wanted: str, taken: set[str]) -> str:
    anchor, number = wanted, 2
    while anchor in taken:
        anchor, number = f"{wanted}-{number}", number + 1
    taken.add(anchor)
    return anchor


def _all(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or []


def _html(tokens: list[Token]) -> SafeString:
    html = PARSER.renderer.render(tokens, PARSER.options, {})
    return mark_safe(html)  # the parser escapes everything that it does not write itself


def _is_safe(address: str) -> bool:
    """No scheme, or a safe one: anything else before a colon might be executed."""
    start, colon, _ = re.split(r"[/?#]", address, maxsplit=1)[0].partition(":")
    return not colon or start.lower() in LINK_SCHEMES


def _cell_open(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    """``---:`` in Markdown becomes the class of columns of figures, not a style.

    A head without a text is a cell: screen readers would announce a name and say none.
    """
    token = tokens[index]
    if token.attrs.pop("style", "") == "text-align:right":
        token.attrs["class"] = "num"
    if token.tag == "th" and tokens[index + 1].content:
        token.attrs["scope"] = "col"
    elif token.tag == "th":
        token.tag = tokens[index + 2].tag = "td"
    return f"<{token.tag}{self.renderAttrs(token)}>"


def _scrolling(kind: str) -> Callable[..., str]:
    def rendered(self: RendererHTML, *args: Any) -> str:
        html: str = getattr(RendererHTML, kind)(self, *args)
        return html.replace("<pre>", SCROLLING_PRE, 1)

    return rendered


def _parser() -> MarkdownIt:
    # Each bracket that is never closed is read as often as brackets may be nested.
    options = {"html": False, "linkify": False, "typographer": False, "maxNesting": 20}
    parser = MarkdownIt("js-default", options)
    parser.validateLink = _is_safe  # type: ignore[assignment, method-assign]
    parser.disable("image")  # an image from elsewhere would tell that server who reads
    parser.add_render_rule("table_open", lambda *_: TABLE_OPEN)
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    parser.add_render_rule("th_open", _cell_open)
    parser.add_render_rule("td_open", _cell_open)
    for kind in ("fence", "code_block"):
        parser.add_render_rule(kind, _scrolling(kind))
    return parser


PARSER = _parser()
