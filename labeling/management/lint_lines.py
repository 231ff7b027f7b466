"""What lint found, and what of it was accepted, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labeling.domain.facts import Fact
from labeling.gold import lint
from labeling.gold.lint import LintOpen
from labeling.gold.rules.statement import Waiver
from labeling.models import LintFinding, LintReport
from labeling.words import in_english

MOST = 20


def open_lines(error: LintOpen) -> Iterator[str]:
    """What a release was refused for: of each kind the first ones."""
    for kind, number in error.details["kinds"].items():
        yield f"{kind}: {in_english(Fact(f'lint_kind.{kind}'))} ({number})"
        for fact in error.findings.first_of(kind, MOST):
            yield f"  {in_english(fact)}"
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


def report_lines(report: LintReport) -> Iterator[str]:
    """Everything that lint found, by kind."""
    counts = lint.counts_of(report)
    yield (
        f"{report.items} items, {sum(count.number for count in counts)} findings, "
        f"{sum(count.open for count in counts)} of them open"
    )
    covered = lint.covered(report.project, report.layer)
    for count in counts:
        title = in_english(Fact(f"lint_kind.{count.kind}"))
        yield f"{count.kind}: {title} ({count.number}, {count.open} open)"
        for finding in _findings(report, count.kind):
            waiver = covered.get(finding.key)
            accepted = f" (accepted: {waiver.reason})" if waiver else ""
            yield f"  {_sentence(finding)}{accepted}"


def _findings(report: LintReport, kind: str) -> Any:
    rows = report.findings.filter(kind=kind).select_related("conversation")
    return rows.order_by("pk").iterator(500)


def _sentence(finding: LintFinding) -> str:
    return in_english(finding.fact) if finding.fact else ""
