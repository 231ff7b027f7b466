"""What the commands that make synthetic data have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from django.core.management.base import CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from pipelines.llm import Usage


class Losses(Protocol):
    thrown_out: Counter[str]
    n_thrown_out: int
    usage: Usage


def check_budget(options: dict[str, Any], what: str) -> dict[str, Any]:
    """The budget for a language model, which nothing else needs."""
    budget = {"budget_cost": options["budget"], "budget_tokens": options["budget_tokens"]}
    if not options["model"] and any(one is not None for one in budget.values()):
        raise CommandError(f"{what} cost nothing: give a budget only with --model.")
    return budget


@contextmanager
def bar(total: int) -> Iterator[Callable[[int], None]]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task("Generating", total=total)
        yield lambda done: progress.update(task, completed=done)


def report_losses(made: Losses, out: Any) -> None:
    if made.n_thrown_out:
        reasons = "; ".join(f"{text} ({n})" for text, n in made.thrown_out.most_common())
        out.write(f"{made.n_thrown_out} were thrown out: {reasons}.")
    if made.usage.prompt_tokens:
        used = made.usage.prompt_tokens + made.usage.completion_tokens
        out.write(f"{used:,} tokens were used.")
