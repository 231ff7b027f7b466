"""Files that hold no conversations as they are: what they are, and what to do with them."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid

_PACKED = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"(\xb5/\xfd": "zstd",
    b"7z\xbc\xaf": "7z",
    b"Rar!": "rar",
}
IS_XML = msgid("it is XML: save subtitles as SRT or WebVTT, and chats as JSON or as plain text")
IS_MAIL = msgid("it is mail: save as plain text what people wrote, each with “Ana:” before it")
_PACKED_ENDINGS = (".gz", ".tgz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".rar")
_INSIDE = {
    b"xl/": "file.is_workbook",
    b"opendocument.spreadsheet": "file.is_workbook",
    b"word/": "file.is_document",
    b"opendocument.text": "file.is_document",
}
_KINDS = {
    b"%PDF": "file.is_document",
    b"{\\rtf": "file.is_document",
    b"SQLite format 3": "file.is_database",
    b"\x89PNG": "file.is_media",
    b"\xff\xd8\xff": "file.is_media",
    b"GIF8": "file.is_media",
    b"ID3": "file.is_media",
    b"OggS": "file.is_media",
    b"RIFF": "file.is_media",
}
_ENDINGS = {
    ".xlsx": "file.is_workbook",
    ".xls": "file.is_workbook",
    ".ods": "file.is_workbook",
    ".docx": "file.is_document",
    ".doc": "file.is_document",
    ".odt": "file.is_document",
    ".pdf": "file.is_document",
    ".html": "file.is_web_page",
    ".htm": "file.is_web_page",
    ".xml": IS_XML,
    ".ttml": IS_XML,
    ".dfxp": IS_XML,
    ".eml": IS_MAIL,
    ".mbox": IS_MAIL,
}


def named(name: str, head: bytes) -> Fact | None:
    """What a file is that no reader takes, by its beginning or its name; None for any other.

    Examples
    --------
    >>> print(named("a.jsonl.gz", b""), named("a", b"%PDF-1.7"), named("a.json", b"{}"))
    file.is_packed kind=gz file.is_document None
    """
    ending = PurePath(name).suffix.casefold()
    start = head.lstrip()[:200].lower()
    if ending in _ENDINGS:
        return Fact(_ENDINGS[ending])
    if start.startswith((b"<!doctype html", b"<html")):
        return Fact("file.is_web_page")
    if start.startswith(b"<?xml"):
        return Fact(IS_XML)
    kind = next((kind for mark, kind in _KINDS.items() if head.startswith(mark)), None)
    if kind is not None:
        return Fact(kind)
    packed = next((kind for mark, kind in _PACKED.items() if head.startswith(mark)), None)
    if packed == "zip" and (inside := next((k for m, k in _INSIDE.items() if m in head), None)):
        return Fact(inside)
    if packed or ending in _PACKED_ENDINGS:
        return Fact("file.is_packed", kind=packed or ending[1:])
    return None


def published_format(document: Any) -> str:
    """The data set (``published.chats``) whose chat a document is; empty: something else."""
    if not isinstance(document, dict):
        return ""
    if isinstance(document.get("conversation"), dict):
        return "locomo"
    return "realtalk" if any(re.fullmatch(r"session_\d+", key) for key in document) else ""
