"""What language models cost, in words: the same on pages and on the command line."""

from __future__ import annotations

from evaluation.models import Run
from evaluation.services.budgets import Estimate, Spent, shown
from labeling.models import SuggestionRequest


def estimate(found: Estimate | None) -> str:
    if found is None:
        return "With these settings the pipeline uses no language model: it costs nothing."
    cost = "the cost is unknown" if found.cost is None else f"about {shown(found.cost)}"
    return (
        f"{found.cases:,} case{'' if found.cases == 1 else 's'}, about {found.prompt_tokens:,} + "
        f"{found.completion_tokens:,} tokens, {cost}. Counted: {found.basis}; replies in the "
        "cache cost nothing."
    )


def usage(spent: Spent) -> list[tuple[str, str]]:
    """What was asked and what it cost, name by name."""
    rows = [
        ("Calls", f"{spent.calls:,}, {spent.cached:,} from the cache"),
        ("Tokens", f"{spent.prompt_tokens:,} + {spent.completion_tokens:,}"),
        ("Cost", _money(spent.cost)),
        ("Waited for replies", f"{spent.seconds:,.1f} s"),
    ]
    if spent.cached:
        rows.append(("Saved by the cache", f"{_money(spent.saved)}, {spent.saved_tokens:,} tokens"))
    return rows


def usage_line(spent: Spent) -> str:
    return "; ".join(f"{name.lower()} {text}" for name, text in usage(spent))


def budget(of: Run | SuggestionRequest) -> str:
    parts = [shown(of.budget_cost)] if of.budget_cost is not None else []
    parts += [f"{of.budget_tokens:,} tokens"] if of.budget_tokens is not None else []
    return " and ".join(parts) or "no limit"


def _money(amount: float | None) -> str:
    return "unknown" if amount is None else shown(amount)
