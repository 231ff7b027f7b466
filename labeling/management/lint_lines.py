"""What lint found, and what of it was accepted, line by line."""

from __future__ import annotations

from collections.abc import Iterator

from labeling.domain.facts import Fact
from labeling.gold.lint import LintOpen
from labeling.gold.rules.statement import Waiver
from labeling.words import in_english

MOST = 20


def open_lines(error: LintOpen) -> Iterator[str]:
    """What a release was refused for: of each kind the first ones."""
    for kind, number in error.details["kinds"].items():
        yield f"{kind}: {in_english(Fact(f'lint_kind.{kind}'))} ({number})"
        for row in error.findings.of(kind)[:MOST]:
            yield f"  {in_english(row.fact)}"
        if number > MOST:
            yield f"  … {number - MOST} more"


def waiver_line(waiver: Waiver) -> str:
    counted = Fact(
        "lint.count",
        kind=Fact(f"lint_kind.{waiver['kind']}"),
        name=waiver["kind"],
        number=waiver["findings"],
    )
    why = in_english(Fact(waiver["reason_code"])) if "reason_code" in waiver else waiver["reason"]
    return f"stated in the release: {in_english(counted)}: {why}"
