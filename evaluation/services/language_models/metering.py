"""What the model costs: counted call by call, and refused when the budget is used up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic, perf_counter
from typing import Any, NotRequired, TypedDict

from django.conf import settings
from django.db import transaction

from evaluation.services.language_models import budgets, endpoints
from pipelines.llm import (
    NO_USAGE,
    ChatMessage,
    ModelError,
    NoQuota,
    OutOfTime,
    OverBudget,
    Reply,
    UnknownModel,
    Usage,
    WrongKey,
)
from pipelines.types import JsonSchema

STOPS = (OverBudget, NoQuota, WrongKey, UnknownModel)
"""Every further case would fail in the same way."""

MOST_REPETITIONS = 1000  # within one case


class StoredUsage(TypedDict):
    """What a piece of work asked of models, and what it cost."""

    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    estimated: bool
    saved_tokens: int
    saved: float | None
    seconds: float
    models: list[str]
    doubted: NotRequired[int]
    """Replies whose count of tokens cannot be true; the estimate is counted."""
    doubt: NotRequired[str]
    cached_tokens: NotRequired[int]
    """Of the prompts, what the provider had kept from before."""
    reasoning_tokens: NotRequired[int]
    schema_by: NotRequired[list[str]]
    """How schemas were asked for where the server took no strict ones."""


class Meter:
    """What calls have cost."""

    def __init__(self) -> None:
        self.calls = 0
        self.cached = 0
        self.seconds = 0.0
        self.spent = NO_USAGE
        self.saved = NO_USAGE
        self.models: set[str] = set()
        self.schema_by: set[str] = set()

    def count(self, ask: Callable[[], Reply]) -> Reply:
        """The reply. A failure is counted as well, unless nobody was asked."""
        started = perf_counter()
        try:
            reply = ask()
        except OverBudget:
            raise
        except ModelError as error:
            self._add(error.usage, perf_counter() - started)
            raise
        self._add(reply.usage, perf_counter() - started)
        self.cached += reply.cached
        self.saved = self.saved + reply.saved
        self.models |= {reply.model} if reply.model else set()
        self.schema_by |= {reply.schema_by} - {"", "strict"}
        return reply

    def _add(self, usage: Usage, seconds: float) -> None:
        self.calls += 1
        self.seconds += seconds
        self.spent = self.spent + usage

    def as_json(self) -> StoredUsage:
        usage: StoredUsage = {
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
        if self.spent.doubted:
            usage["doubted"], usage["doubt"] = self.spent.doubted, self.spent.doubt
        if self.spent.cached_tokens:
            usage["cached_tokens"] = self.spent.cached_tokens
        if self.spent.reasoning_tokens:
            usage["reasoning_tokens"] = self.spent.reasoning_tokens
        if self.schema_by:
            usage["schema_by"] = sorted(self.schema_by)
        return usage


class CountedModel:
    """The model of a command that stores nothing, with its budget and what it cost in memory."""

    def __init__(self, model: endpoints.CachedModel, spent: Meter) -> None:
        self._model = model
        self._spent = spent
        self.stopped: ModelError | None = None
        """Why nothing can continue, even if the pipeline ignored it."""

    @classmethod
    def from_settings(
        cls, *, budget_cost: float | None, budget_tokens: int | None
    ) -> CountedModel | None:
        meter = Meter()

        def check() -> None:
            budgets.hold(budget_cost, budget_tokens, budgets.spent_in(dict(meter.as_json())))

        model = endpoints.model_named(before_asking=check)
        return cls(model, meter) if model else None

    @property
    def id(self) -> str:
        return self._model.id

    @property
    def usage(self) -> StoredUsage:
        return self._spent.as_json()

    @property
    def tokens(self) -> int:
        return self._spent.spent.prompt_tokens + self._spent.spent.completion_tokens

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: JsonSchema | None = None,
        repetition: int = 0,
    ) -> Reply:
        ask = partial(self._model.complete, messages, schema=schema, repetition=repetition)
        try:
            return self._spent.count(ask)
        except STOPS as error:
            self.stopped = error
            raise


class PaidModel:
    """The model as one budget sees it: from the cache or within the budget, and every call counted.

    The cost of a call is stored immediately with the work it was for. So it counts no matter what
    happens to the worker, and who has taken over the work by then.
    """

    def __init__(self, model: endpoints.CachedModel) -> None:
        self._model = model
        self._work: Any = None
        self._repetition = 1
        self._end = float("inf")
        self.asked = False
        """Whether the current work has called the model."""
        self.stopped: ModelError | None = None
        """Why nothing can continue, even if the pipeline ignored it."""
        self.late: ModelError | None = None
        """Why this piece of work can no longer be done."""

    @classmethod
    def named(cls, name: str, *, check: Callable[[], None]) -> PaidModel | None:
        """``check`` refuses by ``OverBudget`` what would have to be paid."""
        model = endpoints.model_named(name, before_asking=check)
        if model is None:
            return None
        model.prepare()
        return cls(model)

    @property
    def id(self) -> str:
        return self._model.id

    @property
    def context_tokens(self) -> int:
        return self._model.endpoint.context_tokens

    def begin(self, work: Any, repetition: int = 1) -> None:
        """``work`` is the row that holds the ``usage``; repetitions get separate replies."""
        self._work = work
        self._repetition = repetition
        self._model.begin()
        self.asked = False
        self.stopped = self.late = None
        self._end = monotonic() + settings.CASE_TIMEOUT_SECONDS

    def forget_replies(self) -> bool:
        """The replies to the current work cannot be read; True if one was from the cache."""
        return self._model.forget()

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: JsonSchema | None = None,
        repetition: int = 0,
    ) -> Reply:
        self._check_time()
        call = Meter()
        copy = (self._repetition - 1) * MOST_REPETITIONS + repetition
        ask = partial(self._model.complete, messages, schema=schema, repetition=copy)
        try:
            return call.count(ask)
        except STOPS as error:
            self.stopped = error
            raise
        finally:
            self._write_down(call)

    def _check_time(self) -> None:
        """Before each request; one that is under way has its own limit."""
        if monotonic() > self._end:
            self.late = too_long()
            raise self.late

    @transaction.atomic
    def _write_down(self, call: Meter) -> None:
        """A pipeline may ask from several threads, and two workers may think they hold a case."""
        if not call.calls:
            return
        self.asked = True
        row = type(self._work)._default_manager.filter(pk=self._work.pk)
        usage = row.order_by().select_for_update().values_list("usage", flat=True).first()
        if usage is not None:
            total = together(usage, call.as_json())
            row.update(usage=total)
            budgets.note(self._work, usage, total)


def too_long() -> OutOfTime:
    return OutOfTime("case.too_long", limit=settings.CASE_TIMEOUT_SECONDS)


def together(before: Mapping[str, Any], now: Mapping[str, Any]) -> Mapping[str, Any]:
    """The usage of a case over its attempts: what a failed one cost was spent all the same."""
    if not before.get("calls"):
        return dict(now)
    added = ("calls", "cached", "prompt_tokens", "completion_tokens", "saved_tokens", "seconds")
    sums = {name: before.get(name, 0) + now.get(name, 0) for name in added}
    money = {name: budgets.added(before.get(name), now.get(name)) for name in ("cost", "saved")}
    named = sorted({*before.get("models", []), *now.get("models", [])})
    estimated = bool(before.get("estimated") or now.get("estimated"))
    total: dict[str, Any] = {**sums, **money, "estimated": estimated, "models": named}
    for name in ("cached_tokens", "reasoning_tokens"):
        if tokens := before.get(name, 0) + now.get(name, 0):
            total[name] = tokens
    if fallen_back := sorted({*before.get("schema_by", []), *now.get("schema_by", [])}):
        total["schema_by"] = fallen_back
    if doubted := before.get("doubted", 0) + now.get("doubted", 0):
        total |= {"doubted": doubted, "doubt": before.get("doubt") or now.get("doubt")}
    return total
