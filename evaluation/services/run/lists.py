"""A page of runs: which of them, in which order, and what each is next to the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import (
    Case,
    CharField,
    F,
    FloatField,
    OuterRef,
    Q,
    Subquery,
    Value,
    When,
)

from evaluation.layers import GOLD_LAYERS
from evaluation.metrics.registry import METRICS, Metric
from evaluation.models import EVERY, Aggregate, PrimaryMetric, Run
from evaluation.models.runs import RunQuerySet
from evaluation.services.run import changes
from labeling.core.searching import containing
from labeling.domain.facts import Fact
from labeling.domain.numbers import whole_number
from labeling.gold import looks
from labeling.models import GoldRelease, Look

PAGE_SIZE = 25
NO_GOLD = "none"
Status = Run.Status


@dataclass(frozen=True, slots=True)
class Asked:
    """What a reader wants to see. Empty: no matter which."""

    pipeline: str = ""
    release: str = ""
    """``name@version``; ``none``: runs without gold."""
    split: str = ""
    """``all``: on every split."""
    status: str = ""
    search: str = ""
    mine: bool = False
    sort: str = ""
    """A column of ``SORTS``, with a minus before it for the largest first."""
    after: int | None = None
    """The last run of the page before."""

    @property
    def is_filtered(self) -> bool:
        words = (self.pipeline, self.release, self.split, self.status, self.search)
        return any(words) or self.mine


class Page(NamedTuple):
    numbers: list[int]
    following: int | None
    """Where the next page starts: the last run of this one."""


class PrimaryOf(NamedTuple):
    project: int
    layer: str


Primaries = Mapping[PrimaryOf, Metric]


def primaries(reader: Any) -> Primaries:
    """What a project has declared, where it has: the newest for each layer. One query."""
    visible = GoldRelease.objects.visible_to(reader).order_by().values("project")
    rows = PrimaryMetric.objects.filter(project__in=visible).order_by("pk")
    declared = {
        PrimaryOf(project, layer): METRICS[metric]
        for project, layer, metric in rows.values_list("project", "layer", "metric")
        if layer in GOLD_LAYERS and metric in GOLD_LAYERS[layer].headline
    }
    return _OrOwn(declared)


class _OrOwn(dict[PrimaryOf, Metric]):
    """The layer's own where nothing was declared."""

    def __missing__(self, key: PrimaryOf) -> Metric:
        return METRICS[GOLD_LAYERS[key.layer].primary]


def deciding(primary: Primaries) -> Case:
    """The name of the primary metric, for rows that belong to a ``run``."""
    declared = [
        When(run__release__project=key.project, run__release__layer=key.layer, then=Value(name.id))
        for key, name in primary.items()
    ]
    own = [
        When(run__release__layer=name, then=Value(layer.primary))
        for name, layer in GOLD_LAYERS.items()
    ]
    return Case(*declared, *own, default=Value(""), output_field=CharField())


# --- which, and in which order --------------------------------------------------------------------


def page(runs: RunQuerySet, asked: Asked, *, reader: Any, primary: Primaries) -> Page:
    """Numbers only: what is shown of these few is loaded by them."""
    column, largest_first = asked.sort.removeprefix("-"), asked.sort.startswith("-")
    if column not in SORTS:
        column, largest_first = "run", True
    value = SORTS[column](reader, primary)
    rows = filtered(runs, asked, reader).alias(at=value).order_by()
    if asked.after is not None:
        rows = rows.filter(_behind(runs, value, asked.after, largest_first=largest_first))
    order = F("at").desc(nulls_last=True) if largest_first else F("at").asc(nulls_last=True)
    numbers = list(rows.order_by(order, "-pk").values_list("pk", flat=True)[: PAGE_SIZE + 1])
    more = len(numbers) > PAGE_SIZE
    return Page(numbers[:PAGE_SIZE], numbers[PAGE_SIZE - 1] if more else None)


def _behind(runs: RunQuerySet, value: Any, last: int, *, largest_first: bool) -> Q:
    """After a run in the order; what has no value comes last in both directions."""
    at = runs.filter(pk=last).annotate(at=value).values_list("at", flat=True).first()
    if at is None:
        return Q(at__isnull=True, pk__lt=last)
    beyond = Q(at__lt=at) if largest_first else Q(at__gt=at)
    return beyond | Q(at=at, pk__lt=last) | Q(at__isnull=True)


def filtered(runs: RunQuerySet, asked: Asked, reader: Any) -> RunQuerySet:
    if asked.pipeline:
        runs = runs.filter(pipeline=asked.pipeline)
    if asked.release == NO_GOLD:
        runs = runs.filter(release__isnull=True)
    elif asked.release:
        name, _, version = asked.release.partition("@")
        runs = runs.filter(release__name=name, release__version=whole_number(version) or 0)
    if asked.split:
        runs = runs.filter(split="" if asked.split == EVERY else asked.split)
    if asked.mine:
        runs = runs.filter(requested_by=reader.pk)
    if asked.search:
        runs = runs.filter(_matches(asked.search))
    return _in_state(runs, asked.status) if asked.status else runs


def _matches(search: str) -> Q:
    number = whole_number(search)
    by_text = containing("name", search) | Q(pipeline__icontains=search)
    by_text |= containing("note__text", search)
    return by_text | Q(pk=number) if number is not None else by_text


def _in_state(runs: RunQuerySet, status: str) -> RunQuerySet:
    """How a run ended is a column; the cases are looked at only of those that go on."""
    ended = {
        Status.FAILED: Q(failure__isnull=False),
        Status.FINISHED: Q(failure=None, scored_at__isnull=False),
        Status.CANCELLED: Q(failure=None, scored_at=None, cancelled=True),
    }
    if status in ended:
        return runs.filter(ended[Status(status)])
    going_on: Any = runs.filter(failure=None, scored_at=None, cancelled=False).with_state()
    return going_on.filter(state=status)


def _by_primary(reader: Any, primary: Primaries) -> Any:
    """The mean of the primary metric; sealed figures have no place in an order either."""
    metric = deciding(primary)
    rows = Aggregate.objects.filter(run=OuterRef("pk"), metric=metric).order_by("-metric_version")
    sealed = looks.sealed(reader, Look.Purpose.RESULTS).values("pk")
    mean = Subquery(rows.values("mean")[:1], output_field=FloatField())
    closed = Q(look__isnull=False, release__in=sealed)
    return Case(When(closed, then=None), default=mean, output_field=FloatField())


SORTS: dict[str, Callable[[Any, Primaries], Any]] = {
    "run": lambda reader, primary: F("pk"),
    "primary": _by_primary,
}


# --- next to the others ---------------------------------------------------------------------------


def changed(runs: Sequence[Run]) -> dict[int, list[Fact] | None]:
    """What is different from the finished run before; None: the first."""
    earlier = predecessors(runs)
    return {
        run.pk: changes.between(earlier[run.pk], run) if run.pk in earlier else None for run in runs
    }


def predecessors(runs: Sequence[Run]) -> dict[int, Run]:
    """The finished run before each, on gold of the same name, where there is one.

    Two queries for any number of runs.
    """
    before = Run.objects.filter(
        release__project=OuterRef("release__project"),
        release__name=OuterRef("release__name"),
        scored_at__isnull=False,
        pk__lt=OuterRef("pk"),
    ).order_by("-pk")
    pairs = Run.objects.filter(pk__in=[run.pk for run in runs]).annotate(
        before=Subquery(before.values("pk")[:1])
    )
    numbers = dict(pairs.order_by().values_list("pk", "before"))
    fields = (
        "pipeline",
        "pipeline_version",
        "config",
        "seed",
        "repetitions",
        "split",
        "release__version",
    )
    loaded = Run.objects.select_related("release").only(*fields)
    earlier = {run.pk: run for run in loaded.filter(pk__in=pairs.order_by().values("before"))}
    return {pk: earlier[number] for pk, number in numbers.items() if number is not None}
