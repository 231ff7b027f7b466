"""Gold says what people said: each field is what a strict majority gave, or it is disputed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.agreement.matching.consensus import Settled, settle
from labeling.agreement.matching.similarity import Ruler
from labeling.schema import LAYERS, compared_fields
from labeling.schema.sameness import bare
from tests.fakes import WordOverlap, requirement
from tests.layers import arc, event, inferred, issue, phase, question, rating

RULER = Ruler(WordOverlap())
PEOPLE = ["ana", "ben", "cleo", "dan", "eve"]
PLACES = st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True)
CRITERIA = st.lists(st.sampled_from(["a b", "c d", "e f"]), min_size=2, max_size=3, unique=True)
PRIORITY = st.sampled_from(["must", "should", "could"])
CONDITION = st.sampled_from([None, "when signed in", "on Mondays"])


def _span(start: int, end: int) -> dict[str, Any]:
    return {"message": 0, "start": start, "end": end, "text": "x" * (end - start)}


SPANS = st.builds(_span, st.integers(0, 2), st.integers(4, 5))
LABELS = {
    "extraction": st.builds(
        lambda **own: requirement("log in", **own),
        priority=PRIORITY,
        source_messages=PLACES,
        acceptance_criteria=CRITERIA,
        condition=CONDITION,
        actor=st.sampled_from(["user", "client"]),
    ),
    "inference": st.builds(
        lambda **own: inferred("Encrypt", **own),
        triggered_by=st.lists(st.sampled_from(["g1", "g2", "g3"]), min_size=1, unique=True),
        necessity=st.sampled_from(["necessary", "recommended", "optional"]),
        inference_type=st.sampled_from(["security", "compliance"]),
        priority=PRIORITY,
        acceptance_criteria=CRITERIA,
    ),
    "validation": st.builds(
        lambda **own: issue("g1", **own),
        severity=st.sampled_from(["error", "warning", "info"]),
        span=st.one_of(
            st.none(),
            st.sampled_from([0, 1]).map(lambda at: {"start": at, "end": 3, "text": "abc"[at:]}),
        ),
    ),
    "qa": st.builds(
        lambda **own: question("What do they track", **own),
        evidence=PLACES,
        answer=st.sampled_from(["orders", "ORDERS", "5 orders", "7 orders", "parcels"]),
        category=st.sampled_from(["single-hop", "multi-hop"]),
    ),
    "arc": st.builds(
        lambda parts: arc("How did it go", *(phase("Step", part) for part in parts)),
        st.lists(PLACES, min_size=2, max_size=3),
    ),
    "events": st.builds(
        lambda trigger, parts: event(0, trigger=trigger, arguments=parts),
        SPANS,
        st.lists(
            st.builds(
                lambda role, span: {"role": role, "span": span},
                st.sampled_from(["who", "what"]),
                SPANS,
            ),
            max_size=2,
        ),
    ),
    "relevance": st.builds(lambda score: rating("g1", score), st.sampled_from([0, 1, 2])),
}
"""Labels that are matched for sure, and differ in whatever field may differ."""


def test_no_layer_is_left_out():
    assert LABELS.keys() == LAYERS.keys()


@pytest.mark.parametrize("layer", LABELS)
@given(data=st.data())
@settings(deadline=None)
def test_each_field_of_gold_was_given_by_a_strict_majority_and_unanimous_is_what_all_say(
    layer, data
):
    labels = _labels(layer, data)

    settlement = settle(labels, ruler=RULER, layer=layer)

    for settled in settlement.agreed:
        own = _own(settled, labels)
        for field in compared_fields(layer):
            name = field["name"]
            said = [_said(field, label.get(name)) for label in own.values()]
            counts = Counter(part for parts in said for part in parts)
            stands = _said(field, settled.label.get(name))
            assert all(2 * counts[part] > len(own) for part in stands), name
            if name != "phases":  # two phases may cite one message
                assert all(2 * counts[part] < len(own) for part in counts.keys() - stands), name
    for settled in settlement.disputed:
        assert settled.tied or 2 * len(settled.fields.get("score", settled.by)) <= len(labels)
    for settled in [*settlement.agreed, *settlement.disputed]:
        is_alike = _is_alike(settled, layer, labels)
        assert (settled.how == "unanimous") == is_alike
        assert is_alike == (settled.as_it_stands == list(labels))


def _is_alike(settled: Settled, layer: str, labels: Mapping[str, Sequence[Any]]) -> bool:
    """Whether all say it alike in every field."""
    own = _own(settled, labels)
    return len(own) == len(labels) and all(
        _said(field, label.get(field["name"])) == _said(field, settled.label.get(field["name"]))
        and _steps(label) == _steps(settled.label)
        for field in compared_fields(layer)
        for label in own.values()
    )


def _labels(layer: str, data: st.DataObject) -> dict[str, list[dict[str, Any]]]:
    people = PEOPLE[: data.draw(st.integers(2, 5))]
    return {person: [data.draw(LABELS[layer])] for person in people}


def _own(settled: Settled, labels: Mapping[str, Sequence[Any]]) -> dict[str, Mapping[str, Any]]:
    return {
        person: next(label for label in labels[person] if label["uid"] == uid)
        for person, uid in settled.uids.items()
    }


def _said(field: Mapping[str, Any], value: Any) -> set[str]:
    """What a field says, in the pieces that are decided one by one."""
    if field["widget"] == "phases":
        return {repr(message) for phase in value for message in phase["evidence"]}
    if field["name"] == "actor":
        return {"user"}  # client is another word for it
    if field["widget"] in ("messages", "lines", "arguments") or field["many"]:
        return {repr(bare("", part)) for part in value or []}
    text = value.casefold() if isinstance(value, str) else value
    return {repr(bare(field["name"], text))}


def _steps(label: Mapping[str, Any]) -> list[list[int]]:
    """The evidence of the phases, whose order says something."""
    return [sorted(phase["evidence"]) for phase in label.get("phases", [])]
