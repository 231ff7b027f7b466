"""The table of a run's cases: what it shows, and in which order."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, NamedTuple

from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.paginator import Paginator
from django.db.models import F, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce, Concat
from django.http import HttpRequest

from evaluation.layers import gold_layer
from evaluation.metrics.registry import METRICS, Metric
from evaluation.models import CaseRun, Run, Score
from evaluation.services.run.primary_metrics import primary_of
from evaluation.services.unmeasured.predicting import counted
from evaluation.templatetags import present
from labeling.core.searching import containing
from labeling.models import Conversation
from labeling.translation import lazy as _

PAGE_SIZE = 50
LONGEST_TEXT = 100
FAILED, FAILURE = "failed", "failure"
OUTCOMES = {
    "": _("Every case"),
    FAILURE: _("Failures: failed, or in the lower half of the primary figure"),
    FAILED: _("The pipeline failed"),
    "waiting": _("Waiting or in work"),
}
STATES = CaseRun.State
ADDRESSED = ("sort", "text", "outcome", "split", "page")
"""What the address says of the table: with any of it, the tab of cases is meant."""


class Column(NamedTuple):
    """A metric of the table: how it sorts now, and what a click on it asks for."""

    metric: Metric
    sorted: str | None
    following: str


class CaseRow(NamedTuple):
    case: CaseRun
    failed: bool
    badge: str
    cells: list[present.Cell]
    question: str


class Asked(NamedTuple):
    """What the address asks of the table; what does not exist is as if it was not there."""

    order: str
    text: str
    """In the id of the case."""
    outcome: str
    split: str
    page: str


def asked_of(request: HttpRequest) -> Asked:
    def chosen(name: str, known: Container[str]) -> str:
        value = request.GET.get(name, "")
        return value if value in known else ""

    return Asked(
        order=chosen("sort", [f"{sign}{name}" for name in METRICS for sign in ("", "-")]),
        text=request.GET.get("text", "").strip()[:LONGEST_TEXT],
        outcome=chosen("outcome", OUTCOMES),
        split=chosen("split", Conversation.Split.values),
        page=request.GET.get("page", ""),
    )


def table_of(request: HttpRequest, run: Run, *, total: int) -> dict[str, Any]:
    asked, primary = asked_of(request), primary_metric(run)
    metrics: list[Metric] = []
    cases = CaseRun.objects.filter(run=run).select_related("item", "talk")
    cases = cases.defer("usage", "item__canonical", "talk__text")
    if primary:
        cases = cases.defer("output", "usage", "item__canonical", "talk__text")
        layer = gold_layer(run.spec.layer)
        metrics = present.case_columns(layer, answered=run.spec.has_answers)
    elif asked.outcome == FAILURE:  # nothing of a run without gold
        asked = asked._replace(outcome="")
    if asked.text:
        name = Coalesce("item__item_id", "talk__external_id")
        shown = cases.annotate(shown_id=Concat(name, Value(":"), "part_id"))
        cases = shown.filter(containing("shown_id", asked.text) | containing("part", asked.text))
    if asked.split:
        cases = cases.filter(item__split=asked.split)
    if asked.outcome == FAILED:
        cases = cases.filter(state=STATES.FAILED)
    elif asked.outcome == "waiting":
        cases = cases.filter(state__in=[STATES.QUEUED, STATES.RUNNING])
    elif asked.outcome == FAILURE:
        cases = failures(cases, primary)
    cases = _ordered(cases, asked.order)
    page = Paginator(cases, PAGE_SIZE).get_page(asked.page)
    outcomes = OUTCOMES.items()
    return {
        "columns": [_column(metric, asked) for metric in metrics],
        "cases": _rows(run, list(page.object_list), metrics),
        "asked": asked,
        "outcomes": [each for each in outcomes if primary or each[0] != FAILURE],
        "filtered": any((asked.text, asked.outcome, asked.split)),
        "splits": () if run.split in Conversation.Split.values else Conversation.Split.choices,
        "page": page,
        "n_all": total,
        "repeats": run.repetitions > 1,
    }


def primary_metric(run: Run) -> Metric | None:
    """That of the run's project and layer; nothing decides about a run without gold."""
    return primary_of(run.release.project, run.release.layer).metric if run.is_measured else None


def failures(cases: Any, primary: Metric | None) -> Any:
    """Cases of which the pipeline failed, or whose primary figure is in the lower half."""
    if primary is None:
        return cases.filter(state=STATES.FAILED)
    middle = (primary.lower + primary.upper) / 2
    low = Q(by_primary__lt=middle) if primary.direction == "higher" else Q(by_primary__gt=middle)
    return _with_value(cases, primary, "by_primary").filter(Q(state=STATES.FAILED) | low)


def _with_value(cases: Any, metric: Metric, name: str) -> Any:
    scores = Score.objects.filter(
        case=OuterRef("pk"), metric=metric.id, metric_version=metric.version
    )
    return cases.annotate(**{name: Subquery(scores.values("value")[:1])})


def _ordered(cases: Any, order: str) -> Any:
    """Undefined figures last; cases are created in the order of the gold, so the key gives it."""
    metric = METRICS.get(order.removeprefix("-"))
    if metric is None:
        return cases.order_by("pk")
    cases, by = _with_value(cases, metric, "by"), F("by")
    falls = order.startswith("-")
    return cases.order_by(by.desc(nulls_last=True) if falls else by.asc(nulls_last=True), "pk")


def _column(metric: Metric, asked: Asked) -> Column:
    """Sorted upwards first: the worst cases are of most interest."""
    directions = {metric.id: "ascending", f"-{metric.id}": "descending"}
    following = f"-{metric.id}" if asked.order == metric.id else metric.id
    return Column(metric, directions.get(asked.order), following)


def _rows(run: Run, cases: list[CaseRun], metrics: list[Metric]) -> list[CaseRow]:
    scores = Score.objects.filter(case__in=cases if metrics else []).defer("detail", "by_person")
    by_key = {(row.case_id, row.metric, row.metric_version): row for row in scores}
    rows = []
    for case in cases:
        failed = case.state == STATES.FAILED
        cells = [
            present.score_cell(by_key.get((case.pk, metric.id, metric.version)), failed=failed)
            for metric in metrics
        ]
        if case.talk is not None:
            counts = counted(case.output, run.spec.layer).values() if case.output else None
            labels = present.UNDEFINED if counts is None else intcomma(sum(counts))
            seconds = present.figure(case.seconds, 1)
            texts = (intcomma(case.talk.n_messages), labels, seconds)
            cells = [present.Cell(text) for text in texts]
        question = run.spec.questions.get(case.part, "") if case.talk else ""
        rows.append(CaseRow(case, failed, present.color(case.state), cells, question))
    return rows
