"""What an import found, printed: figures by file, faults by kind, and each fault with its place."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from labeling.conversations.published.faults import KINDS

COUNTED_ONLY = {"gap", "picture_gap", "made_time", "no_answer"}
"""Kinds with hundreds of entries that lose nothing."""
MEMBERS = (
    "An administrator sees it, adds people on its page Members, and chooses what is labeled on "
    "its page Settings."
)
WIDTH = 160
PLAIN = ("split", "messages", "sessions", "items", "labels", "questions")
EVIDENCE = "fully/partly/none/no evidence"


def project_message(slug: str, *, dry_run: bool) -> str:
    return f"Project {slug} " + ("would be created." if dry_run else f"was created. {MEMBERS}")


def print_faults(
    counts: Sequence[Mapping[str, Any]], faults: Sequence[Mapping[str, str]], *, out: Any
) -> None:
    console = Console(file=out, width=None if sys.stdout.isatty() else WIDTH, highlight=False)
    for row in counts:
        console.print(escape(_counted(row)), soft_wrap=True)
    if not faults:
        console.print("Nothing is odd in these files.")
        return
    console.print(_kinds(faults))
    for fault in faults:
        if fault["kind"] not in COUNTED_ONLY:
            title = KINDS[fault["kind"]].title
            line = f"{fault['file']}: {fault['place']}: {title}: {fault['text']}"
            console.print(escape(line.rstrip(": ")), soft_wrap=True)


def _counted(row: Mapping[str, Any]) -> str:
    """What a file has; ``evidence``: questions of which all, some, or none of it was found."""
    counts = {name: row[name] for name in PLAIN if name in row} | row.get("categories", {})
    if found := row.get("tolerant"):
        counts[EVIDENCE] = "/".join(map(str, found.values()))
    return f"{row['file']}: " + ", ".join(f"{name} {value}" for name, value in counts.items())


def _kinds(faults: Sequence[Mapping[str, str]]) -> Table:
    counted = Counter(fault["kind"] for fault in faults)
    table = Table("what", "became of it", "kind")
    table.add_column("number", justify="right")
    for kind, number in sorted(counted.items(), key=lambda each: list(KINDS).index(each[0])):
        table.add_row(KINDS[kind].title, KINDS[kind].effect, kind, str(number))
    return table
