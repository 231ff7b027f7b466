from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from labeling.domain.errors import RuleError
from labeling.domain.gold.gold_changes import ItemChanged
from labeling.management import looks
from labeling.management.arguments import release_named
from labeling.models import Look
from labeling.services.gold import gold_diffs
from labeling.services.gold.looks import Sight
from labeling.words import in_english


class Command(BaseCommand):
    help = (
        "Say what differs between two gold releases of one layer: items added and removed, labels "
        "added, removed and changed field by field."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("before", metavar="A", help="name or name@version")
        parser.add_argument("after", metavar="B", help="name or name@version")
        parser.add_argument("--format", default="table", choices=["table", "json"])
        looks.add_reason(parser, without="the test items are left out")

    def handle(self, *args: Any, **options: Any) -> None:
        before, after = release_named(options["before"]), release_named(options["after"])
        try:
            comparison = gold_diffs.compare(before, after)
        except RuleError as error:
            raise CommandError(in_english(error.fact)) from error
        tested = looks.with_test_items([after, before])
        if options["reason"]:
            looks.state(tested, Sight(Look.Purpose.LABELS), options["reason"], self.stderr)
        elif tested:
            comparison = comparison.without_test()
            self.stderr.write(f"Test items are left out. {looks.asked(tested)} Say --reason.")
        if options["format"] == "json":
            self.stdout.write(json.dumps(comparison.as_json(), indent=2, ensure_ascii=False))
            return
        self.stdout.write(
            f"{before} → {after}: {len(comparison.items)} differ, {comparison.same} alike"
        )
        for item in comparison.items:
            self._write(item)

    def _write(self, item: ItemChanged) -> None:
        how = f", {item.how[0]} → {item.how[1]}" if item.how else ""
        split = f", split {item.split[0] or '–'} → {item.split[1] or '–'}" if item.split else ""
        text = ", another text" if item.text else ""
        self.stdout.write(f"{item.item_id}: {item.kind}{how}{split}{text}")
        for label in item.labels:
            fields = f" ({', '.join(label.fields)})" if label.fields else ""
            self.stdout.write(f"  {label.kind} {label.layer} “{label.title}”{fields}")
