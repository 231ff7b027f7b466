from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.template.defaultfilters import pluralize

from labeling.management.arguments import release_named
from labeling.services.gold.verification import verify
from labeling.words import in_english


class Command(BaseCommand):
    help = (
        "Recompute every hash of a gold release and compare its conversations. "
        "Exit status 1 names each item that is not as it was frozen."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("release", metavar="RELEASE", help="name or name@version")

    def handle(self, *args: Any, **options: Any) -> None:
        release = release_named(options["release"])
        faults = verify(release)
        for fault in faults:
            self.stderr.write(f"{release} {fault.item_id or '(release)'}: {in_english(fault.fact)}")
        if faults:
            raise CommandError(
                f"{release} is not intact: {len(faults)} fault{pluralize(len(faults))}."
            )
        self.stdout.write(
            f"{release} is intact: {release.items.count()} items, sha256 {release.sha256}"
        )
