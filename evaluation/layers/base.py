"""What the product needs to know of a gold layer to measure a pipeline on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Any

from evaluation.metrics import installed
from evaluation.metrics.metric import MeasuredCase
from evaluation.metrics.registry import Metric, Value, metrics_for
from evaluation.metrics.summary import Summary
from evaluation.models.spec import RunSpec
from labeling.agreement.matching.matching import texts_to_prime
from labeling.agreement.matching.similarity import Ruler
from labeling.domain.facts import Fact
from labeling.gold.rules.content import GoldContent, GoldMessage
from labeling.schema import LAYERS
from labeling.schema.labels import StoredLabel

Label = StoredLabel


class MalformedOutput(Exception):
    """A pipeline returned something that cannot be scored; ``fact`` says what."""

    def __init__(self, code: str, /, **values: Any) -> None:
        self.fact = Fact(code, **values)
        super().__init__(str(self.fact))


@dataclass(frozen=True, slots=True)
class Part:
    """One label of a gold item that is a separate case: its uid, and its id as people see it."""

    uid: str = ""
    id: str = ""


WHOLE = Part()
NOT_SAID = "not said"
"""The group of cases and labels that do not say to which they belong."""


@dataclass(frozen=True, slots=True)
class Context:
    """What scoring depends on in addition to gold and output: the run's settings and encoder."""

    ruler: Ruler
    spec: RunSpec
    absent: Mapping[str, Fact] = field(default_factory=dict)
    """Metrics of what no case of the run has returned, and why they have no value."""

    @property
    def threshold(self) -> float:
        return float(self.spec.matching.threshold)

    @property
    def matching(self) -> dict[str, Any]:
        """How requirements are compared."""
        return {"ruler": self.ruler, "synonyms": self.spec.matching.synonyms}


@dataclass(frozen=True, slots=True)
class Example:
    """One case laid out for scoring: the gold item's document, its labels, and what came out."""

    content: GoldContent
    gold: list[Label]
    output: Mapping[str, Any] | None
    """``None``: the pipeline failed, or has not run yet."""
    ratings: Sequence[Sequence[int]] | None = None
    """What people say of each predicted label, by judge; ``None`` where nobody rates the run."""

    @property
    def messages(self) -> list[GoldMessage]:
        return self.content["conversation"]


@dataclass(frozen=True, slots=True)
class Scored:
    """One example with its values, as the aggregates need it."""

    example: Example
    values: Mapping[str, Value]
    failed: bool
    cluster: Hashable
    """The conversation: cases of one conversation rise and fall together."""

    def failed_at(self, metric: str) -> bool:
        """Whether the case counts as failed: of a metric without a value it does not count."""
        return self.failed and self.values[metric].value is not None


AggregateDetails = dict[str, Mapping[str, object]]
"""What is stored with the aggregates, by metric; each layer types its own."""


class GoldLayer(ABC):
    """Base of the layers; a layer overrides what differs from a list of labels per item."""

    name: str
    headline: tuple[str, ...]
    """The main metrics: what a list of runs shows, and a comparison tests. The first is primary."""
    log: tuple[str, str] | None = None
    """The recall and the precision that the log of experiments shows, if the layer has any."""
    rated = False
    """Whether people rate what a run predicts."""
    off: frozenset[Fact] = frozenset()
    """Why a metric has no value whatever is returned, so that a failed case has none either."""
    optional: Mapping[str, tuple[str, ...]] = {}
    """What an output may hold, with the metrics that have no value in a run without any."""
    matched = False
    """Whether its figures depend on the project's threshold and synonyms."""
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The metrics by what they are about, as a run's page shows them; the others come last."""
    columns: tuple[str, ...] = ()
    """The metrics that a table of cases shows; empty: all that each case has."""
    shown: tuple[str, ...] = ()
    """The fields of its labels that a case page shows; empty: the layer has a separate page."""
    exemplified = False
    """Whether a model is shown labels of other train conversations as examples."""
    suggested = False
    """Whether a pipeline looks for labels; in other layers it answers questions."""
    by_people = True
    """Whether annotators make what pipelines return, so that they can be scored like one."""
    floors: tuple[str, ...] = ("nothing", "everything")
    """The trivial pipelines that a figure is compared with. Skill is counted from the first."""
    asks_one_by_one = False
    """Whether each label of an item is a case; else the item is one."""
    has_options = False
    """Whether a run says how it is measured, by settings of its metrics."""

    def is_unreadable(self, output: Mapping[str, Any]) -> bool:
        """Whether it is a model's reply that nobody can read, which no cache should give again."""
        return False

    @property
    def primary(self) -> str:
        """The metric that decides a comparison."""
        return self.headline[0]

    @property
    def project_types(self) -> bool:
        """Whether the project names the types of its labels."""
        return self.name in LAYERS and LAYERS[self.name].project_types

    @property
    def key(self) -> str:
        return LAYERS[self.name].key

    def parts(self, content: GoldContent) -> list[Part]:
        """The cases that one gold item makes: itself, unless each label is asked for alone."""
        return [WHOLE]

    def gold(self, content: GoldContent, part: str = "") -> list[Label]:
        labels: list[Label] = content["gold"].get(self.key, [])
        return [label for label in labels if not part or label["uid"] == part]

    def question(self, gold: Sequence[Label]) -> str | None:
        """What the pipeline is asked, where a layer asks anything."""
        return None

    def requirements(self, content: GoldContent) -> list[Label] | None:
        """The requirements that a pipeline starts from; ``None`` if it has to find them itself."""
        return None

    def predicted(self, output: Mapping[str, Any] | None) -> list[Label]:
        """The labels that a checked output holds; none if the pipeline failed."""
        labels: list[Label] = output[self.key] if output is not None else []
        return labels

    def as_output(self, labels: Sequence[Label]) -> Mapping[str, Any]:
        """A person's labels of one case as if a pipeline had returned them."""
        return {self.key: list(labels)}

    @abstractmethod
    def check(self, output: Mapping[str, Any], *, message_count: int) -> None:
        """Refuse by ``MalformedOutput`` what scoring and pages could not rely on."""

    def texts(self, example: Example) -> Iterable[str]:
        """Every text that scoring will compare, so that a run encodes them all at once."""
        both = [*example.gold, *self.predicted(example.output)]
        return texts_to_prime(both) if self.matched else ()

    def unscorable(self, example: Example) -> Fact | None:
        """Why no output of a pipeline could be scored, if so."""
        return None

    @abstractmethod
    def score(self, example: Example, context: Context) -> dict[str, Value]:
        """Every metric that each case has a value of."""

    def pooled(self, scored: Sequence[Scored], context: Context) -> dict[str, Summary]:
        """The metrics of scope ``run``, over all cases together."""
        return {}

    def details(self, scored: Sequence[Scored], context: Context) -> AggregateDetails:
        """What is stored with an aggregate, by metric: curves, bins, micro counts."""
        return {}

    def slices(self, example: Example) -> dict[str, str]:
        """The group of a case in each table of cases that breaks a figure down."""
        return {
            "Difficulty": str(example.content.get("difficulty") or NOT_SAID),
            "Domain": str(example.content.get("domain") or NOT_SAID),
        }

    def expected_ids(self, example: Example) -> list[int]:
        """The messages that gold cites, as ``cases.csv`` shows them."""
        return cited(example.gold)

    def returned_ids(self, example: Example) -> list[int]:
        return cited(self.predicted(example.output))


def given_requirements(content: GoldContent) -> list[Label]:
    """The requirements that labels of an item refer to: from the input, or from the same gold."""
    inputs = content.get("given") or {}
    requirements: list[Label] = inputs.get("requirements", content["gold"].get("requirements", []))
    return requirements


def cited(labels: Iterable[Mapping[str, Any]]) -> list[int]:
    """The messages that any of the labels cites as a source, as 0-based positions."""
    return sorted({index for label in labels for index in label.get("source_messages") or []})


def failure_values(metrics: Iterable[Metric], why: Fact) -> dict[str, Value]:
    """Every metric at its worst: crashing must never raise a score.

    Nothing was returned, and by chance nothing scores nothing.
    """
    return {
        metric.id: Value(metric.worst, why, chance=0.0 if metric.chance else None)
        for metric in metrics
        if metric.per_case
    }


def chance_level(metric: Metric, scored: Sequence[Scored]) -> float | None:
    """The mean chance level of the cases behind a metric's figure.

    ``None`` if any of them has none: the mean of the others would be that of other cases.
    """
    if not metric.chance:
        return None
    counted = [case.values[metric.id] for case in scored]
    levels = [value.chance for value in counted if value.value is not None]
    known = [level for level in levels if level is not None]
    return fsum(known) / len(known) if known and len(known) == len(levels) else None


FAILED = Fact("metric.pipeline_failed")


def values_of(
    example: Example, layer: GoldLayer, context: Context, *, failed: bool
) -> dict[str, Value]:
    """By metric. What cannot be scored at all is nobody's failure, so it is looked at first."""
    unscorable = layer.unscorable(example)
    if unscorable:
        per_case = (metric for metric in metrics_for(layer.name) if metric.per_case)
        return {metric.id: Value(None, unscorable) for metric in per_case}
    if failed:
        return _failure_values(example, layer, context)
    return _scored(example, layer, context)


def _scored(example: Example, layer: GoldLayer, context: Context) -> dict[str, Value]:
    """By the layer's own functions, and by those of installed packages."""
    values = layer.score(example, context)
    added = [metric for metric in metrics_for(layer.name) if metric.compute]
    if not added:
        return values
    case = MeasuredCase(
        layer=layer.name,
        messages=example.messages,
        gold=example.gold,
        predicted=layer.predicted(example.output),
        output=example.output or {},
    )
    return values | installed.values_of(added, case)


def _failure_values(example: Example, layer: GoldLayer, context: Context) -> dict[str, Value]:
    """In sums a case that failed weighs as if it had returned as much as gold holds, all wrong."""
    metrics = metrics_for(layer.name)
    values = failure_values(metrics, FAILED)
    if layer.off or any(metric.scope == "micro" for metric in metrics):
        as_gold = _scored(replace(example, output=layer.as_output(example.gold)), layer, context)
        for name, value in values.items():
            off = as_gold[name].reason in layer.off
            values[name] = as_gold[name] if off else replace(value, share=as_gold[name].share)
    return values | {name: Value(None, why) for name, why in context.absent.items()}
