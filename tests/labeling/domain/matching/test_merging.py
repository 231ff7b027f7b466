"""What an adjudicator starts from, and whose words a decision takes."""

from labeling.agreement.matching.candidates import candidates, perhaps_same
from labeling.agreement.matching.consensus import settle
from labeling.agreement.matching.merging import (
    Cluster,
    Side,
    agreement_of,
    attributed,
    clusters_of,
    numbered,
    overrules_everybody,
    read_clusters,
)
from labeling.agreement.matching.similarity import Ruler
from tests.fakes import WordOverlap, requirement
from tests.layers import requirement as cited

FIELDS = ["title", "confidence", "source_messages"]
LABELS = {
    "ana": [requirement("log in", uid="a1", source_messages=[1, 0])],
    "ben": [requirement("log in", uid="b1", source_messages=[0, 1], confidence=0.3)],
    "cleo": [requirement("print it", uid="c1", source_messages=[3])],
}


def clusters():  # type: ignore[no-untyped-def]
    settlement = settle(LABELS, ruler=Ruler(WordOverlap()))
    return settlement, read_clusters(clusters_of(settlement), LABELS, fields=FIELDS)


def test_everybodys_own_label_stands_beside_the_merged_one():
    _, (log_in, print_it) = clusters()

    assert (log_in.how, log_in.missing) == ("majority", ["cleo"])
    assert [side.label and side.label["uid"] for side in log_in.sides] == ["a1", "b1", None]
    assert (print_it.how, print_it.missing) == ("disputed", ["ana", "ben"])


def test_fields_differ_by_what_they_say_not_by_the_order_of_messages():
    _, (log_in, print_it) = clusters()

    assert log_in.differs == ["confidence"]
    assert print_it.differs == []


def test_agreement_is_the_mean_share_of_holders():
    settlement, _ = clusters()

    assert agreement_of(settlement) == (2 / 3 + 1 / 3) / 2
    assert agreement_of(settle({"ana": [], "ben": []}, ruler=Ruler(WordOverlap()))) == 1.0


def test_an_agreed_label_is_everybodys_who_holds_it_and_an_edited_one_nobodys():
    _, (log_in, print_it) = clusters()
    edited = {**print_it.label, "title": "print a page"}

    assert attributed(log_in.label, log_in)["adopted_from"] == ["ana", "ben"]
    assert attributed(LABELS["cleo"][0], print_it)["adopted_from"] == ["cleo"]
    assert attributed(edited, print_it)["adopted_from"] == []


def test_leaving_out_overrules_everybody_only_where_all_have_the_label():
    _, (log_in, print_it) = clusters()
    all_have = {name: [requirement("log in", uid=name)] for name in ("ana", "ben")}
    settlement = settle(all_have, ruler=Ruler(WordOverlap()))
    (held_by_all,) = read_clusters(clusters_of(settlement), all_have)

    assert not overrules_everybody(None, log_in)
    assert not overrules_everybody(print_it.label, print_it)
    assert overrules_everybody({**print_it.label, "title": "else"}, print_it)
    assert overrules_everybody(None, held_by_all)


def test_taking_each_field_from_somebody_overrules_nobody():
    labels = {
        "ana": [requirement("log in", uid="a", source_messages=[0, 2])],
        "ben": [requirement("log in", uid="b", source_messages=[0], priority="should")],
    }
    settlement = settle(labels, ruler=Ruler(WordOverlap()))
    (tied,) = read_clusters(clusters_of(settlement), labels)
    mixed = {**tied.label, "priority": "should", "source_messages": [2, 0]}

    assert (tied.how, list(tied.tied)) == ("disputed", ["priority", "source_messages"])
    assert not overrules_everybody(mixed, tied)
    assert attributed(mixed, tied)["adopted_from"] == []  # nobody gave all of it
    assert overrules_everybody({**mixed, "source_messages": [2]}, tied)


def test_decided_labels_are_counted_anew_and_no_uid_stands_twice():
    first, second = numbered(
        [
            requirement("b", uid="same", source_messages=[4], id="REQ-007"),
            requirement("a", uid="same", source_messages=[1], id="REQ-003"),
        ]
    )

    assert [(one["title"], one["id"]) for one in (first, second)] == [
        ("a", "REQ-001"),
        ("b", "REQ-002"),
    ]
    assert first["uid"] != second["uid"]


# --- perhaps the same --------------------------------------------------------------------------


def test_the_fields_that_differ_are_named_and_remarks_are_not_compared():
    ana = cited(sources=[1], rationale="One", confidence=0.2)
    ben = {**ana, "action": "Do something else", "rationale": "Two", "confidence": 0.9}

    [pair] = candidates("extraction", [ana], [ben])

    assert (pair.left, pair.right, pair.differs) == (0, 0, ["action"])


def test_each_label_is_in_one_pair_and_those_with_most_in_common_come_together():
    ana = [cited(sources=[1, 2]), cited(sources=[2])]
    ben = [cited(sources=[2]), cited(sources=[1, 2, 3])]

    pairs = candidates("extraction", ana, ben)

    # {1,2}–{1,2,3} 2/3 and {2}–{2} 1 is more than {1,2}–{2} 1/2 and {2}–{1,2,3} 1/3
    assert [(pair.left, pair.right) for pair in pairs] == [(0, 1), (1, 0)]


def test_of_two_about_the_same_messages_the_one_with_more_equal_fields_is_taken():
    ana = cited(sources=[1])
    near, far = {**ana, "action": "Else"}, {**ana, "action": "Else", "type": "security"}

    for others, expected in (([near, far], 0), ([far, near], 1)):
        [pair] = candidates("extraction", [ana], others)
        assert pair.right == expected


def test_without_a_common_message_there_is_none():
    assert candidates("extraction", [cited(sources=[1])], [cited(sources=[2])]) == []
    assert candidates("extraction", [cited(sources=[])], [cited(sources=[])]) == []
    assert candidates("extraction", [], [cited(sources=[2])]) == []


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
    ana, ben = (
        cited(sources=[1]),
        cited(sources=[1], title="In other words"),
    )
    both = cited(sources=[1], title="Agreed by both")
    clusters = [
        Cluster("disputed", ana, [Side("ana", ana), Side("ben", None)], []),
        Cluster("disputed", ben, [Side("ana", None), Side("ben", ben)], []),
        Cluster("unanimous", both, [Side("ana", both), Side("ben", both)], []),
    ]

    assert perhaps_same("extraction", clusters) == [{"ben": ben}, {"ana": ana}, {}]
