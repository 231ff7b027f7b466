"""Whoever returns gold itself has the best value of every metric that has a value."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from evaluation.layers import GOLD_LAYERS, Context, Example
from evaluation.layers.base import values_of
from evaluation.metrics.registry import METRICS
from labeling.agreement.matching.similarity import Ruler
from tests import factories, layers
from tests.fakes import WordOverlap

SIZE = 8
TIMES = {"time": "2026-01-01T00:00:00+00:00"}
LEVELS = {"fuzzy_recall_chance"}
"""What a random answer reaches: no score."""
BARE = factories.requirement(1, acceptance_criteria=["", " "])
EVENT = {
    "uid": "e",
    "type": "Sale",
    "trigger": {"message": 0, "start": 0, "end": 4, "text": "sold"},
    "arguments": [{"role": "Buyer", "span": {"message": 0, "start": 5, "end": 9, "text": "Zeus"}}],
}
PII = layers.issue("one", issue_type="pii", span={"start": 0, "end": 4, "text": "Zeus"})

GOLD: dict[str, list[list[dict[str, Any]]]] = {
    "extraction": [
        [],
        [BARE],
        [factories.requirement(1, priority=None)],
        [factories.requirement(1), factories.requirement(2)],
    ],
    "inference": [[], [layers.inferred("One more", triggered_by=["one"])]],
    "validation": [[], [layers.issue("one"), layers.issue("one")], [PII]],
    "end_to_end": [[], [factories.requirement(1), factories.requirement(2)]],
    "qa": [[layers.question("What?", evidence=[1, 5])], [layers.question("What?", evidence=[0])]],
    "arc": [[layers.arc("How?", layers.phase("a", [1, 2]), layers.phase("b", [5, 6]))]],
    "events": [[], [EVENT], [EVENT | {"arguments": []}]],
}


def content(times: dict[str, str]) -> Any:
    return {
        "conversation": [
            {"index": at, "role": "client", "speaker": "Ana", "content": "sold Zeus"} | times
            for at in range(SIZE)
        ],
        "gold": {},
    }


def context(absent: dict[str, Any] | None = None) -> Context:
    schema = {"Sale": ["Buyer"]}
    described = SimpleNamespace(
        matching=SimpleNamespace(threshold=0.85, synonyms=[]),
        event_schema=schema,
        metrics_config={},
    )
    return Context(Ruler(WordOverlap()), cast(Any, described), absent or {})


def cases() -> list[Any]:
    return [(name, gold) for name, layer in GOLD.items() for gold in layer]


def test_every_layer_has_its_gold_here() -> None:
    assert set(GOLD) == set(GOLD_LAYERS)


@pytest.mark.parametrize("times", [TIMES, {"time": None}], ids=["timed", "untimed"])
@pytest.mark.parametrize(("name", "gold"), cases())
def test_gold_itself_is_best_or_has_no_value(name: str, gold: Any, times: Any) -> None:
    layer = GOLD_LAYERS[name]
    output = dict(layer.as_output(gold))
    if name == "end_to_end":
        output["document"] = DOCUMENT

    values = values_of(Example(content(times), gold, output), layer, context(), failed=False)

    for metric, value in values.items():
        best = METRICS[metric].upper if METRICS[metric].direction == "higher" else 0.0
        if value.value is None:
            assert value.reason
        elif metric not in LEVELS:
            assert value.value == pytest.approx(best), metric


@pytest.mark.parametrize("times", [TIMES, {"time": None}], ids=["timed", "untimed"])
@pytest.mark.parametrize(("name", "gold"), cases())
def test_whoever_fails_is_worst_wherever_a_value_was_to_be_had(name, gold, times):
    layer = GOLD_LAYERS[name]
    example = Example(content(times), gold, None)

    values = values_of(example, layer, context(), failed=True)

    for metric, value in values.items():
        assert value.value == METRICS[metric].worst or value.reason in layer.off, metric
    if not times["time"] and name in ("qa", "arc"):
        assert values["timeline_coverage"].value is None
    if name in ("extraction", "end_to_end") and gold and not gold[0].get("priority"):
        assert values["priority_accuracy"].value is None


@pytest.mark.parametrize(("name", "part"), [("qa", "ranked"), ("events", "raw")])
def test_what_no_case_returned_has_no_value_of_a_case_that_failed_either(name, part):
    layer = GOLD_LAYERS[name]
    why = next(iter(layer.off))
    absent = dict.fromkeys(layer.optional[part], why)
    example = Example(content(TIMES), GOLD[name][1], None)

    values = values_of(example, layer, context(absent), failed=True)

    assert {values[metric].value for metric in layer.optional[part]} == {None}
    assert values[layer.primary].value == 0


DOCUMENT = {
    "sections": [
        {"id": name, "title": name, "body": "Something."}
        for name in (
            *("overview", "stakeholders", "use_cases", "functional", "non_functional"),
            *("data_model", "security_compliance", "interfaces", "edge_cases"),
            *("acceptance_tests", "traceability"),
        )
    ]
}
