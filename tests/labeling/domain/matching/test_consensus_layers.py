"""Settling by layer: what counts as the same label, and what a majority decides in it."""

import pytest

from labeling.agreement.matching.consensus import settle
from labeling.agreement.matching.references import Base, in_terms_of, quoting
from tests.layers import arc, event, inferred, issue, phase, question, rating


def settled(ruler, layer, labels, **rules):
    return settle(labels, ruler=ruler, layer=layer, **rules)


# --- inference ---


def test_inferred_requirements_match_by_text_and_take_the_triggers_of_most(ruler):
    labels = {
        "ana": [inferred("Encrypt the data", triggered_by=["g1", "g2"])],
        "ben": [inferred("Encrypt the data", triggered_by=["g1"], necessity="optional")],
        "cleo": [inferred("Encrypt the data", triggered_by=["g1"], necessity="optional")],
    }

    result = settled(ruler, "inference", labels)

    (label,) = result.payload["inferred_requirements"]
    assert result.state == "majority"
    assert (label["id"], label["triggered_by"]) == ("INF-001", ["g1"])
    assert label["necessity"] == "optional"
    (row,) = result.agreed[0].dissent
    assert (row["annotator"], row["differs"]) == ("ana", ["triggered_by", "necessity"])


def test_labels_stand_in_the_order_of_what_they_refer_to(ruler):
    own = [inferred("Back up", triggered_by=["g2"]), inferred("Zip files", triggered_by=["g1"])]

    result = settled(ruler, "inference", {"ana": own}, order=["g1", "g2"])

    titles = [label["title"] for label in result.payload["inferred_requirements"]]
    assert titles == ["Zip files", "Back up"]


# --- validation ---


def test_issues_are_the_same_by_requirement_type_and_field_whatever_they_say(ruler):
    labels = {
        "ana": [issue("g1", message="One thing", severity="error")],
        "ben": [issue("g1", message="Something else", severity="error")],
        "cleo": [issue("g1", field="title")],
    }

    result = settled(ruler, "validation", labels)

    assert result.state == "disputed"  # cleo's is another issue
    [agreed] = result.agreed
    assert agreed.by == ["ana", "ben"]
    assert [row["annotator"] for row in agreed.dissent] == ["cleo"]  # remarks are no dissent
    assert [each.by for each in result.disputed] == [["cleo"]]


# --- qa ---


# --- narratives ---


def test_phases_meet_by_their_evidence_and_stand_if_most_tell_them(ruler):
    labels = {
        "ana": [arc("How did it go", phase("Start", [0, 1]), phase("End", [3]))],
        "ben": [arc("How did it go", phase("Begin", [0]), phase("Middle", [2]), phase("End", [3]))],
        "cleo": [arc("How did it go", phase("First", [0, 1]), phase("Then", [2]), phase("Z", [3]))],
    }

    result = settled(ruler, "arc", labels)

    (label,) = result.payload["arcs"]
    phases = [(phase["title"], phase["evidence"]) for phase in label["phases"]]
    assert phases == [("Start", [0, 1]), ("Middle", [2]), ("End", [3])]
    assert (result.state, result.agreed[0].fields) == ("majority", {"phases": ["cleo"]})


# --- events ---


def test_events_match_by_type_and_trigger_and_keep_the_arguments_of_most(ruler):
    labels = {
        "ana": [event(0, ("what", "order 0"), ("who", "we"))],
        "ben": [event(0, ("what", "order"))],
        "cleo": [event(0, ("what", "order 0"))],
    }

    result = settled(ruler, "events", labels)

    (label,) = result.payload["events"]
    roles = [(argument["role"], argument["span"]["text"]) for argument in label["arguments"]]
    assert (result.state, roles) == ("majority", [("what", "order 0")])


def test_events_of_another_type_or_place_are_others(ruler):
    labels = {"ana": [event(0)], "ben": [event(0, type="payment"), event(2)]}

    result = settled(ruler, "events", labels)

    assert sorted(each.by for each in result.disputed) == [["ana"], ["ben"], ["ben"]]


# --- relevance ---


@pytest.mark.parametrize(
    ("scores", "state", "score"),
    [((2, 2, 1), "majority", 2), ((1, 1, 1), "unanimous", 1), ((0, 1, 2), "disputed", None)],
)
def test_a_rating_is_agreed_if_most_give_the_same_score(ruler, scores, state, score):
    people = zip(["ana", "ben", "cleo"], scores, strict=True)
    labels = {who: [rating("g1", one)] for who, one in people}

    result = settled(ruler, "relevance", labels)

    assert result.state == state
    assert [label["score"] for label in result.payload["ratings"]] == ([score] if score else [])


# --- laws ---


EXAMPLES = {
    "inference": [
        inferred("Encrypt", triggered_by=["g2", "g1"]),
        inferred("Log", triggered_by=["g1"]),
    ],
    "validation": [issue("g1"), issue("g1", field="title")],
    "qa": [question("What do they track", evidence=[3, 1]), question("Who pays")],
    "arc": [arc("How did it go", phase("End", [3]), phase("Start", [0]))],
    "events": [event(0, ("what", "order 0")), event(2)],
    "relevance": [rating("g1", 2), rating("g2", 0)],
}


@pytest.mark.parametrize("layer", EXAMPLES)
def test_alone_or_all_alike_what_was_said_stands(ruler, layer):
    labels = EXAMPLES[layer]

    alone = settled(ruler, layer, {"ana": labels})
    alike = settled(ruler, layer, dict.fromkeys(("ana", "ben", "cleo"), labels))

    assert (alone.state, alike.state) == ("single", "unanimous")
    assert alone.payload == alike.payload
    assert not any(each.dissent for each in [*alone.agreed, *alike.agreed])
    assert len(alone.agreed) == len(labels)


@pytest.mark.parametrize("layer", EXAMPLES)
def test_who_comes_first_plays_no_part(ruler, layer):
    first, second = EXAMPLES[layer], list(reversed(EXAMPLES[layer]))

    one = settled(ruler, layer, {"ana": first, "ben": second[:1], "cleo": second})
    other = settled(ruler, layer, {"cleo": first, "ben": second[:1], "ana": second})

    assert one.payload == other.payload


# --- references ---


def base_of(*labels, **names):
    base = Base()
    for label, holders in labels:
        base.add(label, holders)
    return base


GOLD = {"uid": "g1", "title": "Log in", "action": "Log in with a password at any time"}


def test_references_are_put_in_terms_of_what_stands():
    base = base_of((GOLD, {"ana": "a1", "ben": "b7"}))
    own = [inferred("Encrypt", triggered_by=["b7", "b9"]), inferred("Log", triggered_by=["b9"])]

    given = in_terms_of(base, "inference", own, "ben")

    assert [label["triggered_by"] for label in given.labels] == [["g1"]]
    assert [label["title"] for label in given.lost] == ["Log"]


def test_the_same_uid_of_two_people_names_two_labels():
    other = {"uid": "g2", "title": "Pay"}
    base = base_of((GOLD, {"ana": "1", "ben": "2"}), (other, {"ana": "2", "ben": "1"}))

    given = {who: in_terms_of(base, "validation", [issue("1")], who).labels for who in base.names}

    assert [given[who][0]["requirement"] for who in ("ana", "ben")] == ["g1", "g2"]


@pytest.mark.parametrize(
    ("words", "start", "found"),
    [("password", 4, 14), ("at", 26, 23), ("biometrics", 0, None)],
)
def test_quoted_words_are_looked_for_in_the_requirement_that_stands(words, start, found):
    span = {"start": start, "end": start + len(words), "text": words}

    label = quoting(base_of((GOLD, {})), issue("g1", span=span))

    assert (label["span"] and label["span"]["start"]) == found
    if found:
        assert GOLD["action"][found : label["span"]["end"]] == words
