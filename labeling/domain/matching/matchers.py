"""Which labels of two people mean the same: one matcher for each layer.

Requirements, stated or inferred, by the matcher that scores pipelines. Issues are the same if they
name the same flaw of the same field of the same requirement; questions and narratives if the
question reads alike; events if type and trigger agree; ratings if they are of the same label.
References have to be in common terms before (:mod:`labeling.domain.matching.references`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labeling.domain.matching.matching import (
    DEFAULT_SYNONYMS,
    THRESHOLD,
    Match,
    Record,
    Synonyms,
    assign_unordered,
    match_events,
    match_requirements,
    overlap,
    requirement_text,
    same_table,
    span_overlap,
    texts_to_prime,
)
from labeling.domain.matching.similarity import Ruler

REQUIREMENTS = frozenset({"extraction", "inference"})


class Rules(NamedTuple):
    """What matching depends on beside the labels."""

    ruler: Ruler
    synonyms: Synonyms = DEFAULT_SYNONYMS
    threshold: float = THRESHOLD


def match_labels(
    layer: str, left: Sequence[Record], right: Sequence[Record], rules: Rules
) -> list[Match]:
    """One-to-one matches between two people's labels of a layer.

    As many as possible; of those, the most similar in total. Symmetric in number and total.
    """
    return _MATCHERS[layer](left, right, rules)


def text_of(layer: str, label: Record) -> str:
    """The text by which labels of the layer are compared; issues by what they say is wrong."""
    if layer in REQUIREMENTS:
        return requirement_text(label)
    return str(label.get("message" if layer == "validation" else "question") or "")


def texts_of(layer: str, labels: Iterable[Record]) -> Iterator[str]:
    """Every text that settling these labels compares, to be encoded in one batch."""
    if layer in REQUIREMENTS:
        yield from texts_to_prime(labels)
    elif layer in ("validation", "qa", "arc"):
        yield from (text_of(layer, label) for label in labels)


def centrality(layer: str, labels: Sequence[Record], rules: Rules) -> NDArray[np.float64]:
    """How near each label is to the others, in total: by text, events by their triggers."""
    if layer == "events":
        table = [[span_overlap(a.get("trigger"), b.get("trigger")) for b in labels] for a in labels]
        return np.asarray(np.array(table, dtype=np.float64).sum(axis=1).round(6))
    if layer == "relevance":
        return np.zeros(len(labels))
    texts = [text_of(layer, label) for label in labels]
    return np.asarray(rules.ruler.similarities(texts, texts).sum(axis=1).round(6))


def issue_key(issue: Record) -> tuple[Any, ...]:
    return issue.get("requirement"), issue.get("issue_type"), issue.get("field")


def match_parts(kind: str, left: Sequence[Record], right: Sequence[Record]) -> list[Match]:
    """Phases that share evidence; arguments of one role whose words overlap."""
    likeness = _phase_overlap if kind == "phases" else _argument_overlap
    table = np.array([[likeness(a, b) for b in right] for a in left], dtype=np.float64)
    similarities = table.reshape(len(left), len(right)).round(6)
    return assign_unordered(left, right, similarities, similarities > 0)


def _requirements(left: Sequence[Record], right: Sequence[Record], rules: Rules) -> list[Match]:
    return match_requirements(left, right, **rules._asdict())


def _issues(left: Sequence[Record], right: Sequence[Record], rules: Rules) -> list[Match]:
    """A multiset: two equal issues need two partners."""
    return _by_key(left, right, issue_key, _issue_likeness)


def _ratings(left: Sequence[Record], right: Sequence[Record], rules: Rules) -> list[Match]:
    return _by_key(left, right, lambda rating: rating.get("target"), lambda a, b: 1.0)


def _events(left: Sequence[Record], right: Sequence[Record], rules: Rules) -> list[Match]:
    return match_events(left, right)


def _questions(left: Sequence[Record], right: Sequence[Record], rules: Rules) -> list[Match]:
    texts = [[str(label.get("question") or "") for label in side] for side in (left, right)]
    similarities = rules.ruler.similarities(*texts)
    return assign_unordered(
        left,
        right,
        similarities,
        similarities > rules.threshold,
        prefer=lambda i, j: overlap(left[i].get("evidence"), right[j].get("evidence")),
    )


def _by_key(
    left: Sequence[Record],
    right: Sequence[Record],
    key: Callable[[Record], Any],
    likeness: Callable[[Record, Record], float],
) -> list[Match]:
    same = same_table([key(label) for label in left], [key(label) for label in right])
    return assign_unordered(
        left,
        right,
        same.astype(np.float64),
        same,
        prefer=lambda i, j: likeness(left[i], right[j]),
    )


def _issue_likeness(a: Record, b: Record) -> float:
    parts = [span_overlap(a.get("span"), b.get("span")), a.get("severity") == b.get("severity")]
    return sum(map(float, [*parts, a.get("message") == b.get("message")])) / 3


def _phase_overlap(a: Record, b: Record) -> float:
    if not a.get("evidence") and not b.get("evidence"):
        return 0.0
    return overlap(a.get("evidence"), b.get("evidence"))


def _argument_overlap(a: Record, b: Record) -> float:
    return span_overlap(a.get("span"), b.get("span")) if a.get("role") == b.get("role") else 0.0


_MATCHERS: dict[str, Callable[[Sequence[Record], Sequence[Record], Rules], list[Match]]] = {
    "extraction": _requirements,
    "inference": _requirements,
    "validation": _issues,
    "qa": _questions,
    "arc": _questions,
    "events": _events,
    "relevance": _ratings,
}
