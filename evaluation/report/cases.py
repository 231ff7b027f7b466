"""The worst cases of a run with their conversations: a bounded number, of a bounded length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.db.models import Case, F, OuterRef, Q, QuerySet, Subquery, When

from evaluation import adapters
from evaluation.layers import Example, GoldLayer, gold_layer
from evaluation.layers.memory import Memory
from evaluation.metrics.registry import Metric
from evaluation.models import CaseRun, Run, Score
from evaluation.templatetags.present import Cell, score_cell
from evaluation.views.compared_case import OwnUnit, own_units
from evaluation.views.pairs import current_scores
from labeling.gold.rules.content import GoldMessage
from labeling.models import Conversation

MOST_CASES = 50
WHOLE = 24
"""A conversation of more messages is shown around those that gold or the run cites."""
AROUND = 1
MOST_MESSAGES = 40
MOST_UNITS = 40


class ShownMessage(NamedTuple):
    """``skipped`` messages before it are left out; without ``text`` they were the last ones."""

    number: int
    speaker: str
    text: str
    expected: bool
    returned: bool
    skipped: int


class WorstCase(NamedTuple):
    case: CaseRun
    scores: list[Score]
    question: str
    messages: list[ShownMessage]
    units: list[OwnUnit]
    more_units: int

    def cell(self, metric: Metric) -> Cell:
        score = next((score for score in self.scores if score.metric == metric.id), None)
        return score_cell(score, failed=self.case.state == CaseRun.State.FAILED)


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
    units = own_units(case)
    return WorstCase(
        case=case,
        scores=current_scores(case),
        question=layer.question(example.gold) or "",
        messages=_excerpt(example, layer),
        units=units[:MOST_UNITS],
        more_units=len(units[MOST_UNITS:]),
    )


def _excerpt(example: Example, layer: GoldLayer) -> list[ShownMessage]:
    """All of a short conversation; of a long one what is cited and its neighbours."""
    first = 1 if isinstance(layer, Memory) else 0  # messages of chats are counted from 1
    expected = {number - first for number in layer.expected_ids(example)}
    returned = {number - first for number in layer.returned_ids(example)}
    messages = example.messages
    places: Sequence[int] = range(len(messages))
    if len(messages) > WHOLE:
        cited = expected | returned
        places = [
            at for at in places if any(at + off in cited for off in range(-AROUND, AROUND + 1))
        ]
        places = places or range(WHOLE)
    return list(_shown(messages, places[:MOST_MESSAGES], first, expected, returned))


def _shown(
    messages: Sequence[GoldMessage],
    places: Sequence[int],
    first: int,
    expected: set[int],
    returned: set[int],
) -> Iterator[ShownMessage]:
    last = -1
    for at in places:
        message = messages[at]
        yield ShownMessage(
            number=at + first,
            speaker=message["speaker"] or message["role"],
            text=message["content"],
            expected=at in expected,
            returned=at in returned,
            skipped=at - last - 1,
        )
        last = at
    if last + 1 < len(messages):
        yield ShownMessage(0, "", "", False, False, len(messages) - last - 1)
