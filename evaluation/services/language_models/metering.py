"""What the model costs: counted call by call, and refused when the budget is used up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic, perf_counter
from typing import Any, Self

from django.conf import settings
from django.db import transaction

from evaluation.services.language_models import budgets, endpoints
from evaluation.services.language_models.replies import CachedModel
from evaluation.services.language_models.usage import Spent, together
from pipelines.chat.client import OpenAIModel
from pipelines.chat.endpoint import DEFAULT
from pipelines.llm import (
    ChatMessage,
    ModelError,
    NoQuota,
    OutOfTime,
    OverBudget,
    Reply,
    UnknownModel,
    WrongKey,
)
from pipelines.types import JsonSchema

STOPS = (OverBudget, NoQuota, WrongKey, UnknownModel)
"""Every further case would fail in the same way."""

MOST_REPETITIONS = 1000  # within one case


class _Counting(CachedModel):
    """Its calls are counted: so are failures, unless nobody was asked."""

    stopped: ModelError | None = None
    """Why nothing can continue, even if the pipeline ignored it."""

    @classmethod
    def named(cls, name: str = DEFAULT, **options: Any) -> Self | None:
        endpoint = endpoints.named(name)
        return cls(endpoints.client_of(endpoint), **options) if endpoint else None

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: JsonSchema | None = None,
        repetition: int = 0,
    ) -> Reply:
        started = perf_counter()
        try:
            reply = super().complete(messages, schema=schema, repetition=repetition)
        except ModelError as error:
            if not isinstance(error, OverBudget):
                self._count(Spent.of_call(error.usage, perf_counter() - started))
            if isinstance(error, STOPS):
                self.stopped = error
            raise
        self._count(Spent.of_call(reply.usage, perf_counter() - started, reply))
        return reply

    def _count(self, call: Spent) -> None:
        raise NotImplementedError


class CountedModel(_Counting):
    """The model of a command that stores nothing, with its budget and what it cost in memory."""

    def __init__(
        self, client: OpenAIModel, *, budget_cost: float | None, budget_tokens: int | None
    ) -> None:
        super().__init__(client)
        self.spent = Spent()
        self._budget = budget_cost, budget_tokens

    def before_asking(self) -> None:
        budgets.hold(*self._budget, self.spent, self.endpoint.name)

    def _count(self, call: Spent) -> None:
        self.spent = self.spent + call


class PaidModel(_Counting):
    """The model as one budget sees it: from the cache or within the budget, and every call counted.

    The cost of a call is stored immediately with the work it was for. So it counts no matter what
    happens to the worker, and who has taken over the work by then.
    """

    def __init__(self, client: OpenAIModel, *, check: Callable[[], None]) -> None:
        """``check`` refuses by ``OverBudget`` what would have to be paid."""
        super().__init__(client)
        self._check = check
        client.prepare()
        self._work: Any = None
        self._repetition = 1
        self._end = float("inf")
        self.late: ModelError | None = None
        """Why this piece of work can no longer be done."""

    def before_asking(self) -> None:
        self._check()

    def begin(self, work: Any, repetition: int = 1) -> None:
        """``work`` is the row that holds the ``usage``; repetitions get separate replies."""
        self._work = work
        self._repetition = repetition
        self.begin_anew()
        self.stopped = self.late = None
        self._end = monotonic() + settings.CASE_TIMEOUT_SECONDS

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: JsonSchema | None = None,
        repetition: int = 0,
    ) -> Reply:
        if monotonic() > self._end:  # a request that is under way has its own limit
            self.late = too_long()
            raise self.late
        copy = (self._repetition - 1) * MOST_REPETITIONS + repetition
        return super().complete(messages, schema=schema, repetition=copy)

    @transaction.atomic
    def _count(self, call: Spent) -> None:
        """A pipeline may ask from several threads, and two workers may think they hold a case."""
        row = type(self._work)._default_manager.filter(pk=self._work.pk)
        usage = row.order_by().select_for_update().values_list("usage", flat=True).first()
        if usage is not None:
            row.update(usage=together(usage, call))
            budgets.note(self._work, call)


def too_long() -> OutOfTime:
    return OutOfTime("case.too_long", limit=settings.CASE_TIMEOUT_SECONDS)
