from __future__ import annotations

from itertools import pairwise

import pytest

from pipelines.errors import fact
from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.layers.segmentation import cuts, valleys
from pipelines.memory.layers.topics import key_terms, local_topics
from pipelines.memory.times import bursts
from tests.fakes import WordOverlap
from tests.pipelines.memory.layers.talks import talk

CONFIG = LayersConfig()
PASTA = "cooking pasta with tomato sauce"
SKI = "skiing slopes in the snow of Aspen"


def ids(found):
    return [[message.index + 1 for message in burst] for burst in found]


def test_a_burst_starts_at_a_gap_of_exactly_1800_seconds():
    messages = talk(("a", 0, "x"), ("b", 1799, "x"), ("a", 3599, "x"), ("b", 5398, "x"))

    # gaps: 1799 (stays), 1800 (cut), 1799 (stays)
    assert ids(bursts(messages, gap_seconds=1800)) == [[1, 2], [3, 4]]
    messages = talk(("a", 0, "x"), ("b", None, "x"), ("a", 1800, "x"), ("b", None, "x"))
    assert ids(bursts(messages, gap_seconds=1800)) == [[1, 2], [3, 4]]


def test_system_messages_belong_to_no_burst():
    messages = talk(("a", 0, "x"), ("b", 10, "x"))
    messages.insert(0, type(messages[0])(0, "system", "", "joined", messages[0].time))

    assert [len(burst) for burst in bursts(messages, gap_seconds=1800)] == [2]


@pytest.mark.parametrize("turns", [[], [("a", 0.0, "")], [("a", None, "👍")]])
def test_the_smallest_conversations_have_topics(turns):
    topics = local_topics(talk(*turns), encoder=WordOverlap(), config=CONFIG)

    assert len(topics.nodes) == len(turns)
    untimed = bool(turns) and turns[0][1] is None
    assert (topics.reason == fact("memory.one_burst")) is untimed


def test_a_change_of_subject_inside_a_burst_is_cut_where_it_happens():
    turns = [("ab"[at % 2], at * 10.0, PASTA if at < 6 else SKI) for at in range(12)]

    topics = local_topics(talk(*turns), encoder=WordOverlap(), config=CONFIG)

    assert [node.all_message_ids for node in topics.nodes] == [
        (1, 2, 3, 4, 5, 6),
        (7, 8, 9, 10, 11, 12),
    ]
    assert {"pasta", "cooking"} <= set(topics.nodes[0].terms)
    assert "Aspen" in topics.nodes[1].terms


def test_a_topic_that_returns_keeps_its_name_and_points_to_where_it_was_before():
    day = 86_400.0
    turns = [
        ("ab"[at % 2], part * day + at * 10.0, text)
        for part, text in enumerate([PASTA, SKI, PASTA])
        for at in range(4)
    ]

    first, second, third = local_topics(talk(*turns), encoder=WordOverlap(), config=CONFIG).nodes

    assert (first.parent_node_id, second.parent_node_id) == (None, None)
    assert (third.topic_name, third.parent_node_id) == (first.topic_name, "T001")
    assert second.topic_name != first.topic_name


def test_topics_cover_every_message_once():
    turns = [("ab"[at % 2], at * 700.0, f"word{at // 5} word{at // 3}") for at in range(60)]

    nodes = local_topics(talk(*turns), encoder=WordOverlap(), config=CONFIG).nodes

    assert [local for node in nodes for local in node.all_message_ids] == list(range(1, 61))


def test_a_picture_s_description_names_no_topic():
    part = tuple(talk(("a", 0, "Look at my lunch\n[image: a zebra zebra zebra]")))

    assert key_terms([part]) == [("lunch",)]


def test_a_valley_is_as_deep_as_both_its_slopes_together():
    # at 0.2: left peak 0.8, right peak 0.6 -> 0.6 + 0.4 = 1.0; at 0.8: no slope left, own peak
    assert valleys([0.8, 0.2, 0.6]) == pytest.approx([0.0, 1.0, 0.0])


def test_no_topic_is_longer_than_allowed():
    config = LayersConfig(most_messages=10)

    places = cuts([0.0] * 34, enough=1.0, config=config)

    edges = [0, *places, 35]
    assert max(b - a for a, b in pairwise(edges)) <= 10
    assert min(b - a for a, b in pairwise(edges)) >= config.least_messages
