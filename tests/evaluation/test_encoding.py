"""Scoring encodes all texts of a run in one call, however many samples there are."""

from __future__ import annotations

from evaluation.layers import gold_layer
from labeling.agreement import vectors
from labeling.agreement.matching.similarity import Ruler
from pipelines.encoder import MemoryCache
from tests.evaluation.conftest import requirement
from tests.fakes import WordOverlap


def test_the_encoder_is_called_once_for_a_run_and_never_for_known_texts(
    make_release, finished, script, monkeypatch
):
    encoder, cache = WordOverlap(), MemoryCache()
    monkeypatch.setattr(vectors, "ruler", lambda: Ruler(encoder, cache=cache))
    release = make_release(25, name="large")
    script(lambda case: {"requirements": [requirement(int(case.case_id[-3:]), title="Other")]})

    first = finished(release=release)

    texts = [text for batch in encoder.batches for text in batch]
    assert len(texts) == len(set(texts)) > 25 + 25  # gold and predicted
    calls = len(encoder.batches)
    assert calls <= 1 + len(gold_layer(release.layer).floors)  # floors are measured with the first
    again = finished(release=release)
    assert len(encoder.batches) == calls
    means = [run.aggregates.get(metric="requirement_f1").mean for run in (first, again)]
    assert means[0] == means[1]
