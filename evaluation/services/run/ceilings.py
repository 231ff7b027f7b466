"""The human ceiling: each annotator's labels scored as if another's were gold.

It is what the agreement of people leaves for any pipeline to reach, by the same metric functions
on the same cases. It depends on gold and settings only, so it is computed once for all runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import fsum
from typing import Any, TypedDict

from django.db.models import Avg

from evaluation.layers import Context, Example, GoldLayer, Scored, gold_layer
from evaluation.metrics.ceiling import Level, human_level
from evaluation.metrics.metric import Metric, Share, Value
from evaluation.metrics.registry import METRICS, metrics_for
from evaluation.metrics.summary import summarize
from evaluation.models import Aggregate, HumanCeiling, Run, Score
from evaluation.services.launch.predictions import Labels, Submitted, behind
from evaluation.services.launch.spec import sha256_of
from labeling.domain.facts import Fact
from labeling.domain.matching.similarity import Ruler
from labeling.models import GoldRelease
from labeling.services import vectors
from labeling.words import in_english

NO_PAIR = Fact("ceiling.no_pair_of_people")
NO_LABELS = Fact("ceiling.not_made_by_people")
NOT_OF_PEOPLE = Fact("ceiling.not_about_labels")
OF_PIPELINES = frozenset(
    {
        "fuzzy_recall_chance",
        "groundedness",
        "hallucinated_id_rate",
        "parse_raw_success",
        "parse_repair_success",
        "parse_errors",
        "parse_extraction_failures",
        "schema_compliance_rate",
    }
)


@dataclass(frozen=True, slots=True)
class Beside:
    """What people reach by one metric, and where a run stands to it."""

    ceiling: HumanCeiling
    own: float | None
    """The run's figure on the cases that people were compared on."""
    level: Level


@dataclass(frozen=True, slots=True)
class _Pair:
    """One person's labels of one case, scored against another's or against gold."""

    by: str
    against: str
    scored: Scored


_Case = list[_Pair]


def ensure(run_id: int) -> None:
    """Compute the ceiling that this run's figures stand beside, unless it is there."""
    run = Run.objects.select_related("release__project").get(pk=run_id)
    ruler = vectors.ruler()
    key = _key(run, ruler.id)
    metrics = metrics_for(run.release.layer)
    known = HumanCeiling.objects.filter(**key).values_list("metric", "metric_version")
    if {(metric.id, metric.version) for metric in metrics} <= set(known):
        return
    HumanCeiling.objects.bulk_create(_rows(run, key, metrics, ruler), ignore_conflicts=True)


def of(run: Run) -> dict[str, HumanCeiling]:
    """By metric; empty while none is computed."""
    rows = HumanCeiling.objects.filter(**_key(run, run.spec.ruler))
    return {row.metric: row for row in rows if METRICS[row.metric].version == row.metric_version}


def beside(run: Run, aggregates: Sequence[Aggregate]) -> dict[str, Beside]:
    """Each figure of a run that people have one beside, by metric.

    What people rated is no share of what gold says of people.
    """
    ceilings = of(run)
    part = _on_part(run, ceilings)
    rated = any(row.detail.get("basis") == "human" for row in aggregates)
    placed = {}
    for row in aggregates:
        if row.metric in ceilings:
            own = part.get(row.metric, row.mean)
            people = None if rated else ceilings[row.metric].mean
            level = human_level(METRICS[row.metric], own, people)
            placed[row.metric] = Beside(ceilings[row.metric], own, level)
    return placed


class CeilingRow(TypedDict):
    """What people reach, next to a figure in ``results.json``."""

    mean: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    n_undefined: int
    reason: str | None
    own: float | None
    percent_of_human_level: float | None
    passes: bool


def as_json(comparison: Beside) -> CeilingRow:
    row = comparison.ceiling
    return {
        "mean": row.mean,
        "ci_low": row.ci_low,
        "ci_high": row.ci_high,
        "n": row.n,
        "n_undefined": row.n_undefined,
        "reason": in_english(row.reason) if row.reason else None,
        "own": comparison.own,
        "percent_of_human_level": comparison.level.percent,
        "passes": comparison.level.passes,
    }


class CeilingKey(TypedDict):
    """What a ceiling is of, by columns."""

    release: GoldRelease
    split: str
    settings_sha256: str


def _key(run: Run, ruler: str) -> CeilingKey:
    depends = ("matching", "metrics_config", "event_schema", "size")
    spec = run.spec.as_json()
    settings = {name: spec.get(name) for name in depends} | {"ruler": ruler}
    return {"release": run.release, "split": run.split, "settings_sha256": sha256_of(settings)}


def _on_part(run: Run, ceilings: Mapping[str, HumanCeiling]) -> dict[str, float | None]:
    """The run's own means where people were compared on some of its items only."""
    items = next(
        (row.detail["items"] for row in ceilings.values() if row.detail.get("items")), None
    )
    if items is None:
        return {}
    plain = [name for name in ceilings if METRICS[name].scope == "case"]
    scores = Score.objects.filter(case__run=run, case__item__in=items, metric__in=plain).order_by()
    rows = scores.values_list("metric", "metric_version").annotate(mean=Avg("value"))
    return {name: mean for name, version, mean in rows if METRICS[name].version == version}


def _rows(
    run: Run, key: CeilingKey, metrics: Sequence[Metric], ruler: Ruler
) -> Iterator[HumanCeiling]:
    layer = gold_layer(run.release.layer)
    context = Context(ruler, run.spec)
    items = behind(run.release, run.split, ruler=ruler) if layer.by_people else []
    items = items[: run.spec.size]
    cases = _scored(layer, context, items)
    shared = [item.item.pk for item in items if len(item.labels) > 1]
    part: CeilingDetail = {"items": shared} if len(shared) < len(items) else {}
    for metric in metrics:
        figures, reason = _figures(layer, metric, cases, context)
        detail: CeilingDetail = {**_detail(metric, cases), **part}
        yield HumanCeiling(
            **key,
            metric=metric.id,
            metric_version=metric.version,
            reason=reason,
            detail=detail,
            **figures,
        )


def _scored(layer: GoldLayer, context: Context, items: Sequence[Submitted]) -> list[_Case]:
    laid_out = [
        [(by, against, example, submitted.item.conversation_id) for by, against, example in pairs]
        for submitted in items
        for pairs in _cases(layer, submitted)
    ]
    context.ruler.prime(
        text for case in laid_out for _, _, example, _ in case for text in layer.texts(example)
    )
    return [
        [
            _Pair(by, against, Scored(example, _values(layer, example, context), False, cluster))
            for by, against, example, cluster in case
        ]
        for case in laid_out
    ]


def _values(layer: GoldLayer, example: Example, context: Context) -> dict[str, Value]:
    problem = layer.unscorable(example)
    if problem:
        return {m.id: Value(None, problem) for m in metrics_for(layer.name) if m.per_case}
    return layer.score(example, context)


def _cases(layer: GoldLayer, submitted: Submitted) -> Iterator[list[tuple[str, str, Example]]]:
    """The examples of each case of an item that two or more people labelled."""
    for part in layer.parts(submitted.content):
        labels = _of_part(submitted, part.uid)
        if len(labels) > 1:
            gold = layer.gold(submitted.content, part.uid)
            yield [
                *(
                    (
                        by,
                        against,
                        Example(submitted.content, labels[against], layer.as_output(labels[by])),
                    )
                    for by, against in permutations(sorted(labels), 2)
                ),
                *(
                    (by, "", Example(submitted.content, gold, layer.as_output(labels[by])))
                    for by in sorted(labels)
                ),
            ]


def _of_part(submitted: Submitted, uid: str) -> dict[str, Labels]:
    """Of a question or an arc: everybody's own label of it, as gold knows it."""
    if not uid:
        return submitted.labels
    origin = submitted.content["provenance"]["labels"].get(uid)
    names = (origin.get("uids") if origin else None) or {}
    own = {
        person: [label for label in labels if label.get("uid") == names.get(person)]
        for person, labels in submitted.labels.items()
    }
    return {person: labels for person, labels in own.items() if labels}


def _figures(
    layer: GoldLayer, metric: Metric, cases: Sequence[_Case], context: Context
) -> tuple[Mapping[str, Any], Fact | None]:
    names = ("mean", "ci_low", "ci_high", "n", "n_undefined")
    nothing = dict.fromkeys(names[:3]) | {"n": 0, "n_undefined": len(cases)}
    if metric.id in OF_PIPELINES:
        return nothing, NOT_OF_PEOPLE
    if not cases:
        return nothing, NO_PAIR if layer.by_people else NO_LABELS
    if not metric.per_case:
        among = [pair.scored for case in cases for pair in _among(case)]
        summary = layer.pooled(among, context)[metric.id]
        reason = None if summary.n else Fact("ceiling.no_confidence")
        figures = {name: getattr(summary, name) for name in names}
        return figures | {"n": len(cases) if summary.n else 0}, reason
    values = [_mean_of(metric, _among(case)) for case in cases]
    summary = summarize(
        metric,
        values,
        clusters=[case[0].scored.cluster for case in cases],
        failed=[False] * len(cases),
    )
    reason = None if summary.n else next(value.reason for value in values if value.reason)
    return {name: getattr(summary, name) for name in names}, reason


def _among(case: _Case) -> list[_Pair]:
    return [pair for pair in case if pair.against]


def _mean_of(metric: Metric, pairs: Sequence[_Pair]) -> Value:
    """One case's figure: the mean over all pairs, each in both directions."""
    values = [pair.scored.values[metric.id] for pair in pairs]
    known = [value.value for value in values if value.value is not None]
    if not known:
        return Value(None, next(value.reason for value in values))
    shares = [value.share for value in values if value.share is not None]
    share = None
    if shares:
        tops, bottoms = zip(*shares, strict=True)
        share = Share(fsum(tops) / len(shares), fsum(bottoms) / len(shares))
    return Value(fsum(known) / len(known), share=share)


class PeopleRow(TypedDict):
    """Two people against each other, or one against gold."""

    people: list[str]
    mean: float
    n: int


class CeilingDetail(TypedDict, total=False):
    """``items``: those that several people labelled, where these are not all."""

    pairs: list[PeopleRow]
    gold: list[PeopleRow]
    items: list[int]


def _detail(metric: Metric, cases: Sequence[_Case]) -> CeilingDetail:
    """Pair by pair, and each person against gold."""
    if not metric.per_case or metric.id in OF_PIPELINES:
        return {}
    by_people: dict[tuple[str, ...], list[float]] = {}
    for case in cases:
        for pair in case:
            value = pair.scored.values[metric.id].value
            people = tuple(sorted((pair.by, pair.against))) if pair.against else (pair.by,)
            if value is not None:
                by_people.setdefault(people, []).append(value)
    return {
        "pairs": [
            _row(people, values, 2) for people, values in sorted(by_people.items()) if people[1:]
        ],
        "gold": [
            _row(people, values, 1)
            for people, values in sorted(by_people.items())
            if not people[1:]
        ],
    }


def _row(people: tuple[str, ...], values: Sequence[float], directions: int) -> PeopleRow:
    mean = fsum(values) / len(values)
    return {"people": list(people), "mean": mean, "n": len(values) // directions}
