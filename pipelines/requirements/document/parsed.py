"""The Markdown of a document's sections, parsed so that nothing in it can act.

A document may come from anybody's pipeline. Raw HTML is shown as text, no image is fetched, and a
link leads to a web page, to a mail address or into the document itself; any other one is only text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pipelines.requirements.document.markdown import NUMBER
from pipelines.requirements.labels import Document
from pipelines.types import Message

_WEB = re.compile(r"(?:https?://|mailto:)", re.I)


class ParsedSection(NamedTuple):
    id: str
    title: str
    tokens: list[Token]


def sections_of(document: Document, messages: Sequence[Message]) -> list[ParsedSection]:
    """The sections that say something. Links into the document that lead nowhere are unlinked."""
    parsed = [
        ParsedSection(section["id"], section["title"], PARSER.parse(section["body"]))
        for section in document["sections"]
        if section["body"].strip()
    ]
    anchors = {f"message-{message.index}" for message in messages}
    for section in parsed:
        anchors |= _anchored(section.tokens, anchors)
    for section in parsed:
        for token in section.tokens:
            if token.children:
                token.children = _linked(token.children, anchors)
    return parsed


def _anchored(tokens: list[Token], taken: set[str]) -> set[str]:
    """Headings that are the number of a requirement get its anchor, the first of each number."""
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
