"""Facts are values: equal by what they say, and whole after they were stored."""

import copy
import json

import pytest

from labeling.core.rules.reasons import reason_in
from labeling.domain.facts import Fact, MalformedFact

NESTED = Fact("a.b", n=1, share=0.5, name=None, reasons=[Fact("c.d"), Fact("e.f", names=["x"])])


def test_a_fact_is_whole_after_it_was_stored():
    assert Fact.from_json(json.loads(json.dumps(NESTED.as_json()))) == NESTED
    assert copy.deepcopy(NESTED) == NESTED


def test_facts_are_equal_by_value():
    assert Fact("a.b", x=1, y=2) == Fact("a.b", y=2, x=1)
    assert len({Fact("a.b", x=1, y=[2]), Fact("a.b", y=(2,), x=1)}) == 1
    assert Fact("a.b", x=1) != Fact("a.b", x=2)
    assert Fact("a.b") != Fact("a.c")


@pytest.mark.parametrize(
    "stored",
    [
        None,
        "a.b",
        [],
        {"code": "a.b"},
        {"code": "", "values": {}},
        {"code": 3, "values": {}},
        {"code": "a.b", "values": []},
        {"code": "a.b", "values": {}, "more": 1},
        {"code": "a.b", "values": {"x": {"y": 1}}},
        {"code": "a.b", "values": {"x": float("nan")}},
    ],
)
def test_what_is_not_a_fact_is_refused(stored):
    with pytest.raises(MalformedFact):
        Fact.from_json(stored)


@pytest.mark.parametrize("value", [{"a": 1}, {1}, object(), float("inf")])
def test_a_fact_holds_only_what_can_be_stored(value):
    with pytest.raises(MalformedFact):
        Fact("a.b", value=value)


# --- reasons that can be read ------------------------------------------------------------------


UNSEEN = [
    *("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u180e", "\u202e", "\u2066"),
    *("\u034f", "\ufe0f", "\U000e0020", "\u3164", "\u115f", "\uffa0", "\u2800", "\x00", "\x7f"),
    *("\u00a0", "\u3000", "\u2028", "\n", ""),
]


@pytest.mark.parametrize("text", UNSEEN, ids=ascii)
def test_what_shows_nothing_is_no_reason(text):
    assert reason_in(text) == ""
    assert reason_in(f" {text}\u200b{text} ") == ""


SEEN = ["x", "…", "理由", "सच", "👍\ufe0f", "ein\u00adfach", "e\u0301", "\U0001fae8"]


@pytest.mark.parametrize("text", SEEN)
def test_what_can_be_read_is_a_reason(text):
    assert reason_in(f" {text}\n") == text
