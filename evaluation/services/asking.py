"""A language model that writes synthetic data, with a budget over all that is asked of it."""

from __future__ import annotations

from typing import Any

from evaluation.services.language_models import budgets, endpoints
from evaluation.services.language_models.metering import STOPS
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from pipelines.llm import NO_USAGE, ModelError, OverBudget, RateLimited, Reply, Unavailable
from pipelines.types import JsonSchema

ENDS = (*STOPS, RateLimited, Unavailable)
"""After one of these every further request would fail as well, or take too long."""


class GenerationRefused(RuleError):
    """Such conversations or questions cannot be made."""

    code = "generation_refused"


class Asking:
    """The model with a budget over all that is asked of it."""

    def __init__(self, budget_cost: float | None, budget_tokens: int | None) -> None:
        self._cost, self._tokens = budget_cost, budget_tokens
        model = endpoints.model_named(before_asking=self._check)
        assert model is not None  # required before
        self._model = model
        self.spent = NO_USAGE

    @classmethod
    def opened(cls, what: Fact, budget_cost: float | None, budget_tokens: int | None) -> Asking:
        """Refused where no model is set up, or where the budget makes no sense."""
        endpoints.require(what)
        problem = budgets.problem_with(budget_cost, budget_tokens)
        if problem:
            raise GenerationRefused(problem)
        return cls(budget_cost, budget_tokens)

    @property
    def id(self) -> str:
        return self._model.id

    def complete(
        self,
        messages: Any,
        *,
        schema: JsonSchema | None = None,
        repetition: int = 0,
    ) -> Reply:
        try:
            reply = self._model.complete(messages, schema=schema, repetition=repetition)
        except ModelError as error:
            self.spent = self.spent + error.usage
            raise
        self.spent = self.spent + reply.usage
        return reply

    def _check(self) -> None:
        """Called before each request that would have to be paid."""
        used, cost = self.spent.prompt_tokens + self.spent.completion_tokens, self.spent.cost
        if self._tokens is not None and used >= self._tokens:
            raise OverBudget("budget.tokens_used_up", tokens=self._tokens, used=used)
        if self._cost is not None and (cost is None or cost >= self._cost):
            raise OverBudget("budget.used_up", money=budgets.amount(self._cost).as_json())
