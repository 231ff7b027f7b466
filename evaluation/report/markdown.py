"""A short report for a pull request. Files keep English; texts of people are made harmless."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from django.utils.translation import override

from evaluation.layers import gold_layer
from evaluation.metrics.registry import METRICS
from evaluation.models import Aggregate
from evaluation.report.content import Report
from evaluation.services.run import gates
from evaluation.services.run.compared_cases import compared_cases
from evaluation.templatetags import present
from labeling.domain.facts import Fact
from labeling.words import in_english

LONGEST = 200
"""Characters of a text that somebody wrote."""
MARKS = {"better": "🟢", "worse": "🔴", "no_difference": "⚪", "undecided": "🟡"}
SENTENCE = 1000
SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&#@])")
FIRST = re.compile(r"^([-+=]|\d+(?=[.)]))")
"""What makes a list, a rule or a heading of a line that begins with it."""
ADDRESS = re.compile(r"((?:https?|ftp|www|mailto|xmpp)(?=[:.])|\S(?=://)|GH-(?=\d))", re.IGNORECASE)
"""What begins a link, in the middle of a word, too: readers of Markdown differ there."""
BREAK = "\u200b"
"""Has no width: what follows no longer reads as an address, an issue number or a person's name."""


def written(report: Report, address: str) -> list[str]:
    with override("en"):
        return [f"{line}\n" for line in _lines(report, address)]


def plain(text: str, most: int = LONGEST) -> str:
    """One line in which nothing is a mark, a tag, a link or a mention.

    Examples
    --------
    >>> plain("<b>a|b</b>") == r"\\<b\\>a\\|b\\</b\\>"
    True
    >>> plain("@ana #1") == f"\\\\@{BREAK}ana \\\\#{BREAK}1"
    True
    >>> plain("1https://a GH-1") == f"1https{BREAK}://a GH-{BREAK}1"
    True
    """
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    cut = line if len(line) <= most else f"{line[: most - 1]}…"
    escaped = SPECIAL.sub(r"\\\1", ADDRESS.sub(rf"\1{BREAK}", cut))
    unnamed = re.sub(r"\\([@#])", lambda mark: f"\\{mark[1]}{BREAK}", escaped)
    return FIRST.sub(rf"{BREAK}\1", unnamed)


def _lines(report: Report, address: str) -> Iterator[str]:
    run = report.run
    named = f" – {plain(run.name)}" if run.name else ""
    yield f"## Run {run.pk}: {plain(run.pipeline)} on {plain(str(run.release))}{named}"
    yield ""
    yield from _verdict(report)
    yield ""
    yield from _figures(report)
    yield ""
    yield from _regressions(report)
    yield from _gate(report)
    yield from _limits(report)
    link = address if address.startswith("/") else f"<{address}>"
    yield f"Every case: {link}"


def _verdict(report: Report) -> Iterator[str]:
    if isinstance(report.against, Fact):
        yield f"**No verdict.** {_said(report.against)}"
        return
    assert report.compared is not None
    told = zip(report.compared.telling, present.told(report.compared), strict=True)
    yield "\n".join(
        f"{MARKS.get(row.verdict, '⚪')} **{plain(said.badge)}.** "
        + " ".join(plain(sentence, SENTENCE) for sentence in said.sentences)
        for row, said in told
    )


def _figures(report: Report) -> Iterator[str]:
    """The main metrics; the primary one first."""
    by_metric = {row.metric: row for row in report.rows}
    main = dict.fromkeys([report.primary.metric.id, *gold_layer(report.run.spec.layer).headline])
    judged = [row.metric for row in report.rows if "judge" in row.detail]
    compared = {row.metric.id: row for row in report.compared.rows} if report.compared else {}
    yield "| Metric | Figure | 95 % interval | n | Undefined | Failed | Floor | People | Change |"
    yield "| --- | ---: | :---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name in dict.fromkeys([*main, *judged]):
        if name in by_metric:
            row = by_metric[name]
            change = compared[name].comparison.difference if name in compared else None
            yield f"| {' | '.join([*_cells(row), present.signed(change)])} |"


def _cells(row: Aggregate) -> list[str]:
    metric, worth = METRICS[row.metric], row.yardsticks
    name, floor = next(iter(worth.get("floors", {}).items()), ("", {"mean": None}))
    people = worth["people"]["people"]["mean"] if "people" in worth else None
    return [
        f"{plain(metric.title)} {present.arrow(metric)}",
        f"**{present.figure(row.mean)}**",
        present.interval(row),
        *(str(count) for count in (row.n, row.n_undefined, row.n_failed)),
        f"{present.figure(floor['mean'])} {plain(name)}".strip(),
        present.figure(people),
    ]


def _regressions(report: Report) -> Iterator[str]:
    if report.compared is None:
        return
    cases = compared_cases(report.compared.before, report.run, report.primary.metric)
    counts = Counter[str](row.outcome for row in cases)
    kinds = ("regression", "improvement", "tie")
    said = ", ".join(f"{counts[kind]} {kind}s" for kind in kinds)
    yield f"Cases: {said}, {counts['undefined']} undefined."
    yield ""


def _gate(report: Report) -> Iterator[str]:
    if report.gate is None:
        return
    failed = gates.failed(report.gate)
    if not failed:
        yield "Gate: **passed**."
    else:
        yield "Gate: **failed**."
        yield ""
        for check in failed:
            yield f"- {plain(check.metric)}: {_said(check.reason) if check.reason else ''}"
    yield ""


def _limits(report: Report) -> Iterator[str]:
    yield "<details><summary>What this cannot say</summary>"
    yield ""
    for sentence in report.planned:
        yield f"- {plain(sentence, SENTENCE)}"
    for limit in report.limits:
        yield f"- {_said(limit)}"
    for row in report.undefined:
        why = in_english(row.reason) if row.reason else "no reason"
        yield f"- {plain(row.metric.title)} is undefined in {row.n} cases: {plain(why)}"
    yield ""
    yield "</details>"
    yield ""


def _said(fact: Fact) -> str:
    """A sentence may hold what somebody wrote."""
    return plain(in_english(fact), SENTENCE)
