from __future__ import annotations

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser


class Command(BaseCommand):
    help = "Former name of verify --release and verify --folder; it goes with the next release."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("release", metavar="RELEASE", help="name, name@3 or name@1.2.0")
        parser.add_argument("--key", metavar="FINGERPRINT", help="see verify")

    def handle(self, *args: Any, **options: Any) -> None:
        self.stderr.write("Write “assay verify --release RELEASE”, or --folder DIR for a folder.")
        keys = [] if options["key"] is None else [f"--key={options['key']}"]
        call_command("verify", f"--release={options['release']}", *keys)
