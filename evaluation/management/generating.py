"""What the commands that make synthetic data have in common."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from django.core.management.base import CommandError

from evaluation.management.bars import bar
from evaluation.services.launch.generated import Generated
from labeling.words import in_english


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--project", required=True, metavar="SLUG")
    parser.add_argument("--count", type=int, required=True, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--model", action="store_true", help="let the language model of the settings write them"
    )
    parser.add_argument("--budget", type=float, metavar="MONEY", help="what it may cost")
    parser.add_argument("--budget-tokens", type=int, metavar="N", help="tokens that it may use")


def make(service: ModuleType, wish: Any, options: dict[str, Any], *, else_: str) -> Any:
    """By a language model if that is asked for, ``else_`` without one and its budget."""
    budget = {"budget_cost": options["budget"], "budget_tokens": options["budget_tokens"]}
    if not options["model"] and any(limit is not None for limit in budget.values()):
        raise CommandError(f"{else_} cost nothing: give a budget only with --model.")
    with _progress(wish.count) as show:
        if options["model"]:
            return service.make_by_model(wish, progress=show, **budget)
        return service.make(wish, progress=show)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    with bar() as shown:
        task = shown.add_task("Generating", total=total)
        yield lambda done: shown.update(task, completed=done)


def report_losses(batch: Generated[Any], out: Any) -> None:
    if batch.n_rejected:
        reasons = "; ".join(f"{in_english(why)} ({n})" for why, n in batch.rejected.most_common())
        out.write(f"{batch.n_rejected} were thrown out: {reasons}.")
    if batch.usage.prompt_tokens:
        used = batch.usage.prompt_tokens + batch.usage.completion_tokens
        out.write(f"{used:,} tokens were used.")


def check_complete(batch: Generated[Any], wanted: int, *, why: str) -> None:
    if len(batch.accepted) < wanted:
        why = in_english(batch.stopped) if batch.stopped else why
        raise CommandError(f"Only {len(batch.accepted)} of {wanted} were made. {why}")
