"""The figures of all rounds as a Markdown table, beside the best peer."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from benchmarks.peers.measuring import Outcome

Results = Mapping[str, list[Outcome]]  # by the name of the system, one a round


class Row(NamedTuple):
    title: str
    name: str  # of the figure
    piece: str  # of the work, to say why there is none
    more_is_better: bool = False
    compared: bool = True


ROWS = (
    Row("fresh start, s", "start s", "start"),
    Row("fresh start, CPU s", "start CPU s", "start"),
    Row("idle, RSS MB", "idle RSS MB", "start"),
    Row("idle, PSS MB", "idle PSS MB", "start"),
    Row("after load, RSS MB", "after load RSS MB", "memory"),
    Row("after load, PSS MB", "after load PSS MB", "memory"),
    Row("import, CPU s", "import CPU s", "import"),
    Row("import, s", "import s", "import"),
    Row("import by command, CPU s", "import by command CPU s", "import by command"),
    Row("submit, CPU ms until answered", "submit until answered CPU ms", "turn"),
    Row("submit, CPU ms with what follows", "submit, 1 client CPU ms", "submit"),
    Row("submit, 1 client, p50 ms", "submit, 1 client p50 ms", "submit"),
    Row("submit, 8 clients, /s", "submit, 8 clients /s", "submit", more_is_better=True),
    Row("submit, 8 clients, p95 ms", "submit, 8 clients p95 ms", "submit"),
    Row("turn, 8 clients, /s", "turn, 8 clients /s", "turn", more_is_better=True),
    Row("turn, 8 clients, p95 ms", "turn, 8 clients p95 ms", "turn"),
    Row(
        "turn with page, 8 clients, /s", "turn with page, 8 clients /s", "turn", more_is_better=True
    ),
    Row("next, CPU ms", "next CPU ms", "turn"),
    Row("list of 100, CPU ms", "list of 100 CPU ms", "list of 100"),
    Row("list of 100, ms", "list of 100 ms", "list of 100"),
    Row("export, CPU s", "export CPU s", "export"),
    Row("export, s", "export s", "export"),
    Row("export, MB", "export MB", "export", compared=False),
    Row("agreement, CPU s", "agreement CPU s", "agreement"),
    Row("agreement, s", "agreement s", "agreement"),
    Row("answers accepted", "accepted", "counts", compared=False),
    Row("of them doubled", "doubled", "counts", compared=False),
    Row("of them lost", "lost", "counts", compared=False),
    Row("requests refused by an error", "errors", "counts", compared=False),
)


def table(results: Results, ours: Iterable[str]) -> str:
    own, peers = list(ours), [name for name in results if name not in set(ours)]
    head = ["figure", *own, *peers, "ours to best peer"]
    rows = [head, ["---"] * len(head)]
    rows += [_cells(row, results, own, peers) for row in ROWS]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _cells(row: Row, results: Results, own: list[str], peers: list[str]) -> list[str]:
    ours = _middles(row, results, own)
    theirs = _middles(row, results, peers)
    best = max if row.more_is_better else min
    beside = _ratio(row, best(ours), best(theirs)) if row.compared and ours and theirs else "–"
    systems = [_cell(row, results[name]) for name in (*own, *peers)]
    return [row.title, *systems, beside]


def _middles(row: Row, results: Results, names: list[str]) -> list[float]:
    values = [_values(row, results[name]) for name in names]
    return [statistics.median(each) for each in values if each]


def _values(row: Row, outcomes: list[Outcome]) -> list[float]:
    return [o.figures[row.name] for o in outcomes if row.name in o.figures]


def _cell(row: Row, outcomes: list[Outcome]) -> str:
    """The middle of the rounds, and the smallest and the largest if they differ."""
    values = _values(row, outcomes)
    if not values:
        reasons = [o.reasons[row.piece] for o in outcomes if row.piece in o.reasons]
        return reasons[0].replace("|", "/")[:80] if reasons else "–"
    low, middle, high = (_number(f(values)) for f in (min, statistics.median, max))
    return middle if low == high else f"{middle} ({low}–{high})"


def _ratio(row: Row, ours: float, best: float) -> str:
    """In words of what is better, because some figures are better large."""
    if min(ours, best) <= 0:
        return "–"
    factor = ours / best if row.more_is_better else best / ours
    return f"{factor:.1f} × better" if factor >= 1 else f"{1 / factor:.1f} × worse"


def _number(value: float) -> str:
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
