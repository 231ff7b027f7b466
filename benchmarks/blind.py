"""Requirements of several sources, judged by people who do not know which source is which.

A sheet shows each requirement with the messages that it cites and those around them, and hides
what would tell its source: id, rationale, confidence. What judges write comes back as CSV with the
columns ``item`` and ``verdict``.
"""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np

from labeling.agreement.rules.agreement import agreement as agreed
from labeling.agreement.rules.kappa import weighted_kappa
from labeling.domain.uncertainty import Estimate, ratio

VERDICTS = {"useless": 0, "repairable": 1, "usable": 2}
AROUND = 1
"""Messages shown before and after each one that is cited."""

LONGEST = 1500
"""Characters of a message that are shown."""

QUESTION = """\
Say of each requirement what you would do with it in a specification, as the talk stands at its end:

- **usable**: keep it as it is, or change a word
- **repairable**: it is wanted, and what is meant can be seen, but it has to be written again
- **useless**: nobody wants it (or no longer), it says nothing, or nobody can tell what it means

A requirement may quote the talk word for word; judge it by the same question."""

Requirement = Mapping[str, Any]
Outputs = Mapping[str, Sequence[Requirement]]
Talk = Sequence[Mapping[str, str]]


class Item(TypedDict):
    """One requirement of the sheet, and every source that it was drawn from."""

    item: int
    group: str
    conversation: str
    sources: list[str]
    requirement: dict[str, Any]


class Share(NamedTuple):
    group: str
    source: str
    verdict: str
    share: Estimate
    requirements: int


class Judges(NamedTuple):
    """Two judges: the share of equal verdicts, Cohen's κ, and κ with quadratic weights."""

    first: str
    second: str
    items: int
    equal: float
    kappa: float | None
    weighted: float | None


def draw(
    sources: Mapping[str, Outputs], size: int, seed: int, *, groups: Mapping[str, str]
) -> list[Item]:
    """About ``size`` requirements, of each source and group of conversations as many, shuffled.

    A source that has fewer gives all it has, and the others give more. What is drawn from two
    sources in the same words is one item of both; a source that it was not drawn from does not
    count it, or its sample would lean to what it has in common with others. ``groups`` names the
    group of each conversation.
    """
    generator = random.Random(seed)
    stock = {
        (group, source): _shuffled(outputs, generator, group, groups)
        for group in sorted(set(groups.values()))
        for source, outputs in sorted(sources.items())
    }
    drawn: dict[tuple[str, ...], Item] = {}
    while len(drawn) < size and any(stock.values()):
        for (group, source), rows in stock.items():
            if rows and len(drawn) < size:
                conversation, requirement = rows.pop()
                item = drawn.setdefault(
                    _said(conversation, requirement),
                    Item(
                        item=0,
                        group=group,
                        conversation=conversation,
                        sources=[],
                        requirement=requirement,
                    ),
                )
                if source not in item["sources"]:
                    item["sources"].append(source)
    items = list(drawn.values())
    generator.shuffle(items)
    for number, item in enumerate(items, start=1):
        item["item"] = number
    return items


def _shuffled(
    outputs: Outputs, generator: random.Random, group: str, groups: Mapping[str, str]
) -> list[tuple[str, dict[str, Any]]]:
    rows = [
        (conversation, dict(requirement))
        for conversation, requirements in sorted(outputs.items())
        if groups.get(conversation) == group
        for requirement in requirements
    ]
    generator.shuffle(rows)
    return rows


def _said(conversation: str, requirement: Requirement) -> tuple[str, ...]:
    fields = ("title", "action", "condition", "actor", "acceptance_criteria", "source_messages")
    return (conversation, *(repr(requirement.get(field)) for field in fields))


def sheet(items: Iterable[Item], talks: Mapping[str, Talk]) -> str:
    """The sheet as Markdown; nothing in it names a source."""
    parts = ["# Requirements to judge", QUESTION]
    for item in items:
        parts.append(f"## {item['item']}")
        parts.append("\n".join(described(item["requirement"])))
        parts.append("\n".join(_quoted(item, talks[item["conversation"]])))
    return "\n\n".join(parts) + "\n"


def described(requirement: Requirement) -> Iterator[str]:
    """The lines of a requirement; without what tells who wrote it."""
    yield f"**{plain(requirement.get('title'))}** ({plain(requirement.get('type'))})  "
    yield f"{plain(requirement.get('actor'))}: {plain(requirement.get('action'))}  "
    if requirement.get("condition"):
        yield f"Condition: {plain(requirement['condition'])}  "
    for criterion in requirement.get("acceptance_criteria") or []:
        yield f"- {plain(criterion)}"


def _quoted(item: Item, talk: Talk) -> Iterator[str]:
    cited = set(item["requirement"].get("source_messages") or [])
    shown = {at for cite in cited for at in range(cite - AROUND, cite + AROUND + 1)}
    before = None
    for at in sorted(shown & set(range(len(talk)))):
        if before is not None and at > before + 1:
            yield "> …  "
        before = at
        words = plain(talk[at]["content"])
        cut = words if len(words) <= LONGEST else f"{words[:LONGEST]} …"
        number = f"**{at}**" if at in cited else f"{at}"
        yield f"> {number} {plain(talk[at]['role'])}: {cut}  "


def plain(text: Any) -> str:
    """On one line, with what Markdown would take for markup escaped."""
    words = " ".join(str(text or "").split())
    return "".join(f"\\{letter}" if letter in "\\`*_<>[]#|" else letter for letter in words)


def read_verdicts(path: Path, items: Sequence[Item]) -> dict[int, str]:
    """What one judge wrote; every item needs exactly one known verdict."""
    verdicts: dict[int, str] = {}
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            number, verdict = int(row["item"]), row["verdict"].strip().lower()
            if verdict not in VERDICTS:
                raise ValueError(f"{path.name}, item {number}: {verdict!r} is not a verdict")
            if number in verdicts:
                raise ValueError(f"{path.name}: item {number} is judged twice")
            verdicts[number] = verdict
    wanted = {item["item"] for item in items}
    if wrong := sorted(wanted ^ verdicts.keys()):
        raise ValueError(f"{path.name}: not judged, or not on the sheet: {wrong}")
    return verdicts


def shares(items: Sequence[Item], judges: Sequence[Mapping[int, str]]) -> Iterator[Share]:
    """Of each group and source the share of each verdict, over all judges, with its interval.

    The conversation is the independent unit, so the verdicts of two judges on one requirement do
    not count as two requirements.
    """
    drawn = sorted({(item["group"], source) for item in items for source in item["sources"]})
    for group, source in drawn:
        own = [item for item in items if item["group"] == group and source in item["sources"]]
        talks = sorted({item["conversation"] for item in own})
        for verdict in reversed(VERDICTS):
            totals = np.zeros((len(talks), 2))
            for item in own:
                verdicts = Counter(judge[item["item"]] for judge in judges)
                totals[talks.index(item["conversation"])] += verdicts[verdict] / len(judges), 1
            share = ratio(totals)
            if share is not None:
                yield Share(group, source, verdict, share, len(own))


def agreement(judges: Mapping[str, Mapping[int, str]]) -> Iterator[Judges]:
    for first, second in combinations(judges, 2):
        pairs = [(judges[first][item], judges[second][item]) for item in judges[first]]
        scores = [(VERDICTS[a], VERDICTS[b]) for a, b in pairs]
        left, right = [[pair[side] for pair in scores] for side in (0, 1)]
        equal = sum(a == b for a, b in pairs) / len(pairs)
        [pair] = agreed({first: {"": left}, second: {"": right}}).pairs
        yield Judges(first, second, len(pairs), equal, pair.kappa, weighted_kappa(left, right))
