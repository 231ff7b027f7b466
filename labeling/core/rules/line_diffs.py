"""Two versions of a text, line by line."""

from __future__ import annotations

from difflib import unified_diff
from typing import NamedTuple

KINDS = {" ": "same", "+": "added", "-": "removed", "@": "gap"}


class DiffLine(NamedTuple):
    """One line of a comparison; ``kind`` is same, added, removed or gap."""

    kind: str
    text: str

    @property
    def sign(self) -> str:
        return {"added": "+", "removed": "−"}.get(self.kind, "")


def compare(before: str, after: str) -> list[DiffLine]:
    """The changed lines with three lines around them; equal texts give nothing."""
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="")
    return [DiffLine(KINDS[line[0]], line[1:]) for line in [*lines][3:]]
