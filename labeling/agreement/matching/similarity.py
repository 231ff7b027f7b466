"""The similarity by which all texts are compared, for people and for pipelines.

It is separate from any embedding that a pipeline uses: a system must not be
measured by its own yardstick.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from labeling.domain.errors import EncoderUnusable

Vector = NDArray[np.float32]

MINILM_FILES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""SHA-256 of the two files of all-MiniLM-L6-v2 that decide every similarity."""

MINILM_ID = f"all-MiniLM-L6-v2@{MINILM_FILES['model.safetensors'][:12]}"


class Encoder(Protocol):
    """Turns texts into unit vectors whose dot product is their similarity."""

    @property
    def id(self) -> str:
        """Name and version; equal ids promise equal vectors."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One L2-normalized row per text, shape (texts, dimensions)."""


class VectorCache(Protocol):
    """Where vectors are kept between processes, by encoder id and text hash.

    A hash is the SHA-256 of the UTF-8 text in hex; the bytes are float32, little endian.
    """

    def get_many(self, encoder_id: str, hashes: Sequence[str]) -> Mapping[str, bytes]:
        """The known ones among ``hashes``."""

    def put_many(self, encoder_id: str, vectors: Mapping[str, bytes]) -> None:
        """Keep these; one that is already there may be left as it is."""


class Ruler:
    """Cosine similarity of texts, each text encoded once.

    Parameters
    ----------
    encoder
        Gives the vectors.
    cache
        Remembers them between processes; without one they live as long as the ruler.
    decimals
        Similarities are rounded before any threshold is applied, so that the last
        bits of a float, which depend on batch and processor, never decide a match.

    Examples
    --------
    >>> class Letters:
    ...     id = "letters"
    ...     def encode(self, texts):
    ...         rows = np.array([[text.count("a"), text.count("b")] for text in texts], "f4")
    ...         return rows / np.linalg.norm(rows, axis=1, keepdims=True)
    >>> Ruler(Letters()).similarities(["a", "ab"], ["aa", "b"]).tolist()
    [[1.0, 0.0], [0.707107, 0.707107]]
    """

    def __init__(
        self, encoder: Encoder, cache: VectorCache | None = None, decimals: int = 6
    ) -> None:
        self._encoder = encoder
        self._cache = cache
        self._decimals = decimals
        self._vectors: dict[str, Vector] = {}

    @property
    def id(self) -> str:
        """What a run records: equal ids give equal similarities."""
        return f"{self._encoder.id}/{self._decimals}"

    def prime(self, texts: Iterable[str]) -> None:
        """Encode everything not yet known in one batch; call it once for a whole run."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if self._cache is not None and missing:
            missing = self._recall(missing, self._cache)
        if missing:
            self._encode(missing)

    def forget(self) -> None:
        """Give up the memory of every vector; those that are used again come from the cache."""
        self._vectors.clear()

    def similarities(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.float64]:
        """Cosine of each left text with each right text.

        Returns
        -------
        ndarray, shape (left, right)
            In [-1, 1], 1 for equal texts, rounded. Either side may be empty.
        """
        if not left or not right:
            return np.zeros((len(left), len(right)))
        if len({*left, *right}) == 1:
            return np.ones((len(left), len(right)))
        self.prime([*left, *right])
        cosines = np.clip(self._rows(left) @ self._rows(right).T, -1.0, 1.0)
        return np.round(cosines, self._decimals)

    def _rows(self, texts: Sequence[str]) -> NDArray[np.float64]:
        return np.stack([self._vectors[text] for text in texts]).astype(np.float64)

    def _recall(self, texts: list[str], cache: VectorCache) -> list[str]:
        """Take what the cache knows and return the rest."""
        by_hash = {_sha256(text): text for text in texts}
        for digest, raw in cache.get_many(self._encoder.id, list(by_hash)).items():
            self._vectors[by_hash[digest]] = np.frombuffer(raw, dtype="<f4")
        return [text for text in texts if text not in self._vectors]

    def _encode(self, texts: list[str]) -> None:
        rows = np.asarray(self._encoder.encode(texts), dtype=np.float32)
        _check_rows(rows, count=len(texts), encoder_id=self._encoder.id)
        self._vectors.update(zip(texts, rows, strict=True))
        if self._cache is not None:
            vectors = {
                _sha256(text): row.astype("<f4").tobytes()
                for text, row in zip(texts, rows, strict=True)
            }
            self._cache.put_many(self._encoder.id, vectors)


def compared(groups: Iterable[Iterable[str]]) -> Iterator[str]:
    """The texts whose vectors it takes to compare the groups (of each person, say) with each other.

    None for a single group, and none where all texts are the same: the encoder need not start.

    Examples
    --------
    >>> sorted(compared([["a", "b"], ["b"]])), list(compared([["a", "b"]]))
    (['a', 'b'], [])
    """
    texts = [list(group) for group in groups]
    distinct = dict.fromkeys(text for group in texts for text in group)
    if sum(map(bool, texts)) > 1 and len(distinct) > 1:
        yield from distinct


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _check_rows(rows: Vector, *, count: int, encoder_id: str) -> None:
    """A vector of another length would falsify every similarity unnoticed."""
    if rows.ndim != 2 or len(rows) != count:
        raise ValueError(f"Ruler: {encoder_id} gave shape {rows.shape} for {count} texts")
    if not np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-3):
        raise ValueError(f"Ruler: {encoder_id} gave vectors that are not of length 1")


class MiniLM:
    """all-MiniLM-L6-v2 in full precision; checked by :func:`load_minilm`."""

    id = MINILM_ID

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        from labeling.domain.encoding.light import LightNetwork

        return LightNetwork.kept(self._folder).sentences(texts)


@cache
def load_minilm() -> Encoder:
    """The packaged encoder, loaded once per process and never from the network.

    Raises
    ------
    EncoderUnusable
        If the package is missing or a file is not the recorded one: scores made
        with other weights could not be compared with any that were made before.
    """
    try:
        from labeling.domain.encoding.network import packaged_folder

        folder = packaged_folder()
    except ImportError as error:
        raise EncoderUnusable("encoder.not_installed") from error
    check_files(folder, MINILM_FILES)
    return MiniLM(folder)


def check_files(folder: Path, expected: Mapping[str, str]) -> None:
    """Compare files with their recorded SHA-256 and raise ``EncoderUnusable`` at the first odd one.

    Parameters
    ----------
    folder
        Where the files are.
    expected
        SHA-256 in hex by file name.
    """
    for name, sha256 in expected.items():
        path = folder / name
        if not path.is_file():
            raise EncoderUnusable("encoder.incomplete", file=name, details={"file": name})
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != sha256:
            raise EncoderUnusable(
                "encoder.other_weights",
                file=name,
                details={"file": name, "expected": sha256, "found": digest},
            )
