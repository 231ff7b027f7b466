"""The language model of a command that stores nothing: every call counted, a budget kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from evaluation.services.language_models import budgets, endpoints
from evaluation.services.language_models.metering import STOPS, Meter, StoredUsage
from evaluation.services.language_models.replies import CachedModel
from pipelines.llm import ChatMessage, ModelError, Reply
from pipelines.types import JsonSchema


class CountedModel:
    """The model of the settings, with what it cost in memory."""

    def __init__(self, model: CachedModel, spent: Meter) -> None:
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
