"""How well the returned messages meet the messages that prove an answer.

``E`` is the set of expected localIds and ``R`` that of the returned ones; a localId is the 1-based
position of a message in the whole conversation. The definitions are in
templates/docs/metrics.md, "Questions with evidence". All figures are in [0, 1] and higher is
better unless the registry says otherwise.

Each figure that a random answer may score has its chance level: what as many different messages,
drawn at random from the conversation, are expected to reach. Messages that do not exist are not
part of an answer's size. All chance levels are exact.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Literal

import numpy as np

from evaluation.metrics.chance import missed, over_chance
from evaluation.metrics.metric import Share, Value
from labeling.domain.facts import Fact

FUZZY_DISTANCE = 3
"""A returned message counts for an expected one this many messages away."""

NOTHING_RETURNED = Fact("metric.nothing_returned")
CHANCE_REACHES_ALL = Fact("metric.chance_reaches_all")
NO_TIMES = Fact("metric.no_times")


@dataclass(frozen=True, slots=True)
class ReturnedEvidence:
    """What a memory pipeline returned for one question, duplicates left as they came.

    ``shown`` are the ids that the generator could choose from, ``None`` if it does not say;
    ``accepted`` says for each phase whether a model verified it, ``None`` without a model.
    """

    evidence: Sequence[int]
    phases: Sequence[Sequence[int]] = ()
    ranked: Sequence[int] | None = None
    shown: Collection[int] | None = None
    accepted: Sequence[bool] | None = None

    @property
    def spans(self) -> Sequence[Sequence[int]]:
        """The phases; a plain answer is one phase."""
        return self.phases or ([self.evidence] if self.evidence else [])


@dataclass(frozen=True, slots=True)
class Corpus:
    """The conversation: how many messages it has, and when each was sent (seconds), if known."""

    size: int
    times: Mapping[int, float] = field(default_factory=dict)

    def holds(self, local_id: int) -> bool:
        return 1 <= local_id <= self.size

    def existing(self, ids: Collection[int]) -> int:
        """How many different messages the ids name: the size of a random answer."""
        return sum(self.holds(local_id) for local_id in set(ids))


def score_evidence(
    expected: Collection[int], answer: ReturnedEvidence, corpus: Corpus
) -> dict[str, Value]:
    """All evidence metrics of one question.

    Parameters
    ----------
    expected
        E, without what does not resolve; must not be empty, because such a case is not scorable.
    answer, corpus
        What was returned, and for which conversation.

    Returns
    -------
    dict of Value
        By metric id. ``evidence_precision``, ``groundedness`` and ``hallucinated_id_rate`` are
        undefined when nothing was returned, ``timeline_coverage`` when an expected message has
        no time, ``fuzzy_recall_corrected`` when chance alone would reach 1. Values of metrics that
        declare a chance level carry it.

    Raises
    ------
    ValueError
        If E is empty or names a message that does not exist.

    Examples
    --------
    >>> result = score_evidence({4, 14}, ReturnedEvidence([4, 28]), Corpus(30))
    >>> result["evidence_recall"].value, result["evidence_precision"].value
    (0.5, 0.5)
    """
    _check(expected, corpus)
    wanted, returned = set(expected), set(answer.evidence)
    return {
        "evidence_recall": recall(wanted, returned, corpus),
        **_fuzzy(wanted, returned, corpus),
        "evidence_precision": precision(wanted, returned, corpus),
        "timeline_coverage": timeline_coverage(wanted, answer.spans, corpus),
        "groundedness": groundedness(answer, corpus),
        "hallucinated_id_rate": hallucinated_id_rate(answer.evidence, corpus),
    }


def recall(wanted: set[int], returned: set[int], corpus: Corpus) -> Value:
    """|R∩E|/|E|; by chance b/n for b of n messages."""
    returned_gold = sorted(wanted & returned)
    detail = {"expected": sorted(wanted), "returned": sorted(returned), "found": returned_gold}
    chance = corpus.existing(returned) / corpus.size
    return Value(len(returned_gold) / len(wanted), detail=detail, chance=chance)


def precision(wanted: set[int], returned: set[int], corpus: Corpus) -> Value:
    """|R∩E|/|R|; nothing returned is not precise, it is undefined. By chance |E|/n."""
    if not returned:
        return Value(None, NOTHING_RETURNED)
    chance = len(wanted) / corpus.size if corpus.existing(returned) else 0.0
    return Value(len(wanted & returned) / len(returned), chance=chance)


def fuzzy_recall(wanted: Collection[int], returned: Collection[int]) -> float:
    """Share of E with a returned message at most three messages away.

    Examples
    --------
    >>> fuzzy_recall({4}, {6})
    1.0
    """
    near = [any(abs(expected - id_) <= FUZZY_DISTANCE for id_ in returned) for expected in wanted]
    return sum(near) / len(near)


def fuzzy_chance(wanted: Collection[int], budget: int, size: int) -> float:
    """The fuzzy recall to be expected of ``budget`` different messages drawn at random.

    An expected message is missed if all of them fall outside its window, which is smaller at
    either end of the conversation: C(n − w, b)/C(n, b) for a window of w messages.

    Examples
    --------
    >>> fuzzy_chance({5}, budget=1, size=10)
    0.7
    """
    none = missed(size, min(budget, size))
    windows = [
        min(size, expected + FUZZY_DISTANCE) - max(1, expected - FUZZY_DISTANCE) + 1
        for expected in wanted
    ]
    return 1 - fsum(none[windows]) / len(windows)


def timeline_coverage(
    wanted: Collection[int], spans: Sequence[Sequence[int]], corpus: Corpus
) -> Value:
    """How much of the time from the first to the last expected message the phases cover.

    A phase covers the time from its first to its last message that exists and has a time. If all
    expected messages have one time, the value is 1 if some phase covers that moment, else 0.
    """
    if any(expected not in corpus.times for expected in wanted):
        return Value(None, NO_TIMES)
    moments = [corpus.times[expected] for expected in wanted]
    start, end = min(moments), max(moments)
    covered = _merged([span for ids in spans if (span := _span(ids, corpus)) is not None])
    chance = timeline_chance(start, end, [corpus.existing(ids) for ids in spans], corpus)
    if start == end:
        return Value(float(any(low <= start <= high for low, high in covered)), chance=chance)
    inside = [max(0.0, min(high, end) - max(low, start)) for low, high in covered]
    return Value(min(1.0, fsum(inside) / (end - start)), chance=chance)


def timeline_chance(start: float, end: float, sizes: Sequence[int], corpus: Corpus) -> float:
    """The coverage of the time from ``start`` to ``end`` to be expected of random phases.

    A phase leaves a moment uncovered if none of its messages was sent up to then, or none from
    then on; both, if none of its messages has a time. Phases are drawn independently of each
    other. Between two messages that follow each other the probability is the same at each
    moment, so the coverage is a sum over these gaps.

    Examples
    --------
    Two of three messages span the whole time in one of three draws, else one half of it.

    >>> corpus = Corpus(3, {1: 0.0, 2: 10.0, 3: 20.0})
    >>> round(timeline_chance(0.0, 20.0, [2], corpus), 3)
    0.667
    """
    moments = np.sort(np.fromiter(corpus.times.values(), dtype=np.float64))
    if start == end:
        parts, lengths = np.array([start]), np.ones(1)
    else:
        inside = moments[(start <= moments) & (moments <= end)]
        parts, lengths = inside[:-1], np.diff(inside) / (end - start)
    until = np.searchsorted(moments, parts, side="right")
    side: Literal["left", "right"] = "left" if start == end else "right"
    since = len(moments) - np.searchsorted(moments, parts, side=side)
    uncovered = np.ones(len(parts))
    for drawn in sizes:
        none = missed(corpus.size, drawn)
        uncovered *= none[until] + none[since] - none[len(moments)]
    return float((lengths * (1 - uncovered)).sum())


def groundedness(answer: ReturnedEvidence, corpus: Corpus) -> Value:
    """Share of phases whose ids all exist and were shown to the generator that chose them.

    The detail's ``basis`` says who verified: ``judge`` if a model accepted or refused each
    phase, else ``existence``.
    """
    phases = answer.spans
    if not phases:
        return Value(None, NOTHING_RETURNED)
    accepted = answer.accepted if answer.accepted is not None else [True] * len(phases)
    grounded = [
        ok and bool(ids) and all(_is_shown(id_, answer, corpus) for id_ in ids)
        for ids, ok in zip(phases, accepted, strict=True)
    ]
    by_judge = answer.accepted is not None
    detail = {"basis": "judge" if by_judge else "existence", "phases": len(phases)}
    chance = None if by_judge else groundedness_chance(answer, corpus)
    return Value(sum(grounded) / len(grounded), detail=detail, chance=chance)


def groundedness_chance(answer: ReturnedEvidence, corpus: Corpus) -> float:
    """The share of random phases whose messages were all shown: C(s, b)/C(n, b) each.

    1 where everything was shown. What a judge would say of a random phase is not known, so there
    is no chance level if a judge verified them.

    Examples
    --------
    >>> groundedness_chance(ReturnedEvidence([1, 2], shown={1, 2, 3}), Corpus(4))
    0.5
    """
    shown = corpus.size if answer.shown is None else corpus.existing(answer.shown)
    sizes = [corpus.existing(ids) for ids in answer.spans]
    hidden = corpus.size - shown
    phases = [float(missed(corpus.size, drawn)[hidden]) if drawn else 0.0 for drawn in sizes]
    return fsum(phases) / len(phases)


def hallucinated_id_rate(returned: Sequence[int], corpus: Corpus) -> Value:
    """Share of the returned ids that no message has; lower is better."""
    ids = set(returned)
    if not ids:
        return Value(None, NOTHING_RETURNED)
    invented = sorted(id_ for id_ in ids if not corpus.holds(id_))
    return Value(len(invented) / len(ids), detail={"invented": invented})


def _fuzzy(wanted: set[int], returned: set[int], corpus: Corpus) -> dict[str, Value]:
    """With the chance of as many messages, because real chats make fuzzy recall easy."""
    real = [id_ for id_ in returned if corpus.holds(id_)]
    fuzzy, chance = fuzzy_recall(wanted, real), fuzzy_chance(wanted, len(real), corpus.size)
    return {
        "fuzzy_recall": Value(fuzzy, chance=chance),
        "fuzzy_recall_chance": Value(chance),
        "fuzzy_recall_corrected": _corrected(fuzzy, chance),
    }


def _corrected(fuzzy: float, chance: float) -> Value:
    """A run's figure is the ratio of the sums, as for every other metric over chance."""
    corrected = over_chance(fuzzy, chance)
    if corrected is None:
        return Value(None, CHANCE_REACHES_ALL)
    return Value(corrected, share=Share(fuzzy - chance, 1 - chance))


def _span(ids: Sequence[int], corpus: Corpus) -> tuple[float, float] | None:
    moments = [corpus.times[id_] for id_ in ids if id_ in corpus.times]
    return (min(moments), max(moments)) if moments else None


def _merged(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The union as spans that do not overlap."""
    merged: list[tuple[float, float]] = []
    for low, high in sorted(spans):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def _is_shown(local_id: int, answer: ReturnedEvidence, corpus: Corpus) -> bool:
    return corpus.holds(local_id) and (answer.shown is None or local_id in answer.shown)


def _check(expected: Collection[int], corpus: Corpus) -> None:
    if not expected:
        raise ValueError("score_evidence: without expected evidence a case is not scorable")
    beyond = [id_ for id_ in expected if not corpus.holds(id_)]
    if beyond:
        raise ValueError(f"score_evidence: expected message {beyond[0]} of {corpus.size}")
