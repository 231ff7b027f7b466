"""What the model costs a case: counted call by call, and refused when the budget is used up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from time import perf_counter
from typing import Any

from evaluation.models import Run
from evaluation.services import budgets, models
from pipelines.llm import (
    NO_USAGE,
    ChatMessage,
    ModelError,
    NoQuota,
    OverBudget,
    Reply,
    UnknownModel,
    Usage,
    WrongKey,
)

STOPS = (OverBudget, NoQuota, WrongKey, UnknownModel)
"""Every further case would fail in the same way."""

MOST_REPETITIONS = 1000  # within one case


class Meter:
    """The calls of one attempt at a case. A pipeline may make them from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.calls = 0
        self.cached = 0
        self.seconds = 0.0
        self.spent = NO_USAGE
        self.saved = NO_USAGE
        self.models: set[str] = set()

    def add(self, reply: Reply, seconds: float) -> None:
        with self._lock:
            self.calls += 1
            self.cached += reply.cached
            self.seconds += seconds
            self.spent = self.spent + reply.usage
            self.saved = self.saved + reply.saved
            self.models |= {reply.model} if reply.model else set()

    def add_failure(self, usage: Usage, seconds: float) -> None:
        with self._lock:
            self.calls += 1
            self.seconds += seconds
            self.spent = self.spent + usage

    def as_json(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "cached": self.cached,
            "prompt_tokens": self.spent.prompt_tokens,
            "completion_tokens": self.spent.completion_tokens,
            "cost": self.spent.cost,
            "estimated": self.spent.estimated,
            "saved_tokens": self.saved.prompt_tokens + self.saved.completion_tokens,
            "saved": self.saved.cost,
            "seconds": round(self.seconds, 3),
            "models": sorted(self.models),
        }


class RunModel:
    """The model as one run sees it: from the cache or within the budget, and metered by case."""

    def __init__(self, run: Run, model: models.CachedModel) -> None:
        self._run_id = run.pk
        self._model = model
        self._repetition = 1
        self.meter = Meter()
        self.stopped: ModelError | None = None
        """Why the run cannot go on, also if the pipeline made nothing of it."""

    @classmethod
    def for_run(cls, run: Run) -> RunModel | None:
        found = models.model_from_settings(before_asking=lambda: made._check_budget())
        if found is None:
            return None
        made = cls(run, found)
        return made

    @property
    def id(self) -> str:
        return self._model.id

    def begin(self, repetition: int) -> None:
        """The next case, answer or judgement; repetitions of a case get replies of their own."""
        self._repetition = repetition
        self.meter = Meter()
        self.stopped = None

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: dict[str, Any] | None = None,
        repetition: int = 0,
    ) -> Reply:
        started = perf_counter()
        copy = (self._repetition - 1) * MOST_REPETITIONS + repetition
        try:
            reply = self._model.complete(messages, schema=schema, repetition=copy)
        except ModelError as error:
            if not isinstance(error, OverBudget):  # nobody was asked
                self.meter.add_failure(error.usage, perf_counter() - started)
            if isinstance(error, STOPS):
                self.stopped = error
            raise
        self.meter.add(reply, perf_counter() - started)
        return reply

    def _check_budget(self) -> None:
        budgets.check(self._run_id, self.meter.spent)


def together(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The usage of a case over its attempts: what a failed one cost was spent all the same."""
    if not before.get("calls"):
        return dict(now)
    added = ("calls", "cached", "prompt_tokens", "completion_tokens", "saved_tokens", "seconds")
    sums = {name: before.get(name, 0) + now.get(name, 0) for name in added}
    money = {name: budgets.added(before.get(name), now.get(name)) for name in ("cost", "saved")}
    named = sorted({*before.get("models", []), *now.get("models", [])})
    estimated = bool(before.get("estimated") or now.get("estimated"))
    return {**sums, **money, "estimated": estimated, "models": named}
