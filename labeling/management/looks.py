"""Why test items are looked at, for commands that show any of them."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence

from django.core.management.base import CommandError, OutputWrapper

from labeling.domain.errors import RuleError
from labeling.gold import looks
from labeling.gold.looks import Sight
from labeling.models import GoldRelease
from labeling.words import in_english


def add_reason(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--reason", default="", help="why test items are looked at, kept with the look"
    )


def state(
    releases: Sequence[GoldRelease],
    sight: Sight,
    reason: str,
    notes: OutputWrapper,
    *,
    returncode: int = 1,
) -> None:
    """Write down why, and say which look it is; refused without a reason."""
    tested = [release for release in releases if looks.test_items(release).exists()]
    if not tested:
        return
    if not reason.strip():
        names, counts = ", ".join(map(str, tested)), " ".join(map(_standing, tested))
        asked = f"Test items of {names} would be shown: why do you look? {counts} Say --reason."
        raise CommandError(asked, returncode=returncode)
    try:
        looks.state(None, tested, sight, reason)
    except RuleError as error:
        raise CommandError(in_english(error.fact), returncode=returncode) from error
    for release in tested:
        notes.write(_standing(release))


def _standing(release: GoldRelease) -> str:
    return f"Looks at the test items of {release}: {looks.looks_at(release).count():,}."
