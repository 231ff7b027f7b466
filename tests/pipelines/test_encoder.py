"""The packaged encoder gives the known vectors, offline, and computes each text once."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from labeling.domain.encoding.network import DIMENSIONS
from pipelines.encoder import SHORT, MemoryCache, MiniLM
from pipelines.errors import WrongWeights

EXAMPLE, CONVERTED = "This is an example sentence", "Each sentence is converted"


class CountingCache(MemoryCache):
    def __init__(self) -> None:
        super().__init__()
        self.stored: list[int] = []

    def put_many(self, encoder_id: str, vectors: Mapping[str, bytes]) -> None:
        self.stored.append(len(vectors))
        super().put_many(encoder_id, vectors)


@pytest.fixture(scope="module")
def encoder() -> MiniLM:
    return MiniLM()


def test_the_similarity_of_the_model_card_comes_out(encoder: MiniLM) -> None:
    one, other = encoder.encode([EXAMPLE, CONVERTED])

    assert float(one @ other) == pytest.approx(0.40456, abs=2e-3 if SHORT else 1e-4)


def test_a_text_is_computed_once_even_if_it_stands_there_twice() -> None:
    cache = CountingCache()
    encoder = MiniLM(cache)

    encoder.encode([EXAMPLE, CONVERTED, EXAMPLE])
    again = encoder.encode([CONVERTED, EXAMPLE])

    assert cache.stored == [2]
    assert float(again[0] @ again[1]) == pytest.approx(0.40456, abs=2e-3 if SHORT else 1e-4)


def test_both_kinds_of_vectors_in_one_pass_are_the_same(encoder: MiniLM) -> None:
    texts = [EXAMPLE, "", "Grüße, 你好 🙂", "\ud800", "long " * 400]

    sentences, tokens = encoder.encode_both(texts)

    assert sentences == pytest.approx(encoder.encode(texts), abs=1e-6)
    assert [len(pieces) for pieces, _ in tokens][:2] == [7, 2]
    assert len(tokens[4][0]) == 256  # the rest is cut off
    for pieces, rows in tokens:
        assert rows.shape == (len(pieces), DIMENSIONS)
        assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)


def test_the_cache_forgets_what_was_used_longest_ago() -> None:
    cache = MemoryCache(size=2)
    for name in ("a", "b"):
        cache.put_many("e", {name: b"v"})
    cache.get_many("e", ["a"])

    cache.put_many("e", {"c": b"v"})

    assert known(cache, ["a", "b", "c"]) == ["a", "c"]


def known(cache: MemoryCache, names: Sequence[str]) -> list[str]:
    return sorted(cache.get_many("e", names))


def test_other_weights_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"other weights")

    with pytest.raises(WrongWeights, match=r"encoder\.wrong_weights"):
        MiniLM(folder=tmp_path).encode([EXAMPLE])
