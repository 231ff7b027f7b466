from __future__ import annotations

import json

from pipelines.memory.layers.build import KeptInMemory, build_layers, key_for
from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.layers.nodes import Topics
from tests.fakes import WordOverlap
from tests.pipelines.memory.layers.talks import talk

DAY = 86_400.0
PASTA, SKI = "cooking pasta with tomato sauce", "skiing slopes in the snow"
TALK = talk(
    *(
        ("ab"[at % 2], part * DAY + at * 10.0, text)
        for part, text in enumerate([PASTA, SKI, PASTA])
        for at in range(4)
    )
)
LOCAL = LayersConfig()


def build(*, rows=None):
    kept = rows if rows is not None else KeptInMemory()
    return build_layers(TALK, encoder=WordOverlap(), rows=kept, config=LOCAL)


def test_what_is_kept_is_read_and_equals_what_was_built():
    rows = KeptInMemory()
    built = build(rows=rows)
    kept = json.loads(json.dumps(rows.payloads))

    rows.put = None  # nothing may be built again
    assert build(rows=rows) == built
    assert rows.payloads == kept


def test_a_build_that_stopped_goes_on_with_what_is_missing():
    rows = KeptInMemory()
    whole = build(rows=rows)
    del rows.payloads["threads"]
    stored: list[str] = []
    put = rows.put
    rows.put = lambda kind, payload, *, seconds: (
        stored.append(kind),
        put(kind, payload, seconds=seconds),
    )

    assert build(rows=rows) == whole
    assert stored == ["threads"]


def test_a_thread_ties_the_topic_that_returned():
    layers = build()

    assert [thread.node_ids for thread in layers.threads.threads] == [("T001", "T003")]


def test_a_build_is_known_by_settings_and_encoder_and_those_of_0_3_0_stay_known():
    encoder, other = WordOverlap(), WordOverlap()
    other.id = "other"

    keys = {key_for(LOCAL, encoder), key_for(LayersConfig(window=5), encoder)}

    assert len(keys | {key_for(LOCAL, other)}) == 3


def test_a_layer_that_an_earlier_version_kept_is_read():
    node = {
        "node_id": "T001",
        "burst_id": 1,
        "topic_name": "pasta",
        "all_message_ids": [1, 2],
        "terms": ["pasta"],
        "start_time": None,
        "end_time": None,
        "parent_node_id": None,
        "start_local_id": 1,
        "end_local_id": 2,  # it kept these, too
    }
    reason = {"code": "memory.one_burst", "values": {}}

    topics = Topics.from_json(
        {"nodes": [node], "bursts": 1, "reason": reason, "problems": [], "model": None}
    )

    assert (topics.nodes[0].all_message_ids, topics.nodes[0].end_local_id) == ((1, 2), 2)
    assert topics.reason == reason
