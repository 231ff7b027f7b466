from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.markup import escape
from rich.table import Table

from labeling.management.base import AssayCommand
from labeling.operation import backups


class Command(AssayCommand):
    acts = False
    help = (
        "Put a backup into an empty database: check the file, restore, migrate to this version, "
        "and verify the audit log and every release of gold. Stop web servers and workers before. "
        "Exit status: 0 if all is well, 1 otherwise."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="what `backup` has written")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="also if the database is not empty: all that it holds is lost",
        )
        parser.add_argument(
            "--check", action="store_true", help="only check the file; nothing is restored"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with backups.opened(options["file"]) as archive:
                made = "whole; made at {made_at} by version {assay}".format(**archive.manifest)
                findings = [backups.Finding("archive", True, made)]
                if not options["check"]:
                    if not options["replace"]:
                        backups.require_empty()
                    findings += backups.restore(archive)
        except backups.BackupRefused as refusal:
            raise CommandError(str(refusal)) from refusal
        table = Table("part", "state", "what")
        for finding in findings:
            state = "ok" if finding.is_fine else "fault"
            table.add_row(finding.part, state, escape(finding.says))
        self.print(table)
        if not all(finding.is_fine for finding in findings):
            raise SystemExit(1)
