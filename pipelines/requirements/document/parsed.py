"""The Markdown of a document, parsed so that nothing in it can act.

A document may come from anybody's pipeline. Raw HTML is shown as text, no image is fetched, and a
link leads to a web page, to a mail address or into the document itself; any other one is only text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pipelines.requirements.document.markdown import NUMBER, parts_of
from pipelines.requirements.labels import Document
from pipelines.types import Message

_WEB = re.compile(r"(?:https?://|mailto:)", re.I)


def parsed(document: Document, messages: Sequence[Message]) -> list[tuple[str, list[Token]]]:
    """The parts by kind. Links into the document that lead nowhere are unlinked."""
    parts = [(part, PARSER.parse(part.text)) for part in parts_of(document, messages)]
    anchors = {part.anchor for part, _ in parts if part.anchor}
    for part, tokens in parts:
        if part.anchor:
            tokens[0].attrs["id"] = part.anchor
        if part.kind == "body":
            anchors |= _below_its_title(tokens, anchors)
    for _, tokens in parts:
        for token in tokens:
            if token.children:
                token.children = _linked(token.children, anchors)
    return [(part.kind, tokens) for part, tokens in parts]


def _below_its_title(tokens: list[Token], taken: set[str]) -> set[str]:
    """Headings that are the number of a requirement get its anchor, the first of each number."""
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{max(int(token.tag[1]), 3)}"
    anchors: set[str] = set()
    for opening, inline in pairwise(tokens):
        anchor = inline.content.lower()
        if (
            opening.type == "heading_open"
            and NUMBER.fullmatch(inline.content)
            and anchor not in taken | anchors
        ):
            opening.attrs["id"] = anchor
            anchors.add(anchor)
    return anchors


def _linked(children: list[Token], anchors: set[str]) -> list[Token]:
    kept: list[Token] = []
    open_links: list[bool] = []
    for token in children:
        if token.type == "link_open":
            href = str(token.attrs["href"])
            leads = bool(_WEB.match(href)) or href.removeprefix("#") in anchors
            token.attrs = {"href": href}
            open_links.append(leads)
            if not leads:
                continue
        elif token.type == "link_close" and not open_links.pop():
            continue
        kept.append(token)
    return kept


def _parser() -> MarkdownIt:
    # Each bracket that is never closed is read as often as brackets may be nested.
    options = {"html": False, "linkify": False, "typographer": False, "maxNesting": 20}
    parser = MarkdownIt("js-default", options)
    parser.validateLink = lambda url: bool(_WEB.match(url)) or url.startswith("#")  # type: ignore[method-assign]
    parser.disable("image")
    return parser


PARSER = _parser()
