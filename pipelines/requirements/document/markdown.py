"""Markdown from other people's words, none of which can act as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

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


class Part(NamedTuple):
    """A piece of a whole document, whose Markdown can change nothing of the next one."""

    kind: str
    """title, notice, contents, heading, body, silent or message."""
    text: str
    anchor: str = ""
    """Of its first heading, where links lead to it."""


def parts_of(document: Document, messages: Sequence[Message]) -> Iterator[Part]:
    """The document with the conversation at its end, to which its links lead."""
    yield Part("title", f"# {plain(document['title'])}")
    if notice := document.get("notice", ""):
        yield Part("notice", f"> **{plain(notice)}**")
    said = [section for section in document["sections"] if section["body"].strip()]
    titles = [f"{number}. {plain(section['title'])}" for number, section in enumerate(said, 1)]
    contents = enumerate([*titles, CONVERSATION], 1)
    yield Part("contents", bullets(f"[{title}](#section-{number})" for number, title in contents))
    for number, (title, section) in enumerate(zip(titles, said, strict=True), 1):
        yield Part("heading", f"## {title}", f"section-{number}")
        yield Part("body", section["body"].strip())
    if empty := [each["title"] for each in document["sections"] if not each["body"].strip()]:
        yield Part("silent", f"*Left out, because they are empty: {plain(', '.join(empty))}.*")
    yield Part("heading", f"## {CONVERSATION}", f"section-{len(titles) + 1}")
    for message in messages:
        words = "\\\n".join(plain(line) for line in message.content.splitlines() if line.strip())
        text = f"### Message {message.index}\n\n**{plain(message.speaker)}:** {words}"
        yield Part("message", text, f"message-{message.index}")


def write(document: Document, messages: Sequence[Message]) -> str:
    """As one text; whatever shows it makes the contents itself."""
    parts = (part.text for part in parts_of(document, messages) if part.kind != "contents")
    return "\n\n".join(parts) + "\n"
