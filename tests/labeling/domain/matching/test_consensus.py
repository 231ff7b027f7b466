import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.agreement.matching.consensus import settle
from labeling.agreement.matching.merging import agreement_of
from labeling.agreement.matching.similarity import Ruler
from labeling.domain.canonical import canonical_json
from tests.fakes import WordOverlap, requirement

LOGIN, EXPORT = "Log in with a password", "Export the monthly report"


def test_labels_that_all_hold_are_unanimous(ruler):
    labels = {
        "ana": [requirement(LOGIN, uid="a1"), requirement(EXPORT, uid="a2", source_messages=[3])],
        "ben": [requirement(EXPORT, uid="b1", source_messages=[3]), requirement(LOGIN, uid="b2")],
    }

    settled = settle(labels, ruler=ruler)

    assert (settled.state, settled.disputed, settled.empty) == ("unanimous", [], False)
    titles = [label["title"] for label in settled.payload["requirements"]]
    assert titles == [LOGIN, EXPORT]  # in the order of the conversation
    assert [label["id"] for label in settled.payload["requirements"]] == ["REQ-001", "REQ-002"]
    first = settled.agreed[0]
    assert (first.how, first.uids) == ("unanimous", {"ana": "a1", "ben": "b2"})
    assert (first.dissent, first.fields) == ([], {})


def test_labels_that_their_holders_call_alike_get_different_uids(ruler):
    login, export = requirement(LOGIN), requirement(EXPORT, source_messages=[3])
    labels = {
        "ana": [{**login, "uid": "1"}],
        "ben": [{**export, "uid": "1"}, {**login, "uid": "2"}],
        "cleo": [{**export, "uid": "1"}],
    }

    first, second = settle(labels, ruler=ruler).agreed

    assert (first.label["uid"], first.uids) == ("1", {"ana": "1", "ben": "2"})
    assert (second.label["uid"], second.uids) == ("1-2", {"ben": "1", "cleo": "1"})


def test_the_words_come_from_the_label_closest_to_all_others(ruler):
    # cos with one extra word each: ana–ben 8/√72 = 0.943, ben–cleo 0.949, ana–cleo 0.894
    words = "a b c d e f g h"
    labels = {
        "ana": [requirement(words)],
        "ben": [requirement(f"{words} i")],
        "cleo": [requirement(f"{words} i j")],
    }

    settled = settle(labels, ruler=ruler)

    assert settled.payload["requirements"][0]["title"] == f"{words} i"


def test_the_most_similar_labels_are_joined_first(ruler):
    # ana–cleo and ben–cleo say the same; ana–ben are near enough (8/√80 = 0.894), but
    # joining them would bring cleo's two labels together.
    short, long = "a b c d e f g h", "a b c d e f g h i j"
    labels = {
        "ana": [requirement(short)],
        "ben": [requirement(long)],
        "cleo": [requirement(short), requirement(long)],
    }

    result = settle(labels, ruler=ruler)

    assert result.state == "majority"
    assert sorted(settled.by for settled in result.agreed) == [["ana", "cleo"], ["ben", "cleo"]]


def test_a_majority_by_field_says_who_gave_which_field(ruler):
    labels = {
        "ana": [requirement(LOGIN, priority="must", source_messages=[0])],
        "ben": [requirement(LOGIN, priority="must", source_messages=[0, 2])],
        "cleo": [requirement(LOGIN, priority="should", source_messages=[0, 2])],
        "dan": [requirement(LOGIN, priority="must", source_messages=[0, 2])],
    }

    everybody = settle(labels, ruler=ruler)
    del labels["dan"]
    nobody = settle({**labels, "ben": [requirement(LOGIN, priority="could")]}, ruler=ruler)
    settled = settle(labels, ruler=ruler)

    (label,) = settled.agreed
    assert (label.label["priority"], label.label["source_messages"]) == ("must", [0, 2])
    assert label.fields == {
        "priority": ["ana", "ben"],
        "source_messages": ["ben", "cleo"],
    }
    assert (label.how, label.as_it_stands) == ("majority", ["ben"])
    assert (agreement_of(settled), agreement_of(everybody)) == (1 / 3, 1 / 2)
    assert nobody.disputed[0].tied == ["priority"]


def test_criteria_are_decided_one_by_one(ruler):
    criteria = {"ana": ["a b", "c d", "e f"], "ben": ["c d", "a b"], "cleo": ["a b", "e f"]}
    labels = {who: [requirement(LOGIN, acceptance_criteria=own)] for who, own in criteria.items()}
    two = {"ana": labels["ana"], "ben": labels["ben"]}

    (settled,) = settle(labels, ruler=ruler).agreed

    assert settled.label["acceptance_criteria"] == ["a b", "c d", "e f"]
    assert (settled.how, settled.fields) == ("majority", {"acceptance_criteria": ["ana"]})
    assert settle(two, ruler=ruler).disputed[0].tied == ["acceptance_criteria"]


@pytest.mark.parametrize(
    ("field", "left", "right", "is_tied"),
    [
        ("condition", None, "When signed in", True),
        ("condition", "When signed in", "when  signed in", False),
        (
            "condition",
            "After 3 tries on one day at the desk",
            "After 5 tries on one day at the desk",
            True,
        ),
        ("action", "Lock the account after 3 tries", "Lock the account after 5 tries", True),
        ("action", "Lock the account after 3 tries", "Lock the account after three tries", False),
        ("type", "functional", "functional", False),
        ("actor", "user", "client", False),
        ("rationale", "They say so", "It is the law", False),
    ],
)
def test_a_text_is_tied_where_the_other_says_something_else(ruler, field, left, right, is_tied):
    words = "Lock an account that somebody tries to get into"
    people = {"ana": left, "ben": right}
    labels = {who: [requirement(words, **{field: own})] for who, own in people.items()}

    settled = settle(labels, ruler=ruler, threshold=0.5)

    everything = [*settled.agreed, *settled.disputed]
    assert [each.tied for each in everything] == [[field] if is_tied else []]


def test_holders_who_say_it_otherwise_are_kept_word_for_word(ruler):
    other = requirement(LOGIN, priority="could", confidence=0.2, uid="b1")
    labels = {"ana": [requirement(LOGIN)], "ben": [other], "cleo": [requirement(LOGIN)]}

    [settled] = settle(labels, ruler=ruler).agreed

    assert settled.how == "majority"
    assert settled.dissent == [{"annotator": "ben", "label": other, "differs": ["priority"]}]


labels_of_one = st.lists(
    st.builds(
        requirement,
        title=st.sampled_from(["a b c d e f g h", "a b c d e f g", "b c d e f g h", "x y"]),
        actor=st.sampled_from(["user", "client", None]),
        source_messages=st.lists(st.integers(0, 3), min_size=1, max_size=2, unique=True),
    ),
    max_size=4,
)


@given(
    st.dictionaries(st.sampled_from(["ana", "ben", "cleo", "dan"]), labels_of_one, min_size=1),
    st.randoms(use_true_random=False),
)
def test_laws_of_settling(labels, random):
    ruler = Ruler(WordOverlap())
    settled = settle(labels, ruler=ruler)
    everything = [*settled.agreed, *settled.disputed]

    # every label is in exactly one cluster, every cluster has each annotator at most once
    assert sum(len(each.by) for each in everything) == sum(map(len, labels.values()))
    assert all(len(set(each.by)) == len(each.by) for each in everything)
    # a label stands exactly when a strict majority holds it and no field of it is tied
    assert all(2 * len(each.by) > len(labels) and not each.tied for each in settled.agreed)
    assert all(2 * len(each.by) <= len(labels) or each.tied for each in settled.disputed)
    assert all(each.label["source_messages"] for each in settled.agreed)
    # who comes first plays no part
    shuffled = list(labels.items())
    random.shuffle(shuffled)
    again = settle({who: random.sample(own, len(own)) for who, own in shuffled}, ruler=ruler)
    assert canonical_json(again.payload) == canonical_json(settled.payload)
    assert again.agreed == settled.agreed
