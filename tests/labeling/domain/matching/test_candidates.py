"""Labels that are perhaps the same, although they do not match."""

import pytest

from labeling.agreement.matching.candidates import candidates, perhaps_same
from labeling.agreement.matching.merging import Cluster, Side
from tests.factories import requirement

pytestmark = pytest.mark.no_database


def test_the_fields_that_differ_are_named_and_remarks_are_not_compared():
    ana = requirement(sources=[1], rationale="One", confidence=0.2)
    ben = {**ana, "action": "Do something else", "rationale": "Two", "confidence": 0.9}

    [pair] = candidates("extraction", [ana], [ben])

    assert (pair.left, pair.right, pair.differs) == (0, 0, ["action"])


def test_each_label_is_in_one_pair_and_those_with_most_in_common_come_together():
    ana = [requirement(sources=[1, 2]), requirement(sources=[2])]
    ben = [requirement(sources=[2]), requirement(sources=[1, 2, 3])]

    pairs = candidates("extraction", ana, ben)

    # {1,2}–{1,2,3} 2/3 and {2}–{2} 1 is more than {1,2}–{2} 1/2 and {2}–{1,2,3} 1/3
    assert [(pair.left, pair.right) for pair in pairs] == [(0, 1), (1, 0)]


def test_of_two_about_the_same_messages_the_one_with_more_equal_fields_is_taken():
    ana = requirement(sources=[1])
    near, far = {**ana, "action": "Else"}, {**ana, "action": "Else", "type": "security"}

    for others, expected in (([near, far], 0), ([far, near], 1)):
        [pair] = candidates("extraction", [ana], others)
        assert pair.right == expected


def test_without_a_common_message_there_is_none():
    assert candidates("extraction", [requirement(sources=[1])], [requirement(sources=[2])]) == []
    assert candidates("extraction", [requirement(sources=[])], [requirement(sources=[])]) == []
    assert candidates("extraction", [], [requirement(sources=[2])]) == []


def test_labels_without_messages_are_compared_by_what_they_refer_to_or_quote():
    issue = {"requirement": "r1", "issue_type": "ambiguous", "field": "action"}
    [pair] = candidates("validation", [issue], [{**issue, "issue_type": "incomplete"}])
    assert pair.differs == ["issue_type"]
    event = {"type": "Sale", "trigger": {"message": 1, "start": 0, "end": 4, "text": "sold"}}
    [pair] = candidates("events", [event], [{**event, "type": "Purchase"}])
    assert pair.differs == ["type"]
    later = {**event, "trigger": {"message": 2, "start": 0, "end": 4, "text": "sold"}}
    assert candidates("events", [event], [later]) == []


def test_who_is_missing_in_a_cluster_has_a_candidate_in_another_one_and_the_reverse():
    ana, ben = requirement(sources=[1]), requirement(sources=[1], title="In other words")
    both = requirement(sources=[1], title="Agreed by both")
    clusters = [
        Cluster("disputed", ana, [Side("ana", ana), Side("ben", None)], []),
        Cluster("disputed", ben, [Side("ana", None), Side("ben", ben)], []),
        Cluster("unanimous", both, [Side("ana", both), Side("ben", both)], []),
    ]

    assert perhaps_same("extraction", clusters) == [{"ben": ben}, {"ana": ana}, {}]
