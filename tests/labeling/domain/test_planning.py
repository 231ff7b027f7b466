from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.domain.planning import TooFewAnnotators, plan, shuffled


@given(
    conversations=st.integers(0, 40),
    annotators=st.integers(1, 7),
    overlap=st.integers(1, 7),
    seed=st.integers(0, 5),
)
def test_every_conversation_gets_its_overlap_and_nobody_more_work_than_another(
    conversations, annotators, overlap, seed
):
    overlap = min(overlap, annotators)

    planned = plan(range(conversations), range(annotators), overlap=overlap, seed=seed)

    assert Counter(one.conversation for one in planned) == dict.fromkeys(
        range(conversations), overlap
    )
    assert len({(one.conversation, one.annotator) for one in planned}) == len(planned)
    assert len({(one.conversation, one.slot) for one in planned}) == len(planned)
    load = Counter(one.annotator for one in planned)
    loads = [load[annotator] for annotator in range(annotators)]
    assert max(loads) - min(loads) <= 1


def test_pairs_of_annotators_meet_equally_often():
    planned = plan(range(60), range(4), overlap=2, seed=1)

    by_conversation: dict[int, list[int]] = {}
    for one in planned:
        by_conversation.setdefault(one.conversation, []).append(one.annotator)
    pairs = Counter(frozenset(people) for people in by_conversation.values())
    # 60 conversations over the 6 pairs of 4 people
    assert set(pairs) == {frozenset(pair) for pair in combinations(range(4), 2)}
    assert all(8 <= met <= 12 for met in pairs.values())


def test_the_same_seed_gives_the_same_plan_whatever_the_order_of_the_input():
    assert plan([3, 1, 2], [9, 8], overlap=1, seed=4) == plan([1, 2, 3], [8, 9], overlap=1, seed=4)
    assert shuffled(range(30), seed=1) != shuffled(range(30), seed=2)


def test_too_few_annotators_are_refused_with_both_numbers():
    with pytest.raises(TooFewAnnotators, match="overlap=3") as refused:
        plan([1], [7, 8, 8], overlap=3, seed=0)

    assert refused.value.details == {"overlap": 3, "annotators": 2}


def test_a_lower_rank_comes_first_in_every_queue_and_equal_ones_stay_shuffled():
    rank = {conversation: -(conversation % 2) for conversation in range(20)}  # odd ones first

    planned = plan(range(20), [1, 2], overlap=2, seed=3, rank=rank)

    mine = [one.conversation for one in planned if one.annotator == 1]
    assert [one % 2 for one in mine] == [1] * 10 + [0] * 10
    assert mine[:10] == [one for one in shuffled(range(20), seed=3) if one % 2]
