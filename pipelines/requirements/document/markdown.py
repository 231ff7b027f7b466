"""Markdown from other people's words, none of which can act as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pipelines.requirements.labels import Document
from pipelines.types import Message

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!])")
_BLOCK = re.compile(r"^(\d+)([.)])|^([-+=:])")
_SPACE = re.compile(r"\s+")
CONVERSATION = "Conversation"
NUMBER = re.compile(r"[A-Z]+-\d+")
"""Of a requirement: a heading of this form is what links to the requirement lead to."""


def plain(text: object) -> str:
    """One line of text in which no character means anything to Markdown.

    Examples
    --------
    >>> print(plain("1. <b>*not* bold</b>"))
    1\\. \\<b\\>\\*not\\* bold\\</b\\>
    """
    line = _SPECIAL.sub(r"\\\1", _SPACE.sub(" ", str(text or "")).strip())
    return _BLOCK.sub(
        lambda match: rf"{match[1]}\{match[2]}" if match[1] else rf"\{match[3]}", line
    )


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Empty without a row."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *lines])


def message_links(indexes: Iterable[int]) -> str:
    return ", ".join(f"[{index}](#message-{index})" for index in indexes)


def number_link(number: str) -> str:
    """To the heading of a requirement; plain where such a number makes no address.

    Examples
    --------
    >>> number_link("REQ-002"), number_link("the second")
    ('[REQ-002](#req-002)', 'the second')
    """
    return f"[{number}](#{number.lower()})" if NUMBER.fullmatch(number) else number


def counted(count: int, singular: str, plural: str) -> str:
    """``1 message``, ``2 messages``."""
    return f"{count} {singular if count == 1 else plural}"


def write(document: Document, messages: Sequence[Message]) -> str:
    """The document as one text, with the conversation at its end, to which its links lead."""
    parts = [f"# {plain(document['title'])}"]
    if notice := document.get("notice", ""):
        parts.append(f"> **{plain(notice)}**")
    shown = [section for section in document["sections"] if section["body"].strip()]
    for number, section in enumerate(shown, start=1):
        parts += [f"## {number}. {plain(section['title'])}", section["body"].strip()]
    if left_out := silent(document):
        parts.append(f"*{plain(left_out)}*")
    parts.append(f"## {CONVERSATION}")
    for message in messages:
        parts += [
            f"### Message {message.index}",
            f"**{plain(message.speaker)}:** {plain(message.content)}",
        ]
    return "\n\n".join(parts) + "\n"


def silent(document: Document) -> str:
    """One line for all sections that are empty; empty itself if there is none."""
    titles = [section["title"] for section in document["sections"] if not section["body"].strip()]
    return f"Left out, because they are empty: {', '.join(titles)}." if titles else ""
