"""What an import found, printed: figures by file, faults by kind, and each fault with its place."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from labeling.domain.chats import KINDS

COUNTED_ONLY = {"gap", "picture_gap", "made_time", "no_answer"}
"""Kinds with hundreds of entries that lose nothing; the report's page lists them."""
MEMBERS = (
    "An administrator sees it, adds people on its page Members, and chooses what is labelled on "
    "its page Settings."
)
WIDTH = 160
PLAIN = ("messages", "sessions", "questions")


def project_message(slug: str, *, dry_run: bool) -> str:
    return f"Project {slug} " + ("would be created." if dry_run else f"was created. {MEMBERS}")


def print_faults(
    counts: Sequence[Mapping[str, Any]], faults: Sequence[Mapping[str, str]], *, out: Any
) -> None:
    console = Console(file=out, width=None if sys.stdout.isatty() else WIDTH, highlight=False)
    console.print(_files(counts))
    if not faults:
        console.print("Nothing is odd in these files.")
        return
    console.print(_kinds(faults))
    for fault in faults:
        if fault["kind"] not in COUNTED_ONLY:
            title = KINDS[fault["kind"]].title
            line = f"{fault['file']}: {fault['place']}: {title}: {fault['text']}"
            console.print(escape(line.rstrip(": ")), soft_wrap=True)


def _files(counts: Sequence[Mapping[str, Any]]) -> Table:
    """Evidence counts questions of which all, some, or none of the evidence was found."""
    categories = sorted({name for row in counts for name in row.get("categories", {})})
    table = Table()
    table.add_column("file", no_wrap=True)
    table.add_column("split")
    for name in (*PLAIN, *categories):
        table.add_column(name, justify="right")
    table.add_column("fully/partly/none/no evidence", justify="right")
    table.add_column("by the strict rule", justify="right")
    for row in counts:
        table.add_row(*_cells(row, categories))
    return table


def _cells(row: Mapping[str, Any], categories: Sequence[str]) -> list[str]:
    of = row.get("categories", {})
    return [
        escape(row["file"]),
        row.get("split") or "–",
        *(str(row.get(name, "–")) for name in PLAIN),
        *(str(of.get(name, "–")) for name in categories),
        *("/".join(map(str, row.get(rule, {}).values())) for rule in ("tolerant", "strict")),
    ]


def _kinds(faults: Sequence[Mapping[str, str]]) -> Table:
    counted = Counter(fault["kind"] for fault in faults)
    table = Table("what", "became of it", "kind")
    table.add_column("number", justify="right")
    for kind, number in sorted(counted.items(), key=lambda each: list(KINDS).index(each[0])):
        table.add_row(KINDS[kind].title, KINDS[kind].effect, kind, str(number))
    return table
