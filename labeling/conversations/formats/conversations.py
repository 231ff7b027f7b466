"""Conversations out of the files of other tools; their labels are another import."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any, BinaryIO

from labeling.conversations.formats import chatlogs, messengers, samples, speech, tables, tasks
from labeling.conversations.formats import foreign as foreign_files
from labeling.conversations.formats.speakers import STAMP
from labeling.conversations.formats.speech import lines_of
from labeling.conversations.formats.talks import (
    MACHINES,
    HowToRead,
    Talk,
    head_of,
    records,
    seekable,
    unless_utf8,
    with_roles,
)
from labeling.conversations.rules.importing import (
    CONVERSATION_KEYS,
    MESSAGE_KEYS,
    PASSED_OVER,
    Problem,
    Record,
    read_native,
)
from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid

Read = Iterator[tuple[int, Record] | Problem]
Reader = Callable[[BinaryIO, str, HowToRead], Read]


def _as_they_say(reader: Callable[[BinaryIO, str], Read]) -> Reader:
    """A format that names ids and roles itself."""

    def read(stream: BinaryIO, name: str, how: HowToRead) -> Read:
        entries = reader(stream, name)
        return with_roles(entries, how) if how.roles or how.names is not None else entries

    return read


def _talks(reader: Callable[..., Iterator[Talk | Problem]], **options: Any) -> Reader:
    return lambda stream, name, how: records(reader(stream, name=name, how=how, **options), how)


def _talk(reader: Callable[..., Talk | Problem], **options: Any) -> Reader:
    """A file that is one conversation."""

    def read(stream: BinaryIO, name: str, how: HowToRead) -> Read:
        try:
            talk = reader(lines_of(stream), name, how, **options)
        except FileFault as fault:
            talk = Problem(None, fault.fact)
        return records([talk], how)

    return read


AUTO = "auto"
READERS: dict[str, Reader] = {
    "native": _as_they_say(lambda stream, _name: read_native(stream)),
    "sample": _as_they_say(samples.read_conversations),
    "openai": _talks(chatlogs.read),
    "sharegpt": _talks(chatlogs.read),
    "chatgpt": _talks(chatlogs.read),
    "csv": _talks(tables.read_csv),
    "tsv": _talks(tables.read_csv, delimiter="\t"),
    "parquet": _talks(tables.read_parquet),
    "transcript": _talk(speech.read_transcript),
    "whatsapp": _talk(messengers.read_whatsapp),
    "vtt": _talk(speech.read_subtitles, is_vtt=True),
    "srt": _talk(speech.read_subtitles, is_vtt=False),
    "ass": _talk(speech.read_ass),
    "labelstudio": _as_they_say(tasks.read_labelstudio),
    "doccano": _as_they_say(tasks.read_doccano),
}
TABLES = ("csv", "tsv", "parquet")
FORMATS = (AUTO, *READERS)
BY_ENDING = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".vtt": "vtt",
    ".srt": "srt",
    ".sbv": "srt",
    ".ass": "ass",
    ".ssa": "ass",
    ".txt": "transcript",
    ".text": "transcript",
    ".md": "transcript",
}


_BEGINNINGS = {b"PAR1": "parquet", b"WEBVTT": "vtt", b"[Script Info]": "ass"}


def read(stream: BinaryIO, *, format: str, name: str = "", how: HowToRead | None = None) -> Read:
    """The conversations of one file in one of the :data:`FORMATS`, a problem for what is none.

    Parameters
    ----------
    stream
        Opened in binary mode, at its beginning; read once.
    format
        With ``auto`` it is guessed, by the name and the first bytes.
    name
        Of the file; what has no id is named by it.
    how
        Columns and roles that a person has chosen.
    """
    how = how or HowToRead()
    stream = seekable(stream)
    if foreign := foreign_files.named(name, head_of(stream)):
        yield Problem(None, foreign, name)
        return
    stream, format = opened(stream, format=format, name=name, how=how)
    if format not in READERS:
        yield Problem(
            None,
            Fact(
                msgid(
                    "it holds chats as {format} publishes them: import them with the command "
                    "assay import_conversations --format {format}"
                ),
                format=format,
            ),
            name,
        )
        return
    yield from READERS[format](stream, name, how)


def opened(stream: BinaryIO, *, format: str, name: str, how: HowToRead) -> tuple[BinaryIO, str]:
    """The file as its reader takes it, in UTF-8, and its format."""
    stream = seekable(stream)
    if format == AUTO:
        format = guess_format(name, stream)
    if how.encoding and format != "parquet":
        stream = unless_utf8(stream, how.encoding)
    return stream, format


def guess_format(name: str, stream: BinaryIO) -> str:
    """How a file is probably written.

    Examples
    --------
    >>> from io import BytesIO
    >>> guess_format("a.vtt", BytesIO(b"")), guess_format("a", BytesIO(b"PAR1"))
    ('vtt', 'parquet')
    >>> chat = b'{"conversations": [{"from": "human", "value": "Hi"}]}'
    >>> sample = b'{"domain": "d", "conversation": [{"role": "user"}]}'
    >>> guess_format("a.jsonl", BytesIO(chat)), guess_format("a.json", BytesIO(sample))
    ('sharegpt', 'sample')
    """
    text = head_of(stream).removeprefix(BOM_UTF8).lstrip()
    if sure := next((found for mark, found in _BEGINNINGS.items() if text.startswith(mark)), None):
        return sure
    ending = PurePath(name).suffix.casefold()
    if ending in samples.YAML_ENDINGS:
        return "sample"
    if BY_ENDING.get(ending, "transcript") == "transcript":
        if messengers.is_whatsapp(text):
            return "whatsapp"
        if speech.is_cues(text):
            return "srt"
        if tables.is_table(text):
            return "tsv"
    if ending in BY_ENDING:
        return BY_ENDING[ending]
    if text[:1] in (b"{", b"[") and not STAMP.match(text[:80].decode(errors="replace")):
        return _guess_json(chatlogs.first_of(stream), text)
    return "transcript" if text and ending not in (".json", ".jsonl", ".ndjson") else "native"


_NAMING = {b'"mapping"': "chatgpt", b'"conversations"': "sharegpt", b'"messages"': "native"}


def _guess_json(first: object, text: bytes) -> str:
    if isinstance(first, list):
        return "openai"
    if not isinstance(first, dict):  # no JSON
        named = [name for name in _NAMING if name in text]
        return _NAMING[named[0]] if named else "native"
    if isinstance(first.get("data"), dict) and (
        "annotations" in first or "predictions" in first or "id" in first
    ):
        return "labelstudio"
    if "text" in first and first.keys() & {"entities", "label", "labels", "external_id"}:
        return "doccano"
    if chatlogs.is_tree(first):
        return "chatgpt"
    if published := foreign_files.published_format(first):
        return published
    if not chatlogs.is_document(first):
        is_ours = first.keys() & {"messages", "id"} and not chatlogs.is_message(first)
        return "native" if is_ours else "openai"
    if samples.is_conversation(first):
        return "sample"
    if not isinstance(first.get("messages"), list):
        return "sharegpt" if isinstance(first.get("conversations"), list) else "openai"
    is_native = first.keys() <= {*CONVERSATION_KEYS, *PASSED_OVER} and "id" in first
    messages = [message for message in first["messages"] if isinstance(message, dict)]
    fits = all(message.keys() <= set(MESSAGE_KEYS) for message in messages)
    has_texts = all(isinstance(message.get("content"), str) for message in messages)
    is_talk = not any(message.get("role") in MACHINES for message in messages)
    return "native" if is_native and fits and has_texts and is_talk else "openai"
