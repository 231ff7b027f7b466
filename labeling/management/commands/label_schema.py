from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from labeling.domain.schema import json_schema, yaml_schema


class Command(BaseCommand):
    help = "Print the label schema, as labeling-schema.yaml or as JSON Schema."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--format", choices=["yaml", "json"], default="yaml")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["format"] == "json":
            self.stdout.write(json.dumps(json_schema(), indent=2, ensure_ascii=False))
        else:
            self.stdout.write(yaml_schema(), ending="")
