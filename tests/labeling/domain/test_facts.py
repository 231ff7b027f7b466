"""Facts are values: equal by what they say, and whole after they were stored."""

import copy
import json

import pytest

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
