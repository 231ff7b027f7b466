"""The forms in which a document is sent: one function for each, from the same sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pipelines.requirements.document import docx, html, markdown
from pipelines.requirements.labels import Document
from pipelines.types import Message

_Write = Callable[[Document, Sequence[Message]], bytes]


class Form(NamedTuple):
    """``ending`` is that of the file."""

    ending: str
    title: str
    content_type: str
    write: _Write


def _encoded(write: Callable[[Document, Sequence[Message]], str]) -> _Write:
    return lambda document, messages: write(document, messages).encode(errors="replace")


WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
FORMS = {
    form.ending: form
    for form in (
        Form("html", "HTML", "text/html; charset=utf-8", _encoded(html.write)),
        Form("md", "Markdown", "text/markdown; charset=utf-8", _encoded(markdown.write)),
        Form("docx", "Word", WORD, docx.write),
    )
}
