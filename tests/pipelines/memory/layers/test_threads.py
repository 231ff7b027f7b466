from __future__ import annotations

import numpy as np

from pipelines.memory.layers.nodes import Link
from pipelines.memory.layers.threads import closure, similar_pairs
from pipelines.memory.layers.topics import node_vectors
from tests.fakes import WordOverlap
from tests.pipelines.memory.layers.talks import node, talk

NODES = [node(number, number, number) for number in range(1, 6)]


def test_a_thread_is_whatever_is_linked_in_any_order_through_any_number_of_nodes():
    links = [Link("T003", "T004", 0.8), Link("T002", "T005", 0.7), Link("T001", "T003", 0.9)]

    threads = closure(NODES, links)

    assert threads == closure(NODES, links[::-1])
    assert [thread.node_ids for thread in threads] == [("T001", "T003", "T004"), ("T002", "T005")]
    assert [thread.thread_id for thread in threads] == ["S01", "S02"]


def test_a_thread_is_called_after_its_longest_topic():
    nodes = [node(1, 1, 1), node(2, 2, 4, topic="ski"), node(3, 5, 7, topic="snow")]
    links = [Link("T001", "T002", 0.9), Link("T002", "T003", 0.9)]

    assert closure(nodes, links)[0].title == "ski"


def test_a_pair_is_linked_earlier_to_later_when_both_are_near_each_other():
    # 1 and 3 are equal; 2 is like 1 by .6 but has a nearer one in 4
    vectors = np.array(
        [[1, 0, 0], [0.6, 0.8, 0], [1, 0, 0], [0.6, 0.8, 0], [0, 0, 1]], dtype=np.float32
    )

    links = similar_pairs(NODES, vectors, least=0.5, neighbours=1)

    assert [(link.earlier, link.later, link.similarity) for link in links] == [
        ("T001", "T003", 1.0),
        ("T002", "T004", 1.0),
    ]


def test_what_is_common_to_the_whole_talk_links_nothing():
    messages = talk(
        ("a", 0, "we talk about pasta"), ("a", 1, "we talk about snow"), ("a", 2, "we talk pasta")
    )

    pasta, snow, again = node_vectors(NODES[:3], messages, WordOverlap())

    assert pasta @ again > 0 > pasta @ snow


def test_few_nodes_have_vectors_and_no_links():
    for nodes, said in ((NODES[:1], ["pasta"]), ([], [])):
        vectors = node_vectors(nodes, talk(*(("a", 0, text) for text in said)), WordOverlap())
        assert similar_pairs(nodes, vectors, least=0, neighbours=3) == []
    same = talk(("a", 0, "pasta"), ("a", 1, "pasta"))
    # two equal nodes: nothing is left apart from what they share
    assert not node_vectors(NODES[:2], same, WordOverlap()).any()
