"""Which labels of two people mean the same, by what the entry of their layer says.

References must be in common terms before (:mod:`labeling.agreement.matching.references`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from operator import eq
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labeling.agreement.matching.matching import (
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
    same_actor,
    same_table,
    span_overlap,
    texts_to_prime,
)
from labeling.agreement.matching.similarity import Ruler
from labeling.schema import LAYERS, compared_fields, span_fields
from labeling.schema.forms import FormField
from labeling.schema.layers import SameKey, SameRecord, SameSpan, SameText
from labeling.schema.sameness import bare


class Rules(NamedTuple):
    """What matching depends on in addition to the labels."""

    ruler: Ruler
    synonyms: Synonyms = DEFAULT_SYNONYMS
    threshold: float = THRESHOLD


def match_labels(
    layer: str, left: Sequence[Record], right: Sequence[Record], rules: Rules
) -> list[Match]:
    """One-to-one matches between two people's labels of a layer.

    As many as possible; of those, the most similar in total. Symmetric in number and total.
    """
    match LAYERS[layer].matching:
        case SameRecord():
            return match_requirements(left, right, **rules._asdict())
        case SameText() as same:
            return _by_text(left, right, same, rules)
        case SameKey() as same:
            return _by_key(left, right, same, span_fields(layer))
        case SameSpan():
            return match_events(left, right)


def text_of(layer: str, label: Record) -> str:
    """The text by which labels of the layer are compared; empty where they have none."""
    if LAYERS[layer].has_records:
        return requirement_text(label)
    return str(label.get(_text_field(layer)) or "")


def texts_of(layer: str, labels: Iterable[Record]) -> Iterator[str]:
    """Every text that settling these labels compares, to be encoded in one batch."""
    every = list(labels)
    if LAYERS[layer].has_records:
        yield from texts_to_prime(every)
    elif _text_field(layer):
        yield from (text_of(layer, label) for label in every)
    yield from (
        str(label[name]) for name in _other_texts(layer) for label in every if label.get(name)
    )


@cache
def _other_texts(layer: str) -> tuple[str, ...]:
    """Texts that are compared once labels are matched."""
    return tuple(
        field["name"]
        for field in compared_fields(layer)
        if field["widget"] in ("text", "textarea")
        and field["name"] not in {*_matched_by(layer), "actor"}
    )


def _text_field(layer: str) -> str:
    match LAYERS[layer].matching:
        case SameText(field=name) | SameKey(text=name):
            return name
    return ""


def centrality(layer: str, labels: Sequence[Record], rules: Rules) -> NDArray[np.float64]:
    """How near each label is to the others, in total: by text, else by their words."""
    matching = LAYERS[layer].matching
    if isinstance(matching, SameSpan):
        name = matching.span
        table = [[span_overlap(a.get(name), b.get(name)) for b in labels] for a in labels]
        return np.asarray(np.array(table, dtype=np.float64).sum(axis=1).round(6))
    if not LAYERS[layer].has_records and not _text_field(layer):
        return np.zeros(len(labels))
    texts = [text_of(layer, label) for label in labels]
    return np.asarray(rules.ruler.similarities(texts, texts).sum(axis=1).round(6))


SAME_CRITERION = 0.80
"""Two acceptance criteria say the same if their similarity is strictly greater."""


def match_parts(kind: str, left: Sequence[Any], right: Sequence[Any], rules: Rules) -> list[Match]:
    """Phases that share evidence; arguments of one role whose words overlap; criteria that say
    the same; equal messages and references.
    """
    if kind == "lines":
        similarities = _alike(left, right, rules)
        return assign_unordered(left, right, similarities, similarities > SAME_CRITERION)
    likeness = _LIKENESS.get(kind, eq)
    table = np.array([[likeness(a, b) for b in right] for a in left], dtype=np.float64)
    similarities = table.reshape(len(left), len(right)).round(6)
    return assign_unordered(left, right, similarities, similarities > 0)


def sameness(layer: str, field: FormField, rules: Rules) -> Callable[[Any, Any], bool]:
    """Whether two values of a field say the same.

    Texts by which labels are matched are similar already; of other texts it is asked. A text with
    other numbers says something else. Everything that is no text must be equal.
    """
    name = field["name"]
    if field["widget"] not in ("text", "textarea"):
        return lambda a, b: bool(bare(name, a) == bare(name, b))
    if LAYERS[layer].has_records and name == "actor":
        return lambda a, b: a == b or same_actor(a, b, rules.synonyms)
    if name in _matched_by(layer):
        return lambda a, b: not _other_numbers(a, b)
    return lambda a, b: _same_text(a, b, rules)


@cache
def _matched_by(layer: str) -> frozenset[str]:
    """The texts by which labels of the layer are matched."""
    if LAYERS[layer].has_records:
        return frozenset({"title", "action"})
    return frozenset({_text_field(layer)})


def _same_text(a: str | None, b: str | None, rules: Rules) -> bool:
    first, second = (" ".join((text or "").casefold().split()) for text in (a, b))
    if first == second or not first or not second:
        return first == second
    return bool(_alike([str(a)], [str(b)], rules)[0, 0] > rules.threshold)


def _alike(left: Sequence[str], right: Sequence[str], rules: Rules) -> NDArray[np.float64]:
    """How similar texts are; those with other numbers are not."""
    similarities = rules.ruler.similarities(left, right)
    others = [[_other_numbers(a, b) for b in right] for a in left]
    return np.where(np.array(others, dtype=bool).reshape(similarities.shape), 0.0, similarities)


def _other_numbers(a: str | None, b: str | None) -> bool:
    """
    Examples
    --------
    >>> _other_numbers("after 3 tries", "after 5 tries"), _other_numbers("3 tries", "three tries")
    (True, False)
    """
    first, second = (set(_NUMBERS.findall(text or "")) for text in (a, b))
    return bool(first and second and first != second)


_NUMBERS = re.compile(r"\d+(?:[.,:]\d+)*")


def _by_text(
    left: Sequence[Record], right: Sequence[Record], same: SameText, rules: Rules
) -> list[Match]:
    texts = [[str(label.get(same.field) or "") for label in side] for side in (left, right)]
    similarities = rules.ruler.similarities(*texts)
    return assign_unordered(
        left,
        right,
        similarities,
        similarities > rules.threshold,
        prefer=lambda i, j: overlap(left[i].get(same.cites), right[j].get(same.cites)),
    )


def _by_key(
    left: Sequence[Record], right: Sequence[Record], same: SameKey, spans: Collection[str]
) -> list[Match]:
    """A multiset: two equal labels need two partners."""
    keys = [
        [tuple(label.get(name) for name in same.fields) for label in side] for side in (left, right)
    ]
    table = same_table(*keys)
    return assign_unordered(
        left,
        right,
        table.astype(np.float64),
        table,
        prefer=lambda i, j: _likeness(left[i], right[j], same.prefer, spans),
    )


def _likeness(a: Record, b: Record, fields: Sequence[str], spans: Collection[str]) -> float:
    """Mean over these fields: words by their overlap, all else by being equal; 1 without any."""
    parts = [
        span_overlap(a.get(name), b.get(name)) if name in spans else a.get(name) == b.get(name)
        for name in fields
    ]
    return sum(map(float, parts)) / len(parts) if parts else 1.0


def _phase_overlap(a: Record, b: Record) -> float:
    if not a.get("evidence") and not b.get("evidence"):
        return 0.0
    return overlap(a.get("evidence"), b.get("evidence"))


def _argument_overlap(a: Record, b: Record) -> float:
    return span_overlap(a.get("span"), b.get("span")) if a.get("role") == b.get("role") else 0.0


_LIKENESS: dict[str, Callable[[Any, Any], float]] = {
    "phases": _phase_overlap,
    "arguments": _argument_overlap,
}
