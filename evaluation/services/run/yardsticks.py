"""Floors of a release and what people reach on it, case by case, computed once by a worker.

Floors are the trivial pipelines that the layer declares; people are scored against gold made
without their own labels. Both depend on gold and on how it is measured, not on any run: a run
reads them when it is scored, and stores next to its figures what follows. Cases of the test split
are among them; nothing but figures of a run on that split is ever shown.

A worker measures them when gold is frozen; a run that is scored before does it itself.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from django.db import OperationalError
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from evaluation import adapters
from evaluation.layers import GOLD_LAYERS, Context, Example, GoldLayer, Part, gold_layer
from evaluation.layers.base import values_of
from evaluation.metrics.metric import Metric
from evaluation.metrics.registry import metrics_for
from evaluation.metrics.summary import contribution
from evaluation.models import CaseRun, Run, Yardstick, YardstickCase
from evaluation.models.yardsticks import YardstickQuerySet
from evaluation.services.launch import measuring, spec
from evaluation.services.run import people
from evaluation.services.stores import FileStore
from labeling.agreement import vectors
from labeling.agreement.matching.similarity import Ruler
from labeling.domain.facts import Fact
from labeling.models import GoldItem, GoldRelease
from pipelines.memory.retrieval.floors import BUDGET
from pipelines.registry import build, check_config, entry_for
from pipelines.types import Pipeline

logger = logging.getLogger(__name__)

NOT_ABOUT_LABELS = Fact("yardstick.not_about_labels")
NOT_MADE_BY_PEOPLE = Fact("yardstick.not_made_by_people")
NOT_COMPUTED = Fact("yardstick.not_computed")
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
"""They say something of an output that labels of people do not have."""

PEOPLE = ""
MOST_BUDGET = 500
BATCH = 200

StoredShare = list[float]
StoredShares = dict[str, StoredShare]
StoredByPerson = dict[str, dict[str, StoredShare]]
CaseKey = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Frame:
    """A release and how it is measured: what yardsticks depend on."""

    release: GoldRelease
    context: Context

    @property
    def layer(self) -> GoldLayer:
        return gold_layer(self.release.layer)

    @property
    def metrics(self) -> list[Metric]:
        return [metric for metric in metrics_for(self.release.layer) if metric.per_case]

    @property
    def settings_sha256(self) -> str:
        described = self.context.spec.as_json()
        settings = ("matching", "metrics_config", "event_schema")
        return spec.sha256_of(
            {
                **{name: described.get(name) for name in settings},
                "ruler": self.context.ruler.id,
                "metrics": {metric.id: metric.version for metric in self.metrics},
            }
        )

    def yardsticks(self) -> YardstickQuerySet:
        return Yardstick.objects.filter(release=self.release, settings_sha256=self.settings_sha256)


def ensure(run: Run, ruler: Ruler) -> None:
    """Compute the floors and what people reach for this run's figures, unless they are stored.

    A run is worth its scores without them, so a failure is logged and shown as missing.
    """
    _ensure(Frame(run.release, Context(ruler, run.spec)), budget_of(run))


def measure_release(release_id: int, *, progress: Callable[[], None] | None = None) -> None:
    """The same for a release without any run, as one that is launched now would be measured."""
    release = GoldRelease.objects.select_related("project").get(pk=release_id)
    described = spec.describe(Run(release=release), measuring.describe(release, {}), {})
    _ensure(Frame(release, Context(vectors.ruler(), described)), BUDGET)


def due() -> list[int]:
    """One job for all: those of two releases at once would keep a freeze waiting."""
    return [0] if _unmeasured().exists() else []


def newest_unmeasured() -> int | None:
    return _unmeasured().values_list("pk", flat=True).first()


def _unmeasured() -> QuerySet[GoldRelease]:
    """Releases that have no floors; the newest first."""
    without = [
        Q(layer=layer.name)
        & ~Exists(
            Yardstick.objects.tried().filter(release=OuterRef("pk"), pipeline=layer.floors[-1])
        )
        for layer in GOLD_LAYERS.values()
    ]
    return GoldRelease.objects.filter(reduce(or_, without)).order_by("-pk")


def budget_of(run: Run) -> int:
    """How many messages the run returns on average: as many are drawn by lot."""
    configs = configs_of(gold_layer(run.release.layer), BUDGET).values()
    if not any("budget" in config for config in configs):
        return BUDGET
    outputs = run.cases.filter(state=CaseRun.State.DONE).values_list("output", flat=True)
    in_chunks = outputs.order_by().iterator(chunk_size=BATCH)
    counts = [len(output.get("evidence") or []) for output in in_chunks if output]
    if not counts:
        return BUDGET
    return min(MOST_BUDGET, max(1, round(sum(counts) / len(counts))))


def configs_of(layer: GoldLayer, budget: int) -> dict[str, dict[str, Any]]:
    """Each floor of the layer with its full configuration."""
    configs = {}
    for name in layer.floors:
        entry = entry_for(name)
        asked = {"budget": budget} if "budget" in entry.config.model_fields else {}
        configs[name] = check_config(entry, asked).model_dump(mode="json")
    return configs


# --- computing them -------------------------------------------------------------------------------


def _ensure(frame: Frame, budget: int) -> None:
    """One after the other, each a chunk at a time: what was stored is kept, however it ended.

    People come first: floors are scored against the same gold as they are.
    """
    if frame.layer.by_people:
        _ensure_one(frame, PEOPLE, {})
    for name, config in configs_of(frame.layer, budget).items():
        _ensure_one(frame, name, config)


def _ensure_one(frame: Frame, name: str, config: Mapping[str, Any]) -> None:
    pipeline = build(name, dict(config)) if name else None
    row, _ = Yardstick.objects.get_or_create(
        release=frame.release,
        settings_sha256=frame.settings_sha256,
        pipeline=name,
        pipeline_version=pipeline.version if pipeline else "",
        config_sha256=spec.sha256_of(config),
        defaults={"config": dict(config)},
    )
    if row.is_measured:
        return
    with FileStore().alone(f"yardsticks-{frame.release.pk}"):
        row.refresh_from_db()
        if row.is_measured:
            return
        failure = None
        try:
            for items in people.in_chunks(frame.release.items.all(), after=_last_position(row)):
                cases = _floor(frame, pipeline, items) if pipeline else _people(frame, items)
                _store(row, cases)
        except OperationalError:  # the database is busy or away: a later try will do
            raise
        except Exception as error:  # no figure of a run depends on it
            logger.exception("%s of %s cannot be measured.", name or "People", frame.release)
            failure = Fact("yardstick.cannot_measure", text=f"{type(error).__name__}: {error}")
        # another machine may have measured it meanwhile, which has its own lock
        measured = Yardstick.objects.measured().values("pk")
        unmeasured = Yardstick.objects.filter(pk=row.pk).exclude(pk__in=measured)
        unmeasured.update(failure=failure, computed_at=timezone.now())


def _last_position(row: Yardstick) -> int:
    last: int | None = row.cases.aggregate(last=Max("item__position"))["last"]
    return -1 if last is None else last


def _store(row: Yardstick, measured: Iterable[YardstickCase]) -> None:
    """Those of some items at once. Where another worker was faster, its equal ones stay."""
    cases = list(measured)
    for case in cases:
        case.yardstick = row
    YardstickCase.objects.bulk_create(cases, ignore_conflicts=True)


def _floor(frame: Frame, pipeline: Pipeline, items: Sequence[GoldItem]) -> Iterator[YardstickCase]:
    layer = frame.layer
    schema = frame.context.spec.event_schema
    gold_without = _gold_without(frame, items)
    examples = []
    for item in items:
        content = item.content
        count = len(content["conversation"])
        for part in layer.parts(content):
            returned = pipeline.run(adapters.case_of(item, part, layer, schema))
            output = adapters.checked_output(returned, layer.name, message_count=count)
            example = Example(content, layer.gold(content, part.uid), output)
            examples.append((item, part, example))
    frame.context.ruler.prime(text for _, _, example in examples for text in layer.texts(example))
    for item, part, example in examples:
        yield YardstickCase(
            item=item,
            part=part.uid,
            shares=_shares(frame, example),
            by_person=against_each(
                frame, example, gold_without.get((item.pk, part.uid), {}), failed=False
            ),
        )


def _gold_without(frame: Frame, items: Sequence[GoldItem]) -> dict[CaseKey, dict[str, Any]]:
    """By case, the gold without each person; none where too few have labeled."""
    of_people = frame.yardsticks().measured().filter(pipeline=PEOPLE)
    rows = YardstickCase.objects.filter(yardstick__in=of_people, item__in=items)
    return {(row.item_id, row.part): row.gold_without for row in rows}


def _people(frame: Frame, items: Sequence[GoldItem]) -> Iterator[YardstickCase]:
    layer = frame.layer
    for submitted in people.behind(frame.release, items, ruler=frame.context.ruler):
        for part in layer.parts(submitted.content):
            yield _case_of_people(frame, submitted, part)


def _case_of_people(frame: Frame, submitted: people.Submitted, part: Part) -> YardstickCase:
    layer = frame.layer
    own = people.own_label(submitted.labels, submitted.content, part.uid)
    without = {
        person: [label for label in gold if not part.uid or label["uid"] == part.uid]
        for person, gold in submitted.gold_without.items()
    }
    without = {person: gold for person, gold in without.items() if gold or not part.uid}
    by_person: StoredByPerson = {}
    for person in sorted(own.keys() & without.keys()):
        example = Example(submitted.content, without[person], layer.as_output(own[person]))
        frame.context.ruler.prime(layer.texts(example))
        for name, share in _shares(frame, example).items():
            if name not in OF_PIPELINES:
                by_person.setdefault(name, {})[person] = share
    return YardstickCase(
        item=submitted.item, part=part.uid, by_person=by_person, gold_without=without
    )


def against_each(
    frame: Frame, example: Example, gold_without: Mapping[str, Any], *, failed: bool
) -> StoredByPerson:
    """What one output scores against the gold without each person, by metric.

    Ratings of people play no part: people's own labels have none.
    """
    by_person: StoredByPerson = {}
    for person, gold in gold_without.items():
        other = Example(example.content, gold, example.output)
        frame.context.ruler.prime(frame.layer.texts(other))
        for name, share in _shares(frame, other, failed=failed).items():
            if name not in OF_PIPELINES:
                by_person.setdefault(name, {})[person] = share
    return by_person


def _shares(frame: Frame, example: Example, *, failed: bool = False) -> StoredShares:
    values = values_of(example, frame.layer, frame.context, failed=failed)
    shares = {
        metric.id: contribution(
            metric, values[metric.id], failed=failed and values[metric.id].value is not None
        )
        for metric in frame.metrics
    }
    return {name: list(share) for name, share in shares.items() if share is not None}
