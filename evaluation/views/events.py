"""One sample of events laid open: every argument of gold and prediction, and the reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evaluation import adapters
from evaluation.layers.events import Events, reply_of
from evaluation.metrics.events import Argument, read_events
from evaluation.models import CaseRun, Score
from labeling.words import words_of


class TypeRow(NamedTuple):
    """An event type, and whether gold and prediction hold it."""

    name: str
    gold: bool
    predicted: bool


class ArgumentRow(NamedTuple):
    """An argument of gold next to that of the prediction, where there are such."""

    type: str
    role: str
    gold: str | None
    predicted: str | None
    kind: str
    absent: bool
    """Whether the text does not hold what was predicted."""


def events_of(case: CaseRun, layer: Events, scores: Sequence[Score]) -> dict[str, Any]:
    """All that the page of such a case shows next to scores and provenance."""
    example = adapters.to_example(case, layer)
    gold, predicted = read_events(example.gold), read_events(layer.predicted(case.output))
    pairs = _detail(scores, "relaxed_f1").get("pairs", [])
    absent = set(_detail(scores, "hallucination_rate").get("absent", []))
    reply = reply_of(case.output) if case.output else None
    return {
        "rows": _rows(gold.arguments, predicted.arguments, pairs, absent),
        "types": [
            TypeRow(name, gold=name in gold.types, predicted=name in predicted.types)
            for name in sorted(gold.types | predicted.types)
        ],
        "reply": reply,
        "violation": words_of(_detail(scores, "schema_compliance_rate").get("violation")),
        "messages": example.messages,
    }


def _detail(scores: Sequence[Score], metric: str) -> Mapping[str, Any]:
    return next((score.detail for score in scores if score.metric == metric), {})


def _rows(
    gold: Sequence[Argument],
    predicted: Sequence[Argument],
    pairs: Sequence[Sequence[int]],
    absent: set[str],
) -> list[ArgumentRow]:
    """Pairs first as gold has them, then what only the prediction has."""
    partner = {pair[0]: pair[1] for pair in pairs}
    taken = set(partner.values())
    rows = [
        _row(argument, predicted[partner[at]] if at in partner else None, absent)
        for at, argument in enumerate(gold)
    ]
    return [
        *rows,
        *(_row(None, argument, absent) for at, argument in enumerate(predicted) if at not in taken),
    ]


def _row(gold: Argument | None, predicted: Argument | None, absent: set[str]) -> ArgumentRow:
    either = gold or predicted
    equal = bool(gold and predicted and gold.key == predicted.key)
    return ArgumentRow(
        type=either.type if either else "",
        role=either.role if either else "",
        gold=gold.text if gold else None,
        predicted=predicted.text if predicted else None,
        kind=_kind(gold, predicted, equal=equal),
        absent=bool(predicted and predicted.text in absent),
    )


def _kind(gold: Argument | None, predicted: Argument | None, *, equal: bool) -> str:
    if gold and predicted:
        return "equal" if equal else "alike"
    return "missed" if gold else "extra"
