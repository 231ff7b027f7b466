"""The forms in which a document is sent: one function for each, from the same sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pipelines.requirements.document import docx, html, markdown
from pipelines.requirements.labels import Document
from pipelines.types import Message


class Form(NamedTuple):
    content_type: str
    write: Callable[[Document, Sequence[Message]], bytes]


def _page(document: Document, messages: Sequence[Message]) -> bytes:
    return html.write(document, messages).encode(errors="replace")


def _text(document: Document, messages: Sequence[Message]) -> bytes:
    return markdown.write(document, messages).encode(errors="replace")


FORMS = {
    "html": Form("text/html; charset=utf-8", _page),
    "md": Form("text/markdown; charset=utf-8", _text),
    "docx": Form(
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document", docx.write
    ),
}
"""By the ending of the file's name."""
