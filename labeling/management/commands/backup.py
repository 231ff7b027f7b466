from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from labeling.management.base import AssayCommand
from labeling.operation import backups


class Command(AssayCommand):
    acts = False
    help = (
        "Write the whole database, as it is at one moment, and the keys into one file that only "
        "its owner reads. People may work meanwhile. PostgreSQL needs pg_dump. A file with the "
        "name of the backup is a whole one: it was read back before it got that name."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "place",
            type=Path,
            metavar="FILE|FOLDER",
            help="a new file; or a folder, where the file is named by the time",
        )
        parser.add_argument(
            "--keep",
            type=int,
            metavar="N",
            help="then delete older backups of the folder, all but the newest N",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        place, keep = options["place"], options["keep"]
        if keep is not None and (keep < 1 or not place.is_dir()):
            raise CommandError("--keep needs a number of at least 1, and an existing folder.")
        try:
            path = backups.take(place)
        except backups.BackupRefused as refusal:
            raise CommandError(str(refusal)) from refusal
        except (OSError, sqlite3.Error) as error:
            raise CommandError(f"{place} could not be written: {error}.") from error
        size = path.stat().st_size / 1024**2
        self.stdout.write(f"{path}: the database and the keys, {size:,.1f} MB")
        for old in backups.keep_newest(place, keep) if keep else []:
            self.stdout.write(f"{old} was deleted")
