from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from labeling.domain.errors import RuleError
from labeling.management.acting import ActingCommand
from labeling.services import acting
from labeling.services.exchange import correction_files
from labeling.services.gold import gold
from labeling.words import in_english


class Command(ActingCommand):
    help = (
        "Freeze the next version of imported gold with the corrections of a file, which names "
        "messages by their published ids and holds no text: all of them or none. Labels that do "
        "not cite what the file expects are refused."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument("--gold", required=True, metavar="RELEASE", help="name or name@version")

    def handle(self, **options: Any) -> None:
        try:
            release = gold.find(options["gold"])
            frozen = correction_files.apply(options["file"], release, by=acting.person())
        except OSError as error:
            raise CommandError(str(error)) from error
        except RuleError as error:
            raise CommandError(in_english(error.fact)) from error
        self.stdout.write(f"{frozen}, sha256 {frozen.sha256}")
