"""The pipeline on its real index, with an encoder that counts words."""

import pytest

from pipelines.memory.conversations import SIZE
from pipelines.memory.layers.build import KeptInMemory
from pipelines.memory.talks import Talks
from pipelines.registry import build
from pipelines.types import Case
from tests.fakes import WordOverlap
from tests.pipelines.memory.talking import a_talk

MESSAGES = tuple(a_talk().messages)


def case(question="Who bought the red bicycle in Oslo?", messages=MESSAGES, task="qa"):
    return Case("c", "chat", messages, question, "c", task)


def test_a_talk_is_built_once_and_only_the_last_ones_are_kept():
    talks = Talks(WordOverlap())
    first = talks(case())

    assert talks(case("Another question?")) is first
    for size in range(1, SIZE + 1):
        talks(case(messages=MESSAGES[:size]))
    assert talks(case()) is not first


@pytest.mark.parametrize("name", ["memory", "retrieval"])
def test_what_was_prepared_is_not_built_again_for_a_question(name):
    encoder = WordOverlap()
    pipeline = build(name, {}, encoder=encoder)

    pipeline.prepare(case(messages=()))
    assert encoder.batches == []
    pipeline.prepare(case())
    before = len(encoder.batches)
    pipeline.run(case())

    said = {message.content for message in MESSAGES}
    assert said <= {text for batch in encoder.batches[:before] for text in batch}
    assert not said & {text for batch in encoder.batches[before:] for text in batch}


def test_layers_are_built_when_asked_for_and_kept_where_the_caller_says():
    rows = KeptInMemory()
    pipeline = build("memory", {}, encoder=WordOverlap(), rows_for=lambda case: rows)

    assert "anchors" not in pipeline.run(case())["trace"]
    assert rows.payloads == {}

    asked = build("memory", {"layers": True}, encoder=WordOverlap(), rows_for=lambda case: rows)
    assert "anchors" in asked.run(case())["trace"]
    assert set(rows.payloads) == {"topics", "signals", "threads"}
