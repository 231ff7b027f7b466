import sys

import numpy as np
import pytest

from labeling.agreement.matching.similarity import Ruler, check_files
from labeling.domain.errors import EncoderUnusable
from pipelines.encoder import MemoryCache
from tests.fakes import WordOverlap


def test_priming_encodes_each_text_once_and_in_one_batch():
    encoder = WordOverlap()
    ruler = Ruler(encoder)

    ruler.prime(["a b", "c", "a b"])
    ruler.prime(["c", "d"])
    ruler.similarities(["a b", "d"], ["c"])

    assert encoder.batches == [["a b", "c"], ["d"]]


def test_cached_bytes_are_little_endian_floats_under_the_hash_of_the_text():
    cache = MemoryCache()
    Ruler(WordOverlap(), cache).prime(["a"])

    # sha256 of "a"
    key = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"

    (vector,) = cache.get_many("word-overlap", [key]).values()
    assert np.frombuffer(vector, "<f4").sum() == 1.0


def test_similarities_are_rounded_and_equal_texts_have_one():
    result = Ruler(WordOverlap()).similarities(["a b c", "d"], ["a", "a b c"])

    assert result.tolist() == [[0.57735, 1.0], [0.0, 0.0]]  # 1/√3


def test_equal_texts_need_no_encoder():
    encoder = WordOverlap()

    same = Ruler(encoder).similarities(["a b"], ["a b", "a b"])

    assert (same.tolist(), encoder.batches) == ([[1.0, 1.0]], [])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.ones((1, 2)) / np.sqrt(2), r"gave shape \(1, 2\) for 2 texts"),
        (np.ones((2, 2)), "not of length 1"),
        (np.full((2, 2), np.nan), "not of length 1"),
    ],
)
def test_a_wrong_encoder_is_noticed(rows, message):
    class Wrong(WordOverlap):
        def encode(self, texts):
            return rows

    with pytest.raises(ValueError, match=message):
        Ruler(Wrong()).prime(["a", "b"])


def test_a_changed_file_is_refused(tmp_path):
    (tmp_path / "model").write_bytes(b"other")

    with pytest.raises(EncoderUnusable, match="other_weights") as caught:
        check_files(tmp_path, {"model": "00"})

    assert caught.value.details["file"] == "model"


def test_a_missing_package_is_named(monkeypatch):
    from labeling.agreement.matching.similarity import load_minilm

    monkeypatch.setattr(sys, "path", [])

    with pytest.raises(EncoderUnusable, match="not_installed"):
        load_minilm.__wrapped__()


def test_the_real_encoder_gives_the_known_similarity(encoder):
    ruler = Ruler(encoder)

    result = ruler.similarities(["This is an example sentence"], ["Each sentence is converted"])

    assert result[0, 0] == pytest.approx(0.40456, abs=5e-6)
    assert encoder.encode(["a", "b"]).shape == (2, 384)
    assert ruler.id == "all-MiniLM-L6-v2@53aa51172d14/6"
