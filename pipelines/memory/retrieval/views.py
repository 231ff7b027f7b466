"""What the retrievers need from a conversation: computed once, kept by the store."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, partial

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from pipelines.memory import text
from pipelines.memory.dates import Days
from pipelines.memory.retrieval import late, speakers
from pipelines.memory.retrieval.late import TokenMatrix, Tokens
from pipelines.memory.retrieval.lexical import Lexical
from pipelines.memory.retrieval.speakers import Speakers
from pipelines.memory.times import moment
from pipelines.types import Encoder, Message, Store, Vectors

FORMAT = "2"  # of the stored format; changes with what is computed
WIDTHS = (2, 3, 5)  # of windows: messages in a row
PAIR = 2  # the width that is encoded; wider windows are means of pairs
BURST_GAP = 1800  # seconds of silence after which another burst begins


@dataclass(frozen=True)
class Views:
    messages: tuple[Message, ...]
    speakers: Speakers
    lexical: Lexical
    pairs: Lexical
    """Each message together with the one before."""
    encoded: Callable[[], tuple[dict[int, Vectors], TokenMatrix]]
    """Expensive the first time, then kept; a search by words alone doesn't need it."""
    bursts: NDArray[np.int64]
    days: tuple[date | None, ...]
    span: Days | None

    @property
    def vectors(self) -> dict[int, Vectors]:
        """By width: messages, and windows of messages in a row."""
        return self.encoded()[0]

    @property
    def tokens(self) -> TokenMatrix:
        return self.encoded()[1]


def look(messages: Sequence[Message], encoder: Encoder, store: Store | None) -> Views:
    texts = texts_of(messages)
    people = speakers.learn(messages)
    stems = stems_of(texts, people)
    pairs = [stems[max(at - 1, 0)] + stems[at] if at else stems[0] for at in range(len(stems))]
    times = [moment(message) for message in messages]
    days = tuple(time.date() if time else None for time in times)
    known = [day for day in days if day]
    return Views(
        messages=tuple(messages),
        speakers=people,
        lexical=Lexical(stems),
        pairs=Lexical(pairs),
        encoded=cache(partial(_matrices, texts, encoder, store)),
        bursts=_bursts(times),
        days=days,
        span=Days(min(known), max(known)) if known else None,
    )


def texts_of(messages: Sequence[Message]) -> list[str]:
    """What was said and what the pictures show; never empty, which encoders can't handle."""
    texts = [f"{text.spoken(line.content)} {text.captions(line.content)}" for line in messages]
    return [content.strip() or "." for content in texts]


def stems_of(texts: Sequence[str], people: Speakers) -> list[list[str]]:
    """Without the names of the speakers, who call each other by name all the time."""
    names = {text.stem(name) for names in people.names.values() for name in names}
    return [[stem for stem in text.stems(content) if stem not in names] for content in texts]


def windows(texts: Sequence[str], width: int) -> list[str]:
    """Every run of ``width`` messages; a shorter conversation is one window."""
    last = max(len(texts) - width, 0)
    return ["\n".join(texts[at : at + width]) for at in range(last + 1)]


def encode_windows(texts: Sequence[str], encoder: Encoder, single: Vectors) -> dict[int, Vectors]:
    """Vectors by width; width 1 are the messages themselves, which are encoded already.

    Encoding windows of 3 and 5 took three quarters of the time and ranked no better.
    """
    pairs = encoder.encode(windows(texts, PAIR))
    return {1: single, **{width: mean_of_pairs(pairs, width) for width in WIDTHS}}


def mean_of_pairs(pairs: Vectors, width: int) -> Vectors:
    """For every window of ``width`` messages the mean of its pairs, of length 1."""
    among = min(width - PAIR + 1, len(pairs))
    sums = sliding_window_view(pairs, among, axis=0).sum(axis=-1)
    unit: Vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    return unit.astype(np.float32, copy=False)


def _halved(tokens: Tokens) -> Tokens:
    """As the store keeps them."""
    return Tokens(tokens.pieces, tokens.vectors.astype(np.float16).astype(np.float32))


def _matrices(
    texts: Sequence[str], encoder: Encoder, store: Store | None
) -> tuple[dict[int, Vectors], TokenMatrix]:
    vectors, tokens = _encoded(texts, encoder, store)
    return vectors, TokenMatrix.of(tokens)


def _encoded(
    texts: Sequence[str], encoder: Encoder, store: Store | None
) -> tuple[dict[int, Vectors], list[Tokens]]:
    key = _key(texts, encoder)
    kept = store.get(key) if store is not None else None
    if kept is not None:
        return _unpacked(kept)
    encoded = late.encode_both(texts, encoder)
    vectors = encode_windows(texts, encoder, np.stack([encoded[text].sentence for text in texts]))
    tokens = [_halved(encoded[text].tokens) for text in texts]
    if store is not None:
        store.put(key, _packed(vectors, tokens))
    return vectors, tokens


def _key(texts: Sequence[str], encoder: Encoder) -> str:
    digest = hashlib.sha256("\0".join([FORMAT, encoder.id, *texts]).encode("utf-8", "replace"))
    return f"retrieval-{digest.hexdigest()}"


def _packed(vectors: dict[int, Vectors], tokens: Sequence[Tokens]) -> bytes:
    file = io.BytesIO()
    np.savez(
        file,
        **{f"width{width}": rows for width, rows in vectors.items()},  # type: ignore[arg-type]
        tokens=np.concatenate([token.vectors for token in tokens]).astype(np.float16),
        lengths=np.array([len(token.pieces) for token in tokens]),
        pieces=np.array([piece for token in tokens for piece in token.pieces]),
    )
    return file.getvalue()


def _unpacked(kept: bytes) -> tuple[dict[int, Vectors], list[Tokens]]:
    with np.load(io.BytesIO(kept), allow_pickle=False) as file:
        vectors = {width: file[f"width{width}"] for width in (1, *WIDTHS)}
        ends = np.cumsum(file["lengths"])[:-1]
        rows = np.split(file["tokens"].astype(np.float32), ends)
        pieces = np.split(file["pieces"], ends)
    return vectors, [Tokens(tuple(map(str, p)), row) for p, row in zip(pieces, rows, strict=True)]


def _bursts(times: Sequence[datetime | None]) -> NDArray[np.int64]:
    """The number of the burst of every message; without times all is one burst."""
    numbers, last = [0] * len(times), None
    for at, time in enumerate(times):
        gap = (time - last).total_seconds() if time and last else 0.0
        numbers[at] = (numbers[at - 1] if at else 0) + (gap >= BURST_GAP)
        last = time or last
    return np.array(numbers, dtype=np.int64)
