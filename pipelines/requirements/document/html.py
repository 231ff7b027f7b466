"""The document as one HTML file: nothing is fetched, everything is escaped, and it prints well."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from markdown_it.token import Token

from pipelines.requirements.document.parsed import PARSER, parsed
from pipelines.requirements.labels import Document
from pipelines.types import Message

STYLE = Path(__file__).parent / "document.css"
TURNING = {"paragraph_open", "heading_open", "list_item_open", "th_open", "td_open"}
"""Each of them may be written from left to right or from right to left."""
AROUND = {
    "contents": '<nav aria-label="Contents">{}</nav>',
    **{kind: f'<div class="{kind}">{{}}</div>' for kind in ("notice", "silent", "message")},
}


def write(document: Document, messages: Sequence[Message]) -> str:
    """A whole page. Its sections are numbered, and the conversation stands at its end."""
    parts = [
        AROUND.get(kind, "{}").format(_body(tokens)) for kind, tokens in parsed(document, messages)
    ]
    return _PAGE.format(title=html.escape(document["title"]), style=_style(), body="\n".join(parts))


def _body(tokens: Sequence[Token]) -> str:
    for token in tokens:
        if token.type in TURNING:
            token.attrs["dir"] = "auto"
        # "---:" of a table becomes an attribute of style, which no document of ours needs
        token.attrs.pop("style", None)
    return str(PARSER.renderer.render(tokens, PARSER.options, {}))


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
