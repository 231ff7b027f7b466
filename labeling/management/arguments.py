"""What several commands take: a project by its slug, a release by its address, waivers."""

from __future__ import annotations

from argparse import ArgumentParser
from difflib import get_close_matches

from django.core.management.base import CommandError

from labeling.domain.errors import RuleError
from labeling.models import GoldRelease, Project
from labeling.services.gold import gold, lint
from labeling.words import in_english


def project_named(slug: str, *, returncode: int = 1) -> Project:
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        slugs = list(Project.objects.values_list("slug", flat=True))
        near = get_close_matches(slug, slugs, n=1) or slugs[:5]
        hint = f" Did you mean {', '.join(near)}?" if near else " There are no projects yet."
        raise CommandError(f"There is no project “{slug}”.{hint}", returncode=returncode)
    return project


def release_named(address: str) -> GoldRelease:
    try:
        return gold.find(address)
    except RuleError as error:
        raise CommandError(in_english(error.fact)) from error


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
        try:
            lint.check_kind(kind)
        except RuleError as error:
            raise CommandError(in_english(error.fact)) from error
        reasons[kind] = reason
    return reasons
