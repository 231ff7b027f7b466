"""What a run has spent on language models, what it may spend, and what it will probably cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.conf import settings
from django.db.models import Count, FloatField, QuerySet, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from evaluation import judge
from evaluation.layers import gold_layer
from evaluation.models import (
    Answer,
    CaseRun,
    Judgement,
    Run,
    RunSpending,
    of_split,
)
from evaluation.services.language_models import endpoints
from evaluation.services.language_models.usage import Spent
from labeling.domain.facts import Fact
from labeling.models import GoldItem, GoldRelease
from pipelines.chat.counting import tokens_in
from pipelines.chat.endpoint import DEFAULT, JUDGE, Endpoint
from pipelines.llm import OverBudget, Usage
from pipelines.registry import Calls, entry_for
from pipelines.types import Config

PROMPT_TOKENS = 500
REPLY_TOKENS = 700
"""Of a case about which nothing is known yet, in addition to its conversation."""
ANSWER_PROMPT_TOKENS = 1200
ANSWER_REPLY_TOKENS = 150
"""Of an answer or a judgement of which nothing is known yet, with the messages it reads."""


@dataclass(frozen=True, slots=True)
class Estimate:
    cases: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    basis: Fact

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Estimate) -> Estimate:
        """Of the same cases; money is unknown if one of them is."""
        known = self.cost is not None and other.cost is not None
        return Estimate(
            self.cases,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            (self.cost or 0.0) + (other.cost or 0.0) if known else None,
            Fact("estimate.both", first=self.basis, second=other.basis),
        )


def spent(run_id: int) -> Spent:
    """On cases, answers and judgements together."""
    usage = RunSpending.objects.filter(run=run_id).values_list("usage", flat=True).first()
    return Spent(**usage or {})


def note(work: Any, call: Spent) -> None:
    """What the run of this piece of work has spent grows by a call.

    For the transaction that stores it. What belongs to no run has no sum.
    """
    run_id = _run_of(work)
    if run_id is None:
        return
    if not RunSpending.objects.filter(run=run_id).exists():
        RunSpending.objects.bulk_create([RunSpending(run_id=run_id)], ignore_conflicts=True)
    row = RunSpending.objects.select_for_update().get(run=run_id)
    row.usage = asdict(Spent(**row.usage) + call)
    row.save()


def _run_of(work: Any) -> int | None:
    match work:
        case CaseRun():
            return work.run_id
        case Answer():
            return work.case.run_id
        case Judgement():
            return work.judging.run_id
    return None


def check(run_id: int) -> None:
    """Refuse the next request if the run has used up its budget."""
    run = Run.objects.only("budget_cost", "budget_tokens", "spec").get(pk=run_id)
    if run.budget_cost is not None or run.budget_tokens is not None:
        model = endpoints.name_in(run.spec.model)
        hold(run.budget_cost, run.budget_tokens, spent(run_id), model)


def hold(money: float | None, tokens: int | None, used: Spent, model: str = DEFAULT) -> None:
    """Refuse the next request, by ``OverBudget``, if a budget is used up."""
    if tokens is not None and used.tokens >= tokens:
        raise OverBudget("budget.tokens_used_up", tokens=tokens, used=used.tokens)
    if money is None:
        return
    if used.cost is None or _lacking(model):
        todo = _lacking(model, JUDGE) or Fact("budget.give_tokens")
        raise OverBudget("budget.left_unknown", todo=todo.as_json())
    if used.cost >= money:
        spent, budget = amount(used.cost).as_json(), amount(money).as_json()
        raise OverBudget("budget.money_used_up", money=budget, spent=spent)


def _lacking(*models: str) -> Fact | None:
    """What to do so that money can be counted; ``None`` if all prices are known."""
    for endpoint in map(endpoints.named, models):
        if endpoint is None or not endpoint.priced:
            prices = (f"{side}_price" for side in ("input", "output"))
            setting = endpoint.setting if endpoint else Endpoint(model="-").setting
            return Fact("budget.prices_missing", names=[setting(price) for price in prices])
    return None


def problem_with(
    money: float | None, tokens: int | None, *, model: str = DEFAULT, judging: bool = False
) -> Fact | None:
    """Why such a budget can't be enforced, if so. ``judging``: a judge is asked, too."""
    if (money is not None and not 0 < money < float("inf")) or (tokens is not None and tokens <= 0):
        return Fact("budget.not_above_zero")
    if tokens is not None and tokens > 2**53:
        return Fact("budget.too_many_tokens")
    asked = (model, JUDGE) if judging else (model,)
    todo = _lacking(*asked) if money is not None else None
    return Fact("budget.needs_prices", todo=todo) if todo else None


def used_up(run: Run) -> bool:
    try:
        check(run.pk)
    except OverBudget:
        return True
    return False


def amount(money: float) -> Fact:
    currency = settings.LLM_CURRENCY
    if digits_of(money) == 2:
        return Fact("money.with_cents", amount=money, currency=currency)
    return Fact("money.with_fractions", amount=money, currency=currency)


def digits_of(money: float) -> int:
    """Enough for a price far below a cent."""
    return 2 if money >= 10 else 4


def estimate(
    release: GoldRelease,
    sizes: Sequence[int],
    *,
    pipeline: str,
    config: Config,
    model: str = DEFAULT,
) -> Estimate:
    """From the newest run of this kind with the same model, else from the length of the texts."""
    calls = entry_for(pipeline).calls(config, release.layer)
    same = Run.objects.filter(
        release__layer=release.layer, release__project=release.project_id, pipeline=pipeline
    )
    same = same.filter(config=config, scored_at__isnull=False).order_by("-pk")
    endpoint, cases = endpoints.named(model), len(sizes)
    for run, asked in same.values_list("pk", "spec__model__id")[:5]:
        mean = _mean_tokens(CaseRun.objects.filter(run=run))
        if mean and endpoint and asked == endpoint.id:
            basis = Fact("estimate.earlier_run", run=run)
            return _estimate(cases, mean[0] * cases, mean[1] * cases, basis, model)
    return estimate_of(sizes, calls, model)


def estimate_of(sizes: Sequence[int], calls: Calls, model: str = DEFAULT) -> Estimate:
    """By the characters that each case reads: of several calls, the most that may be made."""
    prompts = sum(tokens_in(size) + PROMPT_TOKENS for size in sizes) * calls.most
    replies = REPLY_TOKENS * len(sizes) * calls.most
    basis = Fact("estimate.one_reading", tokens=REPLY_TOKENS)
    if calls.most > 1:
        named = {"most": calls.most, "least": calls.least}
        basis = Fact("estimate.most_calls", tokens=REPLY_TOKENS, **named)
    return _estimate(len(sizes), prompts, replies, basis, model)


def estimate_answers(
    release: GoldRelease, cases: int, repetitions: int, *, model: str = DEFAULT
) -> Estimate:
    """One answer for each case, and one call of the judge for each kind of judgement."""
    kinds = len(judge.KINDS)
    endpoint = endpoints.named(JUDGE)
    before = Judgement.objects.filter(judging__model=endpoint.id if endpoint else "")
    before = before.filter(judging__run__release__layer=release.layer)
    before = before.filter(judging__run__release__project=release.project_id)
    basis = Fact("estimate.answers", kinds=kinds)
    if mean := _mean_tokens(before):
        basis = Fact("estimate.as_before", basis=basis)
    else:
        mean = (ANSWER_PROMPT_TOKENS, ANSWER_REPLY_TOKENS)
        basis = Fact("estimate.tokens_each", basis=basis, prompt=mean[0], reply=mean[1])
    prompt, reply = (tokens * cases * repetitions for tokens in mean)
    written = _estimate(cases, prompt, reply, basis, model)
    return replace(
        written + _estimate(cases, prompt * kinds, reply * kinds, basis, JUDGE), basis=basis
    )


def _estimate(cases: int, prompt: float, reply: float, basis: Fact, model: str) -> Estimate:
    usage = Usage(round(prompt), round(reply))
    endpoint = endpoints.named(model)
    cost = endpoint.cost(usage) if endpoint else None
    return Estimate(cases, usage.prompt_tokens, usage.completion_tokens, cost, basis)


def case_sizes(release: GoldRelease, split: str, most: int | None = None) -> list[int]:
    """Characters of the conversation, once for each case."""
    layer = gold_layer(release.layer)
    items = of_split(GoldItem.objects.filter(release=release), split).order_by("position")[:most]
    sizes: list[int] = []
    for item in items.iterator(chunk_size=50):
        content = item.content
        characters = sum(len(message["content"]) for message in content["conversation"])
        sizes += [characters] * len(layer.parts(content))
    return sizes


def _mean_tokens(asked: QuerySet[Any]) -> tuple[float, float] | None:
    """Of prompt and reply, where nothing came from the cache."""
    asked = asked.filter(usage__cached=0, usage__calls__gt=0)
    row = asked.aggregate(n=Count("pk"), p=_sum("prompt_tokens"), c=_sum("completion_tokens"))
    return (row["p"] / row["n"], row["c"] / row["n"]) if row["n"] else None


def _sum(name: str) -> Sum:
    return Sum(Cast(KT(f"usage__{name}"), FloatField()))
