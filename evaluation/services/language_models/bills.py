"""What language models cost, in words: the same on pages and on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.utils.formats import number_format

from evaluation.models import Run
from evaluation.services.language_models.budgets import Estimate, Spent, digits_of
from labeling.domain.sentences import noted, say
from labeling.models import SuggestionRequest
from labeling.translation import translated


def estimate(found: Estimate | None) -> str:
    if found is None:
        return noted("With these settings the pipeline uses no language model: it costs nothing.")
    return say(
        "{cases}, about {prompt} + {reply} tokens, {cost}. Counted: {basis}; replies in the "
        "cache cost nothing.",
        cases=say("{n} case", n=1) if found.cases == 1 else say("{n} cases", n=_n(found.cases)),
        prompt=_n(found.prompt_tokens),
        reply=_n(found.completion_tokens),
        cost=say("the cost is unknown")
        if found.cost is None
        else say("about {cost}", cost=_of_money(found.cost)),
        basis=found.basis,
    )


def usage(spent: Spent, served: Sequence[str] = ()) -> list[tuple[str, str]]:
    """What was asked and what it cost, name by name; pages translate both."""
    calls = say("{calls}, {cached} from the cache", calls=_n(spent.calls), cached=_n(spent.cached))
    rows: list[tuple[str, str]] = [
        (noted("Calls"), calls),
        (noted("Tokens"), f"{_n(spent.prompt_tokens)} + {_n(spent.completion_tokens)}"),
        (noted("Cost"), _money(spent.cost)),
        (noted("Waited for replies"), f"{number_format(spent.seconds, 1, force_grouping=True)} s"),
    ]
    if spent.cached:
        saved, n = _money(spent.saved), _n(spent.saved_tokens)
        rows.append((noted("Saved by the cache"), say("{saved}, {n} tokens", saved=saved, n=n)))
    if served:
        rows.append((noted("Replies came from"), ", ".join(served)))
    return rows


def usage_line(spent: Spent, served: Sequence[str] = ()) -> str:
    told = ((translated(name), translated(text)) for name, text in usage(spent, served))
    return "; ".join(f"{name[0].lower()}{name[1:]} {text}" for name, text in told)


def budget(of: Run | SuggestionRequest) -> str:
    if of.budget_tokens is None:
        return (
            translated(noted("no limit")) if of.budget_cost is None else _of_money(of.budget_cost)
        )
    tokens = _n(of.budget_tokens)
    if of.budget_cost is None:
        return translated(say("{n} tokens", n=tokens))
    return translated(say("{money} and {n} tokens", money=_of_money(of.budget_cost), n=tokens))


def _n(number: int) -> str:
    return number_format(number, force_grouping=True)


def _money(amount: float | None) -> str:
    return say("unknown") if amount is None else _of_money(amount)


def _of_money(amount: float) -> str:
    told = number_format(f"{amount:.{digits_of(amount)}f}", force_grouping=True)
    return f"{told} {settings.LLM_CURRENCY}"
