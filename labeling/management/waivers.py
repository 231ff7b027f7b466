"""What lint found, line by line, and what of it a command accepts."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator

from django.core.management.base import CommandError

from labeling.domain.facts import Fact
from labeling.gold import lint
from labeling.gold.lint import LintOpen
from labeling.gold.rules.statement import Waiver
from labeling.words import in_english

MOST = 20


def add_waivers(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--waive",
        action="append",
        default=[],
        metavar="KIND=REASON",
        help="accept all findings of lint of this kind, on record and stated in the release; may "
        "be repeated",
    )


def waivers_in(arguments: list[str]) -> dict[str, str]:
    """The reasons by kind."""
    reasons = {}
    for argument in arguments:
        kind, equals, reason = argument.partition("=")
        if not equals or not reason.strip():
            raise CommandError(f"--waive {argument}: write KIND=REASON.")
        lint.check_kind(kind)
        reasons[kind] = reason
    return reasons


def open_lines(error: LintOpen) -> Iterator[str]:
    """What a release was refused for: of each kind the first ones."""
    for kind, number in error.details["kinds"].items():
        yield f"{kind}: {in_english(Fact(f'lint_kind.{kind}'))} ({number})"
        for row in error.findings.of(kind)[:MOST]:
            yield f"  {in_english(row.fact)}"
        if number > MOST:
            yield f"  … {number - MOST} more"


def waiver_line(waiver: Waiver) -> str:
    counted = Fact(
        "lint.count",
        kind=Fact(f"lint_kind.{waiver['kind']}"),
        name=waiver["kind"],
        number=waiver["findings"],
    )
    why = in_english(Fact(waiver["reason_code"])) if "reason_code" in waiver else waiver["reason"]
    return f"stated in the release: {in_english(counted)}: {why}"
