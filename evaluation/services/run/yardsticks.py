"""Floors of a release and what people reach on it, case by case, computed once by a worker.

Floors are the trivial pipelines that the layer declares; people are scored against gold made
without their own labels. Both depend on gold and on how it is measured, not on any run: a run
reads them when it is scored, and stores next to its figures what follows. Cases of the test split
are among them; nothing but figures of a run on that split is ever shown.

A run waits for people and for the floor that skill is counted from. On a large release a worker
measures the others afterwards, because all texts have to be encoded for them, and puts them next to
the figures of runs that wait for them (decision 108).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import or_
from typing import Any, NamedTuple

from django.db import IntegrityError, OperationalError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from evaluation import adapters
from evaluation.layers import GOLD_LAYERS, Context, Example, GoldLayer, Part, gold_layer
from evaluation.layers.base import Scored
from evaluation.layers.values import values_of
from evaluation.metrics import yardsticks as metrics_of
from evaluation.metrics.metric import Metric, Share
from evaluation.metrics.registry import metrics_for
from evaluation.metrics.summary import contribution, figure
from evaluation.metrics.yardsticks import ByPerson, Cases, Measured, Yardsticks
from evaluation.models import Aggregate, CaseRun, Run, RunSpec, Yardstick, YardstickCase
from evaluation.services.launch import measuring, spec
from evaluation.services.run import people
from evaluation.services.stores import FileStore
from labeling.domain.facts import Fact
from labeling.domain.matching.similarity import Ruler
from labeling.models import GoldRelease
from labeling.services import vectors
from labeling.services.wakeups import Wakeups
from pipelines.memory.retrieval.floors import BUDGET
from pipelines.registry import build, check_config, entry_for

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
AT_ONCE = 500
"""Items of a release up to which a run waits for all floors, for some seconds."""
BATCH = 200

StoredShare = list[float]
StoredShares = dict[str, StoredShare]
StoredByPerson = dict[str, dict[str, StoredShare]]
CaseKey = tuple[int, str]

_messages = Wakeups("evaluation.tasks.measure_floors")


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
        return _settings_sha256(self.context.spec, self.context.ruler.id, self.metrics)

    def stored(self) -> Any:
        return Yardstick.objects.filter(release=self.release, settings_sha256=self.settings_sha256)


def _settings_sha256(measured: RunSpec, ruler: str, metrics: Sequence[Metric]) -> str:
    described = measured.as_json()
    settings = {name: described.get(name) for name in ("matching", "metrics_config")}
    return spec.sha256_of(
        {
            **settings,
            "event_schema": described.get("event_schema"),
            "ruler": ruler,
            "metrics": {metric.id: metric.version for metric in metrics},
        }
    )


def frame_of(run: Run, ruler: Ruler) -> Frame:
    return Frame(run.release, Context(ruler, run.spec))


def ensure(run: Run, ruler: Ruler) -> None:
    """Compute the floors and what people reach for this run's figures, unless they are stored.

    A run is worth its scores without them, so a failure is logged and shown as missing.
    """
    frame, budget = frame_of(run, ruler), budget_of(run)
    later = _later(frame, budget)
    _ensure(frame, budget, without=later)
    if later:
        transaction.on_commit(partial(_messages.send_again, run.release_id), robust=True)


def _later(frame: Frame, budget: int) -> list[str]:
    """The floors that are not measured yet, and that nobody has to wait for."""
    layer = frame.layer
    if _takes_budget(layer) or frame.release.items.count() <= AT_ONCE:
        return []
    if frame.settings_sha256 != _usual(frame.release).settings_sha256:
        return []  # no worker would measure these by itself
    known = set(frame.stored().values_list("pipeline", "config_sha256"))
    configs = configs_of(layer, budget)
    return [name for name in layer.floors[1:] if (name, spec.sha256_of(configs[name])) not in known]


def measure_release(release_id: int, *, progress: Callable[[], None] | None = None) -> None:
    """The same for a release without any run, as one that is launched now would be measured."""
    release = GoldRelease.objects.select_related("project").get(pk=release_id)
    _ensure(_usual(release), BUDGET)


def _usual(release: GoldRelease) -> Frame:
    """How a run that is launched now, and changes no setting, would be measured."""
    described = spec.describe(Run(release=release), measuring.describe(release, {}), {})
    return Frame(release, Context(vectors.ruler(), described))


def awaiting() -> QuerySet[Aggregate]:
    """Figures whose run was scored before these floors were measured."""
    return Aggregate.objects.filter(yardsticks__has_key="awaited").order_by()


def wake_unattended() -> None:
    """Tell a worker of the newest release that has no floors, or runs that wait for them."""
    without = [
        Q(layer=layer.name)
        & ~Exists(Yardstick.objects.filter(release=OuterRef("pk"), pipeline=layer.floors[-1]))
        for layer in GOLD_LAYERS.values()
    ]
    wanted = Q(pk__in=awaiting().values("run__release"))
    waiting = GoldRelease.objects.filter(reduce(or_, without) | wanted).order_by("-pk")
    for pk in waiting.values_list("pk", flat=True)[:1]:
        _messages.send_again(pk)


def budget_of(run: Run) -> int:
    """How many messages the run returns on average: as many are drawn by lot."""
    if not _takes_budget(gold_layer(run.release.layer)):
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


def _takes_budget(layer: GoldLayer) -> bool:
    return any("budget" in config for config in configs_of(layer, BUDGET).values())


# --- computing them -------------------------------------------------------------------------------


def _ensure(frame: Frame, budget: int, *, without: Collection[str] = ()) -> None:
    """One after the other, each stored when it is done: what a killed process did is kept.

    People come first: floors are scored against the same gold as they are.
    """
    if frame.layer.by_people:
        _ensure_one(frame, PEOPLE, {})
    for name, config in configs_of(frame.layer, budget).items():
        if name not in without:
            _ensure_one(frame, name, config)


def _ensure_one(frame: Frame, pipeline: str, config: Mapping[str, Any]) -> None:
    version = build(pipeline, dict(config)).version if pipeline else ""
    named = {
        "release": frame.release,
        "settings_sha256": frame.settings_sha256,
        "pipeline": pipeline,
        "pipeline_version": version,
        "config_sha256": spec.sha256_of(config),
    }
    if Yardstick.objects.filter(**named, failure=None).exists():
        return
    with FileStore().alone(f"yardsticks-{frame.release.pk}"):
        if Yardstick.objects.filter(**named, failure=None).exists():
            return
        failure, cases = None, []
        try:
            cases = list(_people(frame) if not pipeline else _floor(frame, pipeline, config))
        except OperationalError:  # the database is busy or away: a later try will do
            raise
        except Exception as error:  # no figure of a run depends on it
            logger.exception("%s of %s cannot be measured.", pipeline or "People", frame.release)
            failure = Fact("yardstick.cannot_measure", text=f"{type(error).__name__}: {error}")
        _store(Yardstick(**named, config=dict(config), failure=failure), cases)


def _store(yardstick: Yardstick, cases: Sequence[YardstickCase]) -> None:
    """All of it or nothing; where somebody else was faster, theirs stays."""
    try:
        with transaction.atomic():
            Yardstick.objects.filter(
                release=yardstick.release,
                settings_sha256=yardstick.settings_sha256,
                pipeline=yardstick.pipeline,
                pipeline_version=yardstick.pipeline_version,
                config_sha256=yardstick.config_sha256,
            ).exclude(failure=None).delete()
            yardstick.save()
            for case in cases:
                case.yardstick = yardstick
            YardstickCase.objects.bulk_create(cases, batch_size=BATCH)
    except IntegrityError:
        logger.info("%s was measured by another worker.", yardstick)


def _floor(frame: Frame, name: str, config: Mapping[str, Any]) -> Iterator[YardstickCase]:
    layer = frame.layer
    pipeline = build(name, dict(config))
    schema = frame.context.spec.event_schema
    gold_without = _gold_without(frame)
    for chunk in people.in_chunks(frame.release.items.all()):
        examples = []
        for item in chunk:
            content = item.content
            messages = adapters.messages_in(content)
            for part in layer.parts(content):
                case = adapters.case_in(content, messages, item, part, layer, schema)
                output = adapters.checked_output(
                    pipeline.run(case),
                    layer.name,
                    message_count=len(content["conversation"]),
                )
                example = Example(content, layer.gold(content, part.uid), output)
                examples.append((item, part, example))
        frame.context.ruler.prime(
            text for _, _, example in examples for text in layer.texts(example)
        )
        for item, part, example in examples:
            yield YardstickCase(
                item=item,
                part=part.uid,
                shares=_shares(frame, example),
                by_person=against_each(
                    frame, example, gold_without.get((item.pk, part.uid), {}), failed=False
                ),
            )


def _gold_without(frame: Frame) -> dict[CaseKey, dict[str, Any]]:
    """By case, the gold without each person; none where too few have labelled."""
    rows = YardstickCase.objects.filter(yardstick__in=frame.stored().filter(pipeline=PEOPLE))
    return {(row.item_id, row.part): row.gold_without for row in rows.iterator(chunk_size=BATCH)}


def _people(frame: Frame) -> Iterator[YardstickCase]:
    layer = frame.layer
    for submitted in people.behind(frame.release, ruler=frame.context.ruler):
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


def reached_by_people(case: CaseRun, metric: Metric) -> float | None:
    """What the people who labelled this item reach on it, each against gold without the own
    labels: their mean; ``None`` where too few labelled it."""
    run = case.run
    metrics = [each for each in metrics_for(run.release.layer) if each.per_case]
    rows = YardstickCase.objects.filter(
        yardstick__release=run.release_id,
        yardstick__pipeline=PEOPLE,
        yardstick__settings_sha256=_settings_sha256(run.spec, run.spec.ruler, metrics),
        item=case.item_id,
        part=case.part,
    )
    row = rows.defer("gold_without", "shares").first()
    shares = row.by_person.get(metric.id, {}).values() if row else ()
    return figure(metric, [Share(*share) for share in shares])


# --- reading them for a run -----------------------------------------------------------------------


class _Reached(NamedTuple):
    """What a floor or people reach on one case."""

    shares: StoredShares
    by_person: StoredByPerson


class Standing:
    """What is stored about the cases of one run: what it is scored against, and compared with."""

    def __init__(self, run: Run, context: Context) -> None:
        self._frame = Frame(run.release, context)
        self._run = run
        layer = self._frame.layer
        names = [PEOPLE, *layer.floors]
        hashes = {
            name: spec.sha256_of(config)
            for name, config in configs_of(layer, budget_of(run)).items()
        } | {PEOPLE: spec.sha256_of({})}
        newest = {
            row.pipeline: row
            for row in self._frame.stored().filter(pipeline__in=names).order_by("pk")
            if row.config_sha256 == hashes[row.pipeline] and row.failure is None
        }
        self._by_pipeline = {name: newest[name] for name in names if name in newest}
        self._awaited = _later(self._frame, budget_of(run))
        self._gold_without: dict[CaseKey, dict[str, Any]] = {}

    def read_gold_without(self, items: Iterable[int]) -> None:
        """The gold without each person of these items, in place of those before."""
        rows = YardstickCase.objects.filter(
            yardstick=self._by_pipeline.get(PEOPLE), item__in=set(items)
        )
        self._gold_without = {(row.item_id, row.part): row.gold_without for row in rows}

    @cached_property
    def _cases(self) -> dict[str, dict[CaseKey, _Reached]]:
        names = {row.pk: name for name, row in self._by_pipeline.items()}
        cases: dict[str, dict[CaseKey, _Reached]] = {name: {} for name in names.values()}
        items = CaseRun.objects.filter(run=self._run).values("item")
        rows = YardstickCase.objects.filter(yardstick__in=names, item__in=items)
        columns = rows.values_list("yardstick", "item", "part", "shares", "by_person")
        every: Iterator[Any] = columns.iterator(chunk_size=BATCH)
        for pk, item, part, shares, by_person in every:
            cases[names[pk]][item, part] = _Reached(shares, by_person)
        return cases

    def by_person(self, case: CaseRun, example: Example, *, failed: bool) -> StoredByPerson:
        """What the run scores on the case against the gold without each person."""
        gold_without = self._gold_without.get((case.item_id, case.part), {})
        return against_each(self._frame, example, gold_without, failed=failed)

    def of_metrics(
        self,
        keys: Sequence[CaseKey],
        scored: Sequence[Scored],
        by_person: Sequence[StoredByPerson],
    ) -> dict[str, Yardsticks]:
        """What is stored next to the figure of each metric."""
        frame = Cases([each.cluster for each in scored], [not each.example.gold for each in scored])
        beside = {
            metric.id: self._of_metric(metric, frame, keys, scored, by_person)
            for metric in self._frame.metrics
        }
        if self._awaited:
            for row in beside.values():
                row["awaited"] = self._awaited
        return beside

    def _of_metric(
        self,
        metric: Metric,
        cases: Cases,
        keys: Sequence[CaseKey],
        scored: Sequence[Scored],
        by_person: Sequence[StoredByPerson],
    ) -> Yardsticks:
        run = Measured(
            [
                contribution(metric, each.values[metric.id], failed=each.failed_at(metric.id))
                for each in scored
            ],
            [_shares_of(row.get(metric.id, {})) for row in by_person],
        )
        layer = self._frame.layer
        floors = {
            name: self._measured(name, metric, keys)
            for name in layer.floors
            if name in self._by_pipeline
        }
        ceiling = self._measured(PEOPLE, metric, keys).by_person
        reference = layer.floors[0]
        beside = metrics_of.measure(
            metric,
            cases,
            run,
            floors,
            ceiling,
            reference=reference,
            is_tested=metric.id in layer.headline,
        )
        why = self._why_no_people(metric)
        return metrics_of.without_people(beside, why) if why else beside

    def _why_no_people(self, metric: Metric) -> Fact | None:
        if not self._frame.layer.by_people:
            return NOT_MADE_BY_PEOPLE
        if metric.id in OF_PIPELINES:
            return NOT_ABOUT_LABELS
        return None if PEOPLE in self._by_pipeline else NOT_COMPUTED

    def _measured(self, name: str, metric: Metric, keys: Sequence[CaseKey]) -> Measured:
        rows = [self._cases.get(name, {}).get(key) for key in keys]
        shares = [row.shares.get(metric.id) if row else None for row in rows]
        return Measured(
            [Share(*share) if share else None for share in shares],
            [_shares_of(row.by_person.get(metric.id, {}) if row else {}) for row in rows],
        )


def _shares_of(stored: Mapping[str, StoredShare]) -> ByPerson:
    return {person: Share(*share) for person, share in stored.items()}
