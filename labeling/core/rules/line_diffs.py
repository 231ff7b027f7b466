"""Two versions of a text, line by line."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple

CONTEXT_LINES = 3


class DiffLine(NamedTuple):
    """One line of a comparison; ``kind`` is same, added, removed or gap."""

    kind: str
    old: int | None = None
    new: int | None = None
    text: str = ""

    @property
    def sign(self) -> str:
        return {"added": "+", "removed": "−"}.get(self.kind, "")


def compare(before: str, after: str) -> list[DiffLine]:
    """The changed lines with three lines around them; equal texts give nothing."""
    old, new = before.splitlines(), after.splitlines()
    lines: list[DiffLine] = []
    groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT_LINES)
    for group in groups:
        if lines:
            lines.append(DiffLine("gap"))
        for tag, old_from, old_to, new_from, new_to in group:
            lines += _block(tag, old, (old_from, old_to), new, (new_from, new_to))
    return lines


def _block(
    tag: str, old: list[str], left: tuple[int, int], new: list[str], right: tuple[int, int]
) -> list[DiffLine]:
    if tag == "equal":
        numbers = zip(range(*left), range(*right), strict=True)
        return [DiffLine("same", i + 1, j + 1, old[i]) for i, j in numbers]
    removed = [DiffLine("removed", i + 1, None, old[i]) for i in range(*left)]
    return removed + [DiffLine("added", None, j + 1, new[j]) for j in range(*right)]
