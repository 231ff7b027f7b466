"""The worst cases of a run with their conversations: a bounded number, of a bounded length."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Case, F, OuterRef, Q, QuerySet, Subquery, When

from evaluation import adapters
from evaluation.layers import Example, GoldLayer, gold_layer
from evaluation.layers.memory import Memory
from evaluation.metrics.registry import Metric
from evaluation.models import CaseRun, Run, Score
from evaluation.views.compared_case import ShownMessage, Unit, excerpt, units_of
from labeling.models import Conversation

MOST_CASES = 50
WHOLE = 24
"""A conversation of more messages is shown around those that gold or the run cites."""
AROUND = 1
MOST_MESSAGES = 40
MOST_UNITS = 40


class WorstCase(NamedTuple):
    case: CaseRun
    question: str
    messages: list[ShownMessage]
    units: list[Unit]
    more_units: int


class WorstCases(NamedTuple):
    rows: list[WorstCase]
    n_below: int
    """Cases that failed or did not reach the best value: the rows are the worst of them."""
    blind: int
    """Left out, because the reader labels these conversations blind."""


def worst_cases(
    run: Run, metric: Metric, number: int, *, blind: QuerySet[Conversation]
) -> WorstCases:
    """By the primary metric, failures first; cases that reached the best value are none of them."""
    scores = Score.objects.filter(
        case=OuterRef("pk"), metric=metric.id, metric_version=metric.version
    )
    below = CaseRun.objects.filter(run=run).annotate(by=Subquery(scores.values("value")[:1]))
    higher = metric.direction == "higher"
    best = metric.upper if higher else metric.lower
    short = Q(by__lt=best) if higher else Q(by__gt=best)
    below = below.filter(Q(state=CaseRun.State.FAILED) | short)
    shown = below.exclude(item__conversation__in=blind.values("pk"))
    by = F("by").asc(nulls_first=True) if higher else F("by").desc(nulls_first=True)
    related = shown.select_related("item", "run__release__project").defer("item__canonical")
    rank = Case(When(state=CaseRun.State.FAILED, then=0), default=1)
    cases = list(related.prefetch_related("scores").order_by(rank, by, "pk")[:number])
    layer = gold_layer(run.spec.layer)
    examples = adapters.examples(cases, layer)
    return WorstCases(
        [_worst(case, example, layer) for case, example in zip(cases, examples, strict=True)],
        n_below=below.count(),
        blind=below.filter(item__conversation__in=blind.values("pk")).count(),
    )


def _worst(case: CaseRun, example: Example, layer: GoldLayer) -> WorstCase:
    units = units_of(case)
    return WorstCase(
        case=case,
        question=layer.question(example.gold) or "",
        messages=list(
            excerpt(
                example.messages,
                layer.expected_ids(example),
                layer.returned_ids(example),
                first=1 if isinstance(layer, Memory) else 0,  # messages of chats count from 1
                around=AROUND,
                whole=WHOLE,
                most=MOST_MESSAGES,
            )
        ),
        units=units[:MOST_UNITS],
        more_units=len(units[MOST_UNITS:]),
    )
