from __future__ import annotations

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Former name of verify; it goes with the next release."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stderr.write("Write “assay verify”.")
        call_command("verify")
