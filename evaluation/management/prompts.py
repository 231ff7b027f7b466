"""Prompts of judges from files, as arguments of the commands: ``KIND=FILE``."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path

from django.core.management.base import CommandError

from evaluation.judge import KINDS

NOT_MEASURABLE = 2
DEFAULT = "faithfulness"


def add_option(parser: ArgumentParser, kinds: Iterable[str] = KINDS) -> None:
    parser.add_argument(
        "--prompt",
        action="append",
        default=[],
        metavar="KIND=FILE",
        help=f"another prompt for {', '.join(kinds)}; may be given more than once",
    )


def add_launch_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--judge-prompt",
        action="append",
        default=[],
        metavar="[KIND=]FILE",
        help=f"with --evaluate-answers: another prompt for {', '.join(KINDS)} (without a kind: "
        f"{DEFAULT}), with $answer or {{answer}}; may be given more than once",
    )


def read(arguments: Iterable[str], *, default: str = "") -> dict[str, str]:
    """By kind; a file alone is the prompt of the ``default`` kind."""
    texts = {}
    for argument in arguments:
        kind, separator, name = argument.partition("=")
        if default and not separator:
            kind, separator, name = default, "=", argument
        if not separator or not name:
            raise problem(f"“{argument}” is not KIND=FILE.")
        try:
            texts[kind] = Path(name).read_text(encoding="utf-8")
        except OSError as error:
            raise problem(f"{name}: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise problem(f"{name} is not UTF-8 text.") from error
    return texts


def problem(text: str) -> CommandError:
    return CommandError(text, returncode=NOT_MEASURABLE)
