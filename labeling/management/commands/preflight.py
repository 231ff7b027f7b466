from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from labeling.services import preflight


class Command(BaseCommand):
    help = (
        "Say what is missing before a team uses this server, and what to do about it. Exit status: "
        "0 if nothing is missing, 1 otherwise; notes do not count."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--only",
            nargs="+",
            choices=list(preflight.CHECKS),
            metavar="CHECK",
            default=None,
            help="%(choices)s; default: all",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        findings = preflight.look(options["only"])
        for finding in findings:
            self.stdout.write(f"{finding.state:<8} {finding.check:<12} {finding.says}")
        if any(finding.state == preflight.MISSING for finding in findings):
            raise SystemExit(1)
