"""Text vectors kept in the database, so that no text is encoded twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from labeling.agreement.matching.similarity import MINILM_ID, Ruler, load_minilm
from labeling.domain.batches import batches
from labeling.models import TextVector

BATCH = 500  # SQLite takes a limited number of parameters per query


def ruler() -> Ruler:
    """The ruler over stored vectors, for workers and commands only: it may load the encoder."""
    return Ruler(_LoadedWhenNeeded(), cache=StoredVectors())


class _LoadedWhenNeeded:
    """The packaged encoder. Most texts are encoded already; loading it takes 90 MB."""

    id = MINILM_ID

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return load_minilm().encode(texts)


class StoredVectors:
    """The vector cache of the ruler and of pipelines.

    ``owner`` separates vectors: what a pipeline stores must never be read by the encoder
    that measures it.
    """

    def __init__(self, owner: str = "") -> None:
        self._prefix = f"{owner}:" if owner else ""

    def get_many(self, encoder_id: str, hashes: Sequence[str]) -> dict[str, bytes]:
        vectors: dict[str, bytes] = {}
        for part in batches(hashes, BATCH):
            rows = TextVector.objects.filter(
                encoder=self._prefix + encoder_id, text_sha256__in=part
            )
            vectors |= {digest: bytes(raw) for digest, raw in rows.values_list(*_COLUMNS)}
        return vectors

    def put_many(self, encoder_id: str, vectors: Mapping[str, bytes]) -> None:
        rows = [
            TextVector(encoder=self._prefix + encoder_id, text_sha256=digest, vector=raw)
            for digest, raw in vectors.items()
        ]
        TextVector.objects.bulk_create(rows, batch_size=BATCH, ignore_conflicts=True)


_COLUMNS = ("text_sha256", "vector")
