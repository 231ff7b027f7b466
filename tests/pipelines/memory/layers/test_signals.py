"""Every expected number is worked out in a comment."""

from __future__ import annotations

import pytest

from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.layers.signals import (
    LAST,
    NO_PARTNER,
    NO_PAUSES,
    NO_PET_NAMES,
    NO_TIMES,
    NO_WORDS,
    ONE_SPEAKER,
    conflict_of,
    measure_nodes,
    pet_names,
    tone_of,
)
from tests.pipelines.memory.layers.talks import node, talk

CONFIG = LayersConfig()
BABE = LayersConfig(pet_names=("babe",))
HOUR = 3600.0
REPLIES = (("a", 0, "x"), ("a", 100, "x"), ("b", 130, "x"), ("a", 220, "x"))
OPENED = tuple((who, 10.0 * at, "x") for at, who in enumerate("abbab"))
SHIFT = (("a", 0, "Hi"), ("b", 1, "Hey babe!"), ("b", 2, "How are you"), ("a", 3, "babe, fine"))


def measured(turns, nodes, *, config=CONFIG):
    return measure_nodes(nodes, talk(*turns), config=config)


ALONE = (("a", 0, "x"), ("a", 60, "x"))
BOTH = (("a", 0, "x"), ("b", 1, "x"))
UNTIMED = (("a", None, "x"), ("b", None, "x"))
PICTURE = (("a", 0, "\n[image: war]"),)
ALL, EACH = (node(1, 1, 2),), (node(1, 1, 1), node(2, 2, 2))


@pytest.mark.parametrize(
    ("turns", "nodes", "config", "measure", "value"),
    [
        # a->a is no reply; a->b 130 - 100 = 30; b->a 220 - 130 = 90
        (REPLIES, [node(1, 1, 4)], CONFIG, "reply_delay_avg", 60),
        (REPLIES, [node(1, 1, 4)], CONFIG, "reply_delay_max", 90),
        # a b | b a | b -> 1 of 2 exchanges opened by a, who wrote first
        (OPENED, [node(1, 1, 5)], CONFIG, "initiator_ratio", 0.5),
        # b is the partner: one of two messages has none; a's own message does not count
        (SHIFT, [node(1, 1, 4)], BABE, "term_shift", 0.5),
        (ALONE, ALL, CONFIG, "reply_delay_max", ONE_SPEAKER),
        (ALONE, ALL, CONFIG, "initiator_ratio", ONE_SPEAKER),
        (UNTIMED, ALL, CONFIG, "reply_delay_avg", NO_TIMES),
        (UNTIMED, EACH, CONFIG, "silence_event", NO_TIMES),
        (ALONE, ALL, CONFIG, "silence_event", LAST),
        (ALONE, EACH, CONFIG, "silence_event", NO_PAUSES),  # within a burst there are none
        (BOTH, ALL, CONFIG, "term_shift", NO_PET_NAMES),
        (BOTH, [node(1, 1, 1)], BABE, "term_shift", NO_PARTNER),
        (PICTURE, [node(1, 1, 1)], CONFIG, "emotional_tone", NO_WORDS),
        (PICTURE, [node(1, 1, 1)], CONFIG, "conflict_intensity", NO_WORDS),
    ],
)
def test_a_measure_has_a_value_or_a_reason_why_it_enters_nothing(
    turns, nodes, config, measure, value
):
    signals = measured(turns, nodes, config=config)

    row = signals.nodes[0]
    has_value = row.values[measure] is not None
    assert (row.values[measure] if has_value else row.reasons[measure]) == value
    assert (measure in row.reasons) is not has_value
    assert next(line for line in signals.baselines if line.measure == measure).n == has_value


def test_topic_frequency_counts_earlier_nodes_of_the_same_name_in_any_case():
    names = enumerate(["Ski", "pasta", "ski", "SKI"], 1)
    nodes = [node(at, at, at, topic=name) for at, name in names]

    rows = measured([("a", at, "x") for at in range(4)], nodes).nodes

    assert [row.values["topic_frequency"] for row in rows] == [0, 0, 1, 2]


@pytest.mark.parametrize(
    ("starts", "silences", "outliers"),
    [
        # pauses 1, 1, 3 and 3 h + 1 s: median 2 h -> threshold 6 h, which none exceeds
        ([0, HOUR, 2 * HOUR, 5 * HOUR, 8 * HOUR + 1], [0, 0, 0, 0, None], []),
        # pauses 1, 1, 3 h + 1 s: median 1 h -> threshold 3 h, which 3 h + 1 s exceeds
        ([0, HOUR, 2 * HOUR, 5 * HOUR + 1], [0, 0, 1, None], [("T003", 1.0)]),
    ],
)
def test_a_silence_is_more_than_three_times_the_median_pause_and_an_anchor(
    starts, silences, outliers
):
    nodes = [node(at, at, at, burst=at) for at in range(1, len(starts) + 1)]

    signals = measured([("a", start, "x") for start in starts], nodes)

    assert [row.values["silence_event"] for row in signals.nodes] == silences
    silent = [anchor for anchor in signals.anchors if anchor.signal == "silence_event"]
    assert [(anchor.node_id, anchor.value) for anchor in silent] == outliers


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

    signals = measured(turns, [node(n, 2 * n - 1, 2 * n, burst=n) for n in range(1, 11)])

    line = next(baseline for baseline in signals.baselines if baseline.measure == "reply_delay_avg")
    assert (line.n, line.mean) == (10, 20.0)
    assert line.deviation == pytest.approx(31.6228, abs=1e-4)
    assert line.threshold == pytest.approx(83.2456, abs=1e-4)
    delays = [anchor for anchor in signals.anchors if anchor.signal == "reply_delay"]
    assert [(delay.node_id, delay.measure) for delay in delays] == [
        ("T010", "reply_delay_avg"),
        ("T010", "reply_delay_max"),
    ]


def test_values_that_are_all_equal_or_single_have_no_anchor():
    turns = (("a", 0, "x"), ("b", 10, "x"), ("a", 20, "x"), ("b", 30, "x"))

    both = measured(turns, [node(1, 1, 2), node(2, 3, 4)])
    single = measured(turns, [node(1, 1, 4)])

    assert not both.anchors
    line = next(baseline for baseline in single.baselines if baseline.measure == "reply_delay_avg")
    assert (line.mean, line.deviation, line.threshold) == (pytest.approx(10), None, None)


def test_tone_is_negative_for_grief_and_positive_for_joy_within_its_range():
    sad, glad = "I am so sad and miserable", "I am so happy, I love it!"
    grief, joy = tone_of([sad]), tone_of([glad])

    assert -1 <= grief < -0.3
    assert 0.3 < joy <= 1
    assert tone_of([sad, glad]) == pytest.approx((grief + joy) / 2, abs=1e-4)


def test_conflict_is_the_mean_of_the_strongest_three_messages():
    # insult .8; dissent .2; the rest 0 -> (.8 + .2 + 0) / 3
    texts = ["Shut up!", "I disagree.", "Hello", "Fine"]

    assert conflict_of(texts) == pytest.approx(1.0 / 3, abs=1e-4)
    # one message with both kinds: 1 - .2 * .8 = .84
    assert conflict_of(["Shut up, I disagree."]) == pytest.approx(0.84)
    assert conflict_of(["See you at the gym"]) == 0.0
