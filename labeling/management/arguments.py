"""Waivers, as several commands take them."""

from __future__ import annotations

from argparse import ArgumentParser

from django.core.management.base import CommandError

from labeling.gold import lint


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
