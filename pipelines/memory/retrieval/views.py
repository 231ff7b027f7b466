"""What the retrievers need from a conversation: computed once, kept by the store."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from pipelines.memory import text
from pipelines.memory.dates import Days
from pipelines.memory.retrieval import late, speakers
from pipelines.memory.retrieval.late import TokenMatrix, Tokens
from pipelines.memory.retrieval.lexical import Lexical
from pipelines.memory.retrieval.speakers import Speakers
from pipelines.memory.times import days_of, span_of
from pipelines.types import Encoder, Message, Store, Vectors

FORMAT = "3"  # of the stored format; changes with what is computed


@dataclass(frozen=True)
class Views:
    messages: tuple[Message, ...]
    speakers: Speakers
    lexical: Lexical
    pairs: Lexical
    """Each message together with the one before."""
    vectors: Vectors
    """One row for each message."""
    tokens: TokenMatrix
    days: tuple[date | None, ...]
    span: Days | None


def look(messages: Sequence[Message], encoder: Encoder, store: Store | None) -> Views:
    texts = texts_of(messages)
    people = speakers.learn(messages)
    stems = stems_of(texts, people)
    pairs = [[*before, *own] for before, own in zip([[], *stems], stems, strict=False)]
    days = days_of(messages)
    vectors, tokens = _matrices(texts, encoder, store)
    return Views(
        messages=tuple(messages),
        speakers=people,
        lexical=Lexical(stems),
        pairs=Lexical(pairs),
        vectors=vectors,
        tokens=tokens,
        days=days,
        span=span_of(days),
    )


def texts_of(messages: Sequence[Message]) -> list[str]:
    """What was said and what the pictures show; never empty, which encoders can't handle."""
    texts = [f"{text.spoken(line.content)} {text.captions(line.content)}" for line in messages]
    return [content.strip() or "." for content in texts]


def stems_of(texts: Sequence[str], people: Speakers) -> list[list[str]]:
    """Without the names of the speakers, who call each other by name all the time."""
    names = {text.stem(name) for names in people.names.values() for name in names}
    return [[stem for stem in text.stems(content) if stem not in names] for content in texts]


def _matrices(
    texts: Sequence[str], encoder: Encoder, store: Store | None
) -> tuple[Vectors, TokenMatrix]:
    key = _key(texts, encoder)
    kept = store.get(key) if store is not None else None
    if kept is None:
        encoded = late.encode_both(texts, encoder)
        vectors = np.stack([encoded[text].sentence for text in texts])
        kept = _packed(vectors, [encoded[text].tokens for text in texts])
        if store is not None:
            store.put(key, kept)
    vectors, tokens = _unpacked(kept)  # as it is stored, so that both ways rank the same
    return vectors, TokenMatrix.of(tokens)


def _key(texts: Sequence[str], encoder: Encoder) -> str:
    digest = hashlib.sha256("\0".join([FORMAT, encoder.id, *texts]).encode("utf-8", "replace"))
    return f"retrieval-{digest.hexdigest()}"


def _packed(vectors: Vectors, tokens: Sequence[Tokens]) -> bytes:
    file = io.BytesIO()
    np.savez(
        file,
        vectors=vectors,
        tokens=np.concatenate([token.vectors for token in tokens]).astype(np.float16),
        lengths=np.array([len(token.pieces) for token in tokens]),
        pieces=np.array([piece for token in tokens for piece in token.pieces]),
    )
    return file.getvalue()


def _unpacked(kept: bytes) -> tuple[Vectors, list[Tokens]]:
    with np.load(io.BytesIO(kept), allow_pickle=False) as file:
        vectors: Vectors = file["vectors"]
        ends = np.cumsum(file["lengths"])[:-1]
        rows = np.split(file["tokens"].astype(np.float32), ends)
        pieces = np.split(file["pieces"], ends)
    return vectors, [Tokens(tuple(map(str, p)), row) for p, row in zip(pieces, rows, strict=True)]
