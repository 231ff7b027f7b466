"""What the commands that make synthetic data have in common."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError

from evaluation.management.bars import bar
from evaluation.services.launch import generators
from evaluation.services.launch.generators import Batch, Wish
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


def make(what: str, wish: Wish, options: dict[str, Any], *, else_: str) -> Any:
    """By a language model if that is asked for, ``else_`` without one and its budget."""
    budget = (options["budget"], options["budget_tokens"])
    if not options["model"] and budget != (None, None):
        raise CommandError(f"{else_} cost nothing: give a budget only with --model.")
    making, task = {
        "conversations": (generators.make_talks, "generate_conversations"),
        "questions": (generators.make_questions, "ask_questions"),
    }[what]
    model = generators.model_for(task, *budget) if options["model"] else None
    with _progress(wish.count) as show:
        return making(wish, model, progress=show)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    with bar() as shown:
        task = shown.add_task("Generating", total=total)
        yield lambda done: shown.update(task, completed=done)


def report_losses(batch: Batch[Any], out: Any) -> None:
    if batch.n_rejected:
        reasons = "; ".join(f"{in_english(why)} ({n})" for why, n in batch.rejected.most_common())
        out.write(f"{batch.n_rejected} were thrown out: {reasons}.")
    if batch.tokens:
        out.write(f"{batch.tokens:,} tokens were used.")


def check_complete(batch: Batch[Any], wanted: int, *, why: str) -> None:
    if len(batch.accepted) < wanted:
        why = in_english(batch.stopped) if batch.stopped else why
        raise CommandError(f"Only {len(batch.accepted)} of {wanted} were made. {why}")
