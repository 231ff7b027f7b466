"""Files read piece by piece: no more than one line, or one task, is held."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, TypeVar

from labeling.conversations.formats.answers import LineFault, Unreadable, in_task
from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.domain.strict_json import why_no_json, without_repeats

MAX_BYTES = 64 * 1024 * 1024  # of one line or task: a conversation with everybody's labels
CHUNK = 256 * 1024

Read = TypeVar("Read")


def read_each(
    documents: Iterable[tuple[int, Any] | LineFault],
    read: Callable[[int, Any], Read],
    *,
    named: Sequence[str] = (),
) -> Iterator[tuple[int, Read] | LineFault]:
    """What ``read`` makes of each document and its line; a fault for each that it cannot read.

    What is ``named`` so by a document, if anything, stands in its fault.
    """
    for item in documents:
        if isinstance(item, LineFault):
            yield item
            continue
        line, document = item
        try:
            yield line, read(line, document)
        except Unreadable as error:
            fields = document if isinstance(document, dict) else {}
            names = [fields[name] for name in named if name in fields]
            yield LineFault(line, in_task(names[0], error.fact) if names else error.fact)
        except RecursionError:
            yield LineFault(line, Fact("file.too_deep"))


def json_lines(
    stream: BinaryIO, *, limit: int = MAX_BYTES
) -> Iterator[tuple[int, Any] | LineFault]:
    """The documents of a file with one JSON document a line; blank lines are passed over."""
    number, has_documents = 0, False
    while raw := stream.readline(limit + 1):
        number += 1
        if len(raw) > limit:
            yield LineFault(number, Fact("file.line_too_long", limit=limit))
            return
        raw = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
        if raw.strip():
            has_documents = True
            yield _parsed(number, raw)
    if not has_documents:
        yield LineFault(None, Fact("file.empty"))


def _parsed(number: int, raw: bytes) -> tuple[int, Any] | LineFault:
    try:
        return number, json.loads(raw.decode(), **STRICT)
    except UnicodeDecodeError:
        return LineFault(number, Fact("file.line_not_utf8"))
    except (FileFault, ValueError, RecursionError) as error:
        return LineFault(number, Fact("file.not_json", why=why_no_json(error)))


def _no_constant(name: str) -> Any:
    raise FileFault(msgid("{name} is not a JSON number"), name=name)


STRICT: dict[str, Any] = {"parse_constant": _no_constant, "object_pairs_hook": without_repeats}


def json_list(stream: BinaryIO, *, limit: int = MAX_BYTES) -> Iterator[tuple[int, Any] | LineFault]:
    """The items of a file that is one JSON list, each with the line on which it begins."""
    pieces = _Pieces(stream, limit)
    yield from _refusing(pieces, pieces.items())


def _refusing(
    pieces: _Pieces, found: Iterator[tuple[int, Any] | LineFault]
) -> Iterator[tuple[int, Any] | LineFault]:
    """What is found up to what is no JSON, after which nothing is read."""
    is_first = True
    try:
        for entry in found:
            yield entry
            is_first = False
        return
    except UnicodeDecodeError:
        why = Fact("file.not_utf8")
    except (FileFault, ValueError, RecursionError) as error:
        why = Fact("file.not_json", why=why_no_json(error))
    yield LineFault(
        pieces.line,
        why if is_first else Fact(msgid("{why}; what follows in the file was not read"), why=why),
    )


def json_objects(
    stream: BinaryIO, *, limit: int = MAX_BYTES
) -> Iterator[tuple[int, Any] | LineFault]:
    """The values of a file that stand one after another, each over as many lines as it takes."""
    pieces = _Pieces(stream, limit)
    yield from _refusing(pieces, pieces.values())


class _Pieces:
    """A window on the text of a file, which grows only while an item does not fit into it."""

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self.line = 1
        self._stream = stream
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder(**STRICT)
        self._text = ""
        self._at = 0
        self._ended = False

    def items(self) -> Iterator[tuple[int, Any] | LineFault]:
        if self._next() == "":
            yield LineFault(None, Fact("file.empty"))
            return
        if self._next() != "[":
            yield LineFault(
                self.line,
                Fact(
                    msgid(
                        "the file must hold one JSON list of tasks; in Label Studio, export as JSON"
                    )
                ),
            )
            return
        self._pass(1)
        yield from self.values(until="]")
        self._pass(1)
        while self._next() != "":  # a list a line
            if self._next() != "[":
                raise FileFault("file.list_not_ended")
            yield self.line, self._item()

    def values(self, until: str = "") -> Iterator[tuple[int, Any] | LineFault]:
        while self._next() != until:
            first_line = self.line
            yield first_line, self._item()
            if self._next() == ",":
                self._pass(1)
            elif until and self._next() != until:
                raise FileFault("file.list_not_ended")

    def _item(self) -> Any:
        while True:
            try:
                item, end = self._json.raw_decode(self._text, self._at)
            except json.JSONDecodeError:
                if self._ended or len(self._text) - self._at > self._limit:
                    raise
                self._grow()
                continue
            if end == len(self._text) and not self._ended:  # a number may go on
                self._grow()
                continue
            self._pass(end - self._at)
            return item

    def _next(self) -> str:
        """The next character that is not white space; empty at the end of the file."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in " \t\r\n":
                self._pass(1)
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._grow()

    def _pass(self, count: int) -> None:
        self.line += self._text.count("\n", self._at, self._at + count)
        self._at += count

    def _grow(self) -> None:
        """As much again as is held, so that a long item is not parsed over and over."""
        rest = self._text[self._at :]
        raw = self._stream.read(max(CHUNK, len(rest)))
        self._ended = not raw
        self._text, self._at = rest + self._decoder.decode(raw, final=not raw), 0
