from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser

from labeling.domain.gold.gold_changes import FieldChanged, ItemChanged
from labeling.domain.matching.diffing import Part
from labeling.management import looks
from labeling.management.base import AssayCommand
from labeling.models import Look
from labeling.services.gold import affected, gold, gold_diffs
from labeling.services.gold.gold_diffs import ReleaseDiff
from labeling.services.gold.looks import Sight


class Command(AssayCommand):
    help = (
        "Say what differs between two gold releases of one layer, word by word: items added, "
        "removed and moved to another split, texts, labels and their fields; and which runs on "
        "the older release are about gold that changed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("before", metavar="A", help="name or name@version")
        parser.add_argument("after", metavar="B", help="name or name@version")
        parser.add_argument("--format", default="table", choices=sorted(FORMATS))
        looks.add_reason(parser, without="the test items are left out")

    def handle(self, *args: Any, **options: Any) -> None:
        before, after = gold.find(options["before"]), gold.find(options["after"])
        comparison = gold_diffs.compare(before, after)
        tested = looks.with_test_items([after, before])
        if options["reason"]:
            looks.state(tested, Sight(Look.Purpose.LABELS), options["reason"], self.stderr)
        elif tested:
            comparison = comparison.without_test()
            self.stderr.write(f"Test items are left out. {looks.asked(tested)} Say --reason.")
        for text in FORMATS[options["format"]](_Told(comparison)):
            self.stdout.write(text, ending="")


class _Told:
    """The changes as they are read, and after them the runs: no more than a few items are held."""

    def __init__(self, comparison: ReleaseDiff) -> None:
        self.comparison = comparison
        self._of_gold: list[str] = []

    def changes(self) -> Iterator[ItemChanged]:
        for change in self.comparison.changes():
            if change.is_of_gold:
                self._of_gold.append(change.item_id)
            yield change

    def runs(self) -> list[affected.AffectedRun]:
        """Once all changes are told."""
        items = self.comparison.items_before(self._of_gold)
        return affected.runs(self.comparison.before, items, viewer=None)


def _table(told: _Told) -> Iterator[str]:
    comparison = told.comparison
    differ = len(comparison.names)
    yield (f"{comparison.before} → {comparison.after}: {differ} differ, {comparison.same} alike\n")
    for item in told.changes():
        yield f"{item.item_id}: {', '.join([item.kind, *_notes(item)])}\n"
        for message in item.messages:
            yield f"  {message.kind} message {message.place}: {_plain(message.parts)}\n"
        for label in item.labels:
            yield f"  {label.kind} {label.layer} “{label.title}”\n"
            for field in label.fields:
                yield f"    {field.name}: {_field(field)}\n"
    for run in told.runs():
        yield f"{run.title}: {run.cases} of {run.total} cases are about gold that changed\n"


def _notes(item: ItemChanged) -> list[str]:
    notes = [f"{item.how[0]} → {item.how[1]}"] if item.how else []
    if item.split:
        notes.append(f"split {item.split[0] or '–'} → {item.split[1] or '–'}")
    if item.text:
        notes.append("another text")
    if item.other and not (item.how or item.labels):
        notes.append(f"other {', '.join(item.other)}")
    return notes


def _plain(parts: list[Part]) -> str:
    marks = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    return "".join(marks[part.kind].format(part.text) for part in parts).replace("\n", "⏎")


def _field(field: FieldChanged) -> str:
    if not field.is_list:
        return _plain(field.parts)
    return ", ".join(_plain([part]) for part in field.parts)


def _json(told: _Told) -> Iterator[str]:
    """One document, written as it is made."""
    comparison = told.comparison
    head = {
        "before": gold_diffs.named(comparison.before),
        "after": gold_diffs.named(comparison.after),
        "same": comparison.same,
    }
    yield json.dumps(head, ensure_ascii=False)[:-1] + ', "items": ['
    before = "\n"
    for item in told.changes():
        yield before + json.dumps(item.as_json(), ensure_ascii=False)
        before = ",\n"
    rows: list[gold_diffs.AffectedRow] = [
        {"run": run.title, "cases": run.cases, "total": run.total} for run in told.runs()
    ]
    yield f'\n], "runs": {json.dumps(rows, ensure_ascii=False)}}}\n'


def _markdown(told: _Told) -> Iterator[str]:
    comparison = told.comparison
    before, after = _escaped(str(comparison.before)), _escaped(str(comparison.after))
    yield f"# {before} → {after}\n\n"
    yield f"{len(comparison.names)} items differ, {comparison.same} are the same.\n"
    for item in told.changes():
        yield f"\n## {_escaped(item.item_id)}: {item.kind}\n\n"
        for note in _notes(item):
            yield f"- {_escaped(note)}\n"
        for message in item.messages:
            yield f"- {message.kind} message {message.place}: {_marked(message.parts)}\n"
        for label in item.labels:
            yield f"- {label.kind} {label.layer} “{_escaped(label.title)}”\n"
            for field in label.fields:
                joined = (
                    ", ".join(_marked([part]) for part in field.parts)
                    if field.is_list
                    else _marked(field.parts)
                )
                yield f"  - {_escaped(field.name)}: {joined}\n"
    if runs := told.runs():
        yield f"\n## Runs on {before} about gold that changed\n\n"
        for run in runs:
            yield f"- {_escaped(run.title)}: {run.cases} of {run.total} cases\n"


def _marked(parts: list[Part]) -> str:
    """Removed and added words between the tags for it; no words of a user are markup."""
    tags = {"same": ("", ""), "removed": ("<del>", "</del>"), "added": ("<ins>", "</ins>")}
    return "".join(_escaped(part.text).join(tags[part.kind]) for part in parts)


def _escaped(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|~:@])", r"\\\1", text).replace("\n", " ")


FORMATS = {"table": _table, "json": _json, "markdown": _markdown}
