from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from labeling.domain.errors import RuleError
from labeling.services.exchange import correction_files
from labeling.services.gold import gold
from labeling.words import in_english


class Command(BaseCommand):
    help = (
        "Freeze the next version of imported gold with the corrections of a file, which names "
        "messages by their published ids and holds no text: all of them or none. Labels that do "
        "not cite what the file expects are refused."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument("--gold", required=True, metavar="RELEASE", help="name or name@version")
        parser.add_argument("--by", default="", metavar="USER", help="who freezes it")

    def handle(self, **options: Any) -> None:
        by = User.objects.filter(username=options["by"]).first()
        if options["by"] and by is None:
            raise CommandError(f"There is no user {options['by']}.")
        try:
            release = gold.find(options["gold"])
            frozen = correction_files.apply(options["file"], release, by=by)
        except OSError as error:
            raise CommandError(str(error)) from error
        except RuleError as error:
            raise CommandError(in_english(error.fact)) from error
        self.stdout.write(f"{frozen}, sha256 {frozen.sha256}")
