"""What a run writes down of itself, so that it can be repeated: read and written here alone."""

from __future__ import annotations

from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models.fields.json import KeyTransform
from pydantic import BaseModel, ConfigDict

from evaluation.metrics.registry import Metric, metrics_in

Number = int | float
DEFAULT = "default"
"""The entry of a model where none is named."""

ModelDescription = dict[str, Any]
"""A language model: its ``id``, its prices and the parameters that its endpoint sends."""


class _Part(BaseModel):
    """Every key may be missing in an older row, and one of a newer version is kept."""

    model_config = ConfigDict(frozen=True, extra="allow")


class GoldSpec(_Part):
    name: str = ""
    version: int = 0
    sha256: str = ""


class Matching(_Part):
    threshold: Number = 0.0
    synonyms: list[list[str]] = []


class GateSpec(_Part):
    thresholds: dict[str, Number] = {}
    max_drop: Number | None = None


class GitSpec(_Part):
    commit: str = ""
    dirty: bool = False


class PredictionsSpec(_Part):
    """How a file of predictions fits the gold."""

    file: str = ""
    sha256: str = ""
    taken: int = 0
    missing: list[str] = []
    extra: list[str] = []


class AnswersSpec(_Part):
    """The prompt that answers are asked for by, and the judge of the launch.

    ``elsewhere``: they came with a file of predictions or are the pipeline's own, and nobody asked
    for others, so there is no prompt.
    """

    prompt: str = ""
    text: str = ""
    prompt_sha256: str = ""
    judge: ModelDescription | None = None
    judge_prompts: dict[str, str] = {}
    """By kind the SHA-256 of a prompt that was chosen at the launch; the others are the shipped."""
    elsewhere: bool = False


class CarriedSpec(_Part):
    """A run whose outputs were taken over from a run on other gold.

    ``left_out`` are its cases that the new gold asks otherwise or not at all, ``unanswered`` those
    that only the new gold asks.
    """

    run: int = 0
    gold: str = ""
    taken: int = 0
    left_out: list[str] = []
    unanswered: list[str] = []


class SourceSpec(_Part):
    """The installed package that a pipeline or a metric came from."""

    distribution: str = ""
    version: str = ""


class RunSpec(_Part):
    """Never the environment: it holds keys and passwords."""

    gold: GoldSpec = GoldSpec()
    layer: str = ""
    split: str = ""
    pipeline: str = ""
    config: dict[str, Any] = {}
    config_sha256: str = ""
    metrics_version: str = ""
    protocol_version: str = ""
    metrics: dict[str, int] = {}
    """The version of each metric in force."""
    metric_sources: dict[str, SourceSpec] = {}
    """Where metrics of installed packages came from."""
    pipeline_source: SourceSpec | None = None
    """None: the pipeline is one of ours, or none was run."""
    metrics_config: dict[str, Any] | None = None
    event_schema: dict[str, list[str]] | None = None
    prompts: dict[str, str] = {}
    """The SHA-256 of every prompt that may be asked."""
    ruler: str = ""
    matching: Matching = Matching()
    gate: GateSpec | None = None
    """What the project asked of a run when this one was launched."""
    thresholds: dict[str, Number] = {}
    """Those of a configuration file, for this run alone."""
    seed: int = 0
    size: int | None = None
    git: GitSpec | None = None
    python: str = ""
    packages: dict[str, str | None] = {}
    model: ModelDescription | None = None
    answers: AnswersSpec | None = None
    """None: the run was launched without answers."""
    predictions: PredictionsSpec | None = None
    configuration: dict[str, str] | None = None
    carried: CarriedSpec | None = None
    questions: dict[str, str] = {}
    """Of a run without gold, by id: each is asked of every conversation."""

    def as_json(self) -> dict[str, Any]:
        """The keys that the run has, and no defaults."""
        return self.model_dump(mode="json", exclude_unset=True)

    def with_values(self, **values: Any) -> RunSpec:
        return RunSpec.model_validate({**self.as_json(), **values})

    @property
    def has_answers(self) -> bool:
        return self.answers is not None

    @property
    def asks_for_answers(self) -> bool:
        """Whether answers are written where the pipeline gives none."""
        return self.answers is not None and not self.answers.elsewhere

    @property
    def model_name(self) -> str:
        """The entry that was chosen; runs of older versions knew one alone."""
        return str((self.model or {}).get("name") or DEFAULT)

    @property
    def model_id(self) -> str:
        """Empty: no language model is asked."""
        return str(self.model["id"]) if self.model else ""

    @property
    def model_label(self) -> str:
        return model_label(self.model_id, self.model_name)

    def all_metrics(self) -> list[Metric]:
        """In the order in which they are shown; those of answers only if the run has any."""
        return metrics_in(self.layer, answered=self.has_answers)


def model_label(model_id: str | None, name: str | None) -> str:
    """A run's model as lists, pages and reports show it: with the entry that was chosen."""
    return f"{model_id} ({name})" if model_id and name and name != DEFAULT else model_id or ""


class _Encoder(DjangoJSONEncoder):
    def default(self, o: Any) -> Any:
        return o.as_json() if isinstance(o, RunSpec) else super().default(o)


class SpecField(models.JSONField):
    """A JSON column whose rows are read as ``RunSpec``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "encoder": _Encoder, "default": RunSpec})

    def deconstruct(self) -> Any:
        """To migrations it is the JSON column that it always was."""
        name, _, args, kwargs = super().deconstruct()
        del kwargs["encoder"]
        return name, "django.db.models.JSONField", args, {**kwargs, "default": dict}

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        stored = super().from_db_value(value, expression, connection)
        if isinstance(expression, KeyTransform) or stored is None:
            return stored
        return RunSpec.model_validate(stored)
