"""Sentence vectors from the packaged all-MiniLM-L6-v2: offline, checked, cached."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np

from labeling.domain.encoding.kept import networks
from labeling.domain.encoding.network import (
    DIMENSIONS,
    MODEL,
    Network,
    multiplies_short,
    packaged_folder,
)
from pipelines.errors import WrongWeights
from pipelines.types import Vectors

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
SHORT = multiplies_short()
"""Whether pipelines multiply in bfloat16; their vectors have another name then."""
CACHED_VECTORS = 50_000  # about 77 MB


class VectorCache(Protocol):
    """Vectors by encoder and by SHA-256 of the text; values are little-endian float32."""

    def get_many(self, encoder_id: str, hashes: Sequence[str]) -> dict[str, bytes]: ...

    def put_many(self, encoder_id: str, vectors: Mapping[str, bytes]) -> None: ...


class MemoryCache:
    """Keeps the vectors used last; enough for one process."""

    def __init__(self, size: int = CACHED_VECTORS) -> None:
        self._size = size
        self._kept: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get_many(self, encoder_id: str, hashes: Sequence[str]) -> dict[str, bytes]:
        with self._lock:
            known = [digest for digest in hashes if (encoder_id, digest) in self._kept]
            for digest in known:
                self._kept.move_to_end((encoder_id, digest))
            return {digest: self._kept[encoder_id, digest] for digest in known}

    def put_many(self, encoder_id: str, vectors: Mapping[str, bytes]) -> None:
        with self._lock:
            for digest, vector in vectors.items():
                self._kept[encoder_id, digest] = vector
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)


class MiniLM:
    """all-MiniLM-L6-v2; the weights are loaded for the first text that isn't cached."""

    id = f"{MODEL}@{WEIGHTS_SHA256[:12]}{'~bfloat16' if SHORT else ''}"

    def __init__(self, cache: VectorCache | None = None, *, folder: Path | None = None) -> None:
        self.cache = cache if cache is not None else MemoryCache()
        self.folder = folder

    def encode(self, texts: Sequence[str]) -> Vectors:
        digests = [hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() for text in texts]
        by_digest = dict(zip(digests, texts, strict=True))
        known = self.cache.get_many(self.id, list(by_digest))
        missing = [digest for digest in by_digest if digest not in known]
        if missing:
            fresh = self._compute([by_digest[digest] for digest in missing])
            new = {digest: row.tobytes() for digest, row in zip(missing, fresh, strict=True)}
            self.cache.put_many(self.id, new)
            known = known | new
        rows = [np.frombuffer(known[digest], dtype="<f4") for digest in digests]
        return np.stack(rows) if rows else np.empty((0, DIMENSIONS), dtype=np.float32)

    def encode_both(
        self, texts: Sequence[str]
    ) -> tuple[Vectors, list[tuple[tuple[str, ...], Vectors]]]:
        """A row for each text, and one for each of its word pieces, in one pass; never cached."""
        encoded = self._network().both(texts)
        rows = [text.sentence for text in encoded]
        sentences = np.stack(rows) if rows else np.empty((0, DIMENSIONS), dtype=np.float32)
        return sentences, [(text.pieces, text.tokens) for text in encoded]

    def _compute(self, texts: list[str]) -> Vectors:
        return self._network().sentences(texts).astype("<f4", copy=False)

    def _network(self) -> Network:
        return networks.get(checked(self.folder), short=SHORT)


@cache
def checked(folder: Path | None) -> Path:
    """The folder of the weights, by default the packaged one; its weights are the known ones."""
    weights = folder or packaged_folder()
    check_weights(weights)
    return weights


def check_weights(folder: Path) -> None:
    """Another file under the same name would silently change every similarity."""
    with (folder / "model.safetensors").open("rb") as weights:
        actual = hashlib.file_digest(weights, "sha256").hexdigest()
    if actual != WEIGHTS_SHA256:
        raise WrongWeights("encoder.wrong_weights", model=MODEL)
