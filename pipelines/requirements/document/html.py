"""The document as one HTML file: nothing is fetched, everything is escaped, and it prints well."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from markdown_it.token import Token

from pipelines.requirements.document.markdown import CONVERSATION, silent
from pipelines.requirements.document.parsed import PARSER, sections_of
from pipelines.requirements.labels import Document
from pipelines.types import Message

STYLE = Path(__file__).parent / "document.css"
TURNING = {"paragraph_open", "heading_open", "list_item_open", "th_open", "td_open"}
"""Each of them may be written from left to right or from right to left."""


def write(document: Document, messages: Sequence[Message]) -> str:
    """A whole page. Its sections are numbered, and the conversation stands at its end."""
    parts = [f'<h1 dir="auto">{html.escape(document["title"])}</h1>']
    if notice := document.get("notice", ""):
        parts.append(f'<p class="notice" dir="auto">{html.escape(notice)}</p>')
    sections = sections_of(document, messages)
    links = "".join(
        f'<li><a href="#section-{number}">{html.escape(section.title)}</a></li>'
        for number, section in enumerate(sections, start=1)
    )
    contents = f'{links}<li class="unnumbered"><a href="#conversation">{CONVERSATION}</a></li>'
    parts.append(f'<nav aria-label="Contents"><ol>{contents}</ol></nav>')
    for number, section in enumerate(sections, start=1):
        title = f'<h2 dir="auto">{number}. {html.escape(section.title)}</h2>'
        parts.append(
            f'<section id="section-{number}" class="{_name(section.id)}">'
            f"{title}\n{_body(section.tokens)}</section>"
        )
    if left_out := silent(document):
        parts.append(f'<p class="silent" dir="auto">{html.escape(left_out)}</p>')
    parts.append(_conversation(messages))
    return _PAGE.format(title=html.escape(document["title"]), style=_style(), body="\n".join(parts))


def _name(section_id: str) -> str:
    """As a class of the page; an id that somebody else chose may hold anything."""
    return html.escape("".join(one if one.isalnum() else "-" for one in section_id))


def _body(tokens: Sequence[Token]) -> str:
    names: list[str] = []
    """Of the columns of a table: on a phone each cell is shown with its own."""
    column = 0
    for at, token in enumerate(tokens):
        if token.type == "table_open":
            names = []
        elif token.type == "tr_open":
            column = 0
        elif token.type == "th_open":
            names.append("".join(each.content for each in tokens[at + 1].children or []))
        elif token.type == "td_open":
            if tokens[at + 1].children:
                token.attrs["data-label"] = names[column]
            column += 1
        if token.type in TURNING:
            token.attrs["dir"] = "auto"
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{max(int(token.tag[1]), 3)}"
        # "---:" of a table becomes an attribute of style, which no document of ours needs
        token.attrs.pop("style", None)
    return str(PARSER.renderer.render(tokens, PARSER.options, {}))


def _conversation(messages: Sequence[Message]) -> str:
    said = "\n".join(
        f'<li id="message-{message.index}"><p class="who" dir="auto">'
        f'<a href="#message-{message.index}">{message.index}</a> '
        f"<strong>{html.escape(message.speaker)}</strong></p>"
        f'<p class="said" dir="auto">{html.escape(message.content)}</p></li>'
        for message in messages
    )
    return (
        f'<section id="conversation"><h2>{CONVERSATION}</h2>'
        f'<ol class="messages">{said}</ol></section>'
    )


@cache
def _style() -> str:
    return STYLE.read_text(encoding="utf-8")


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""
