"""Every expected number is worked out in a comment."""

from __future__ import annotations

import pytest

from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.layers.nodes import Baseline, NodeSignals
from pipelines.memory.layers.signals import (
    LAST,
    NO_PARTNER,
    NO_PAUSES,
    NO_PET_NAMES,
    NO_TIMES,
    NO_WORDS,
    ONE_SPEAKER,
    anchors,
    conflict_of,
    measure_nodes,
    pet_names,
    tone_of,
)
from tests.pipelines.memory.layers.talks import node, talk

CONFIG = LayersConfig()
HOUR = 3600.0


def values(signals, number=0):
    return signals.nodes[number].values


def test_a_reply_delay_counts_only_where_the_sender_changes():
    messages = talk(("a", 0, "x"), ("a", 100, "x"), ("b", 130, "x"), ("a", 220, "x"))

    figures = values(measure_nodes([node(1, 1, 4)], messages, config=CONFIG))

    # a->a is no reply; a->b 130 - 100 = 30; b->a 220 - 130 = 90
    assert figures["reply_delay_avg"] == 60.0
    assert figures["reply_delay_max"] == 90.0


def test_who_talks_alone_gets_no_reply():
    messages = talk(("a", 0, "x"), ("a", 100, "x"))

    row = measure_nodes([node(1, 1, 2)], messages, config=CONFIG).nodes[0]

    assert row.values["reply_delay_avg"] is None
    assert row.values["initiator_ratio"] is None
    assert row.reasons["reply_delay_max"] == row.reasons["initiator_ratio"] == ONE_SPEAKER


def test_without_times_there_are_no_delays_and_no_silences_but_everything_else():
    messages = talk(("a", None, "x"), ("b", None, "x"), ("a", None, "x"))

    rows = measure_nodes([node(1, 1, 2), node(2, 3, 3)], messages, config=CONFIG).nodes

    assert rows[0].reasons["reply_delay_avg"] == NO_TIMES
    assert rows[0].reasons["silence_event"] == NO_TIMES
    assert rows[1].reasons["silence_event"] == LAST
    assert rows[0].values["initiator_ratio"] == 1.0


def test_an_exchange_is_two_neighbours_and_shares_none():
    #                 (a b) opened by a     (b a) opened by b    b alone
    messages = talk(*((who, 10.0 * at, "x") for at, who in enumerate("abbab")))

    figures = values(measure_nodes([node(1, 1, 5)], messages, config=CONFIG))

    # a b | b a | b -> 1 of 2 exchanges opened by a, who wrote first
    assert figures["initiator_ratio"] == 0.5


def test_topic_frequency_counts_earlier_nodes_of_the_same_name_in_any_case():
    messages = talk(*(("a", at, "x") for at in range(4)))
    nodes = [
        node(at, at, at, topic=name) for at, name in enumerate(["Ski", "pasta", "ski", "SKI"], 1)
    ]

    rows = measure_nodes(nodes, messages, config=CONFIG).nodes

    assert [row.values["topic_frequency"] for row in rows] == [0, 0, 1, 2]


def test_a_silence_is_more_than_three_times_the_median_pause_between_bursts():
    starts = [0, 1 * HOUR, 2 * HOUR, 5 * HOUR, 8 * HOUR + 1]
    messages = talk(*(("a", start, "x") for start in starts))
    nodes = [node(at, at, at, burst=at) for at in range(1, 6)]

    signals = measure_nodes(nodes, messages, config=CONFIG)

    # pauses 1, 1, 3 and 3 h + 1 s: median 2 h -> threshold 6 h, which none exceeds
    assert [row.values["silence_event"] for row in signals.nodes] == [0, 0, 0, 0, None]
    assert not [anchor for anchor in signals.anchors if anchor.signal == "silence_event"]


def test_every_silence_is_an_anchor():
    # pauses 1, 1, 3 h + 1 s: median 1 h -> threshold 3 h, which 3 h + 1 s exceeds
    starts = [0, 1 * HOUR, 2 * HOUR, 5 * HOUR + 1]
    messages = talk(*(("a", start, "x") for start in starts))
    nodes = [node(at, at, at, burst=at) for at in range(1, 5)]

    signals = measure_nodes(nodes, messages, config=CONFIG)

    assert [row.values["silence_event"] for row in signals.nodes] == [0, 0, 1, None]
    assert [(anchor.node_id, anchor.value) for anchor in signals.anchors] == [("T003", 1.0)]


def test_pauses_inside_a_burst_are_nothing_to_compare_with():
    messages = talk(("a", 0, "x"), ("a", 60, "x"))

    row = measure_nodes([node(1, 1, 1), node(2, 2, 2)], messages, config=CONFIG).nodes[0]

    assert row.reasons["silence_event"] == NO_PAUSES


def test_term_shift_is_the_share_of_the_partner_s_messages_without_a_usual_pet_name():
    messages = talk(
        ("a", 0, "Hi"), ("b", 1, "Hey babe!"), ("b", 2, "How are you"), ("a", 3, "babe, fine")
    )
    config = LayersConfig(pet_names=("babe",))

    figures = values(measure_nodes([node(1, 1, 4)], messages, config=config))

    # b is the partner: one of two messages has none; a's own message does not count
    assert figures["term_shift"] == 0.5


def test_term_shift_is_undefined_without_pet_names_or_without_the_partner():
    messages = talk(("a", 0, "x"), ("b", 1, "x"))

    plain = measure_nodes([node(1, 1, 2)], messages, config=CONFIG).nodes[0]
    alone = measure_nodes(
        [node(1, 1, 1)], messages, config=LayersConfig(pet_names=("babe",))
    ).nodes[0]

    assert plain.reasons["term_shift"] == NO_PET_NAMES
    assert alone.reasons["term_shift"] == NO_PARTNER


def test_usual_pet_names_are_those_of_the_first_part_said_to_somebody():
    rest = [("a", 100.0 + at, "x") for at in range(12)]
    opening = [("a", 0.0, "Hi"), ("b", 1.0, "Hey babe, my brother is here")]

    result = pet_names(talk(*opening, *rest, ("b", 999, "Thanks, honey!")), CONFIG)

    # "brother" is spoken of, and "honey" comes after the first fifth
    assert result == ("babe",)


def test_an_anchor_lies_above_the_mean_by_two_sample_deviations():
    # nine nodes with 10 s and one with 110 s: mean 20, sample deviation sqrt(9000 / 9) = 31.62,
    # threshold 20 + 63.25 = 83.25 < 110
    turns, at = [], 0.0
    for delay in [10.0] * 9 + [110.0]:
        turns += [("a", at, "x"), ("b", at + delay, "x")]
        at += 10_000
    nodes = [node(n, 2 * n - 1, 2 * n, burst=n) for n in range(1, 11)]

    signals = measure_nodes(nodes, talk(*turns), config=CONFIG)

    line = next(baseline for baseline in signals.baselines if baseline.measure == "reply_delay_avg")
    assert (line.n, line.mean) == (10, 20.0)
    assert line.deviation == pytest.approx(31.6228, abs=1e-4)
    assert line.threshold == pytest.approx(83.2456, abs=1e-4)
    delays = [anchor for anchor in signals.anchors if anchor.signal == "reply_delay"]
    assert [(delay.node_id, delay.measure) for delay in delays] == [
        ("T010", "reply_delay_avg"),
        ("T010", "reply_delay_max"),
    ]


def test_a_value_at_the_threshold_does_not_stand_out():
    line = Baseline("topic_frequency", 2, mean=1.0, deviation=0.5, threshold=2.0)
    rows = [
        NodeSignals("T001", {"topic_frequency": 2.0}),
        NodeSignals("T002", {"topic_frequency": 3.0}),
    ]

    assert [anchor.node_id for anchor in anchors(rows, [line])] == ["T002"]


def test_values_that_are_all_equal_or_single_have_no_anchor():
    messages = talk(("a", 0, "x"), ("b", 10, "x"), ("a", 20, "x"), ("b", 30, "x"))

    both = measure_nodes([node(1, 1, 2), node(2, 3, 4)], messages, config=CONFIG)
    single = measure_nodes([node(1, 1, 4)], messages, config=CONFIG)

    assert not both.anchors
    line = next(baseline for baseline in single.baselines if baseline.measure == "reply_delay_avg")
    assert (line.mean, line.deviation, line.threshold) == (pytest.approx(10), None, None)


def test_undefined_values_do_not_enter_what_is_usual():
    messages = talk(("a", 0, "x"), ("b", 10, "x"), ("a", 20, "x"))

    signals = measure_nodes([node(1, 1, 2), node(2, 3, 3)], messages, config=CONFIG)

    line = next(baseline for baseline in signals.baselines if baseline.measure == "reply_delay_avg")
    assert (line.n, line.mean) == (1, 10.0)


def test_tone_is_negative_for_grief_and_positive_for_joy_within_its_range():
    grief, joy = tone_of(["I am so sad and miserable"]), tone_of(["I am so happy, I love it!"])

    assert -1 <= grief < -0.3
    assert 0.3 < joy <= 1
    assert tone_of(["I am so sad and miserable", "I am so happy, I love it!"]) == pytest.approx(
        (grief + joy) / 2, abs=1e-4
    )


def test_conflict_is_the_mean_of_the_strongest_three_messages():
    # insult .8; dissent .2; the rest 0 -> (.8 + .2 + 0) / 3
    texts = ["Shut up!", "I disagree.", "Hello", "Fine"]

    assert conflict_of(texts) == pytest.approx(1.0 / 3, abs=1e-4)
    # one message with both kinds: 1 - .2 * .8 = .84
    assert conflict_of(["Shut up, I disagree."]) == pytest.approx(0.84)
    assert conflict_of(["See you at the gym"]) == 0.0


def test_a_node_of_pictures_alone_has_no_mood():
    messages = talk(("a", 0, "\n[image: an angry man]"))

    row = measure_nodes([node(1, 1, 1)], messages, config=CONFIG).nodes[0]

    assert row.values["emotional_tone"] is row.values["conflict_intensity"] is None
    assert row.reasons["emotional_tone"] == row.reasons["conflict_intensity"] == NO_WORDS
