"""Agreement of what people submitted in one round, layer by layer.

It is computed from what each conversation adds, which a worker has measured. Nothing is stored here
and no page calls it: :mod:`labeling.agreement.measurements` keeps what a worker computed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict, cast

from django.db.models import Q, Sum

from labeling.agreement import conversations
from labeling.agreement.conversations import Added
from labeling.agreement.rules.agreement import (
    Agreement,
    Excluded,
    Outcome,
    Statistic,
    outcome_of,
    without_use,
)
from labeling.agreement.rules.agreement import agreement as compute
from labeling.agreement.rules.records import (
    PairCounts,
    RecordAgreement,
    judged_by_content,
    summed_events,
    summed_records,
)
from labeling.domain.facts import Fact
from labeling.domain.stored import Stored
from labeling.models import Annotation, Assignment, FirstPass, Measurement, Project, Round
from labeling.schema import LAYERS
from labeling.schema.layers import Judged, SameRecord

TYPED = "typed"
"""Labels of people's own hand: none that they took over from a suggestion."""

OF_TYPED = (
    "statistic", "value", "measure", "pairs", "fleiss_kappa", "krippendorff_alpha", "reasons",
)  # fmt: skip


def measure(measured: Round, layer: str) -> Measurement:
    """Agreement of a round on one layer, from what each conversation adds.

    Where annotators have seen suggestions, the figures of typed labels are given separately, too.
    What conversations add must be up to date, see :func:`origins_in`.
    """
    added = conversations.each(measured, layer)
    figures = _figures(measured, layer, added)
    figures, records = _judged(layer, added, figures, measured.label_f1_threshold)
    if is_assisted(measured):
        figures = replace(figures, by_origin={TYPED: _of_typed(measured, layer)})
    splits = conversations.rows_of(measured, layer).aggregate(n=Sum("n_splits"))
    return Measurement(
        round=measured,
        layer=layer,
        figures=figures.as_json(),
        records=None if records is None else [pair.as_json() for pair in records],
        n_compared=sum(len(each.annotators) > 1 for each in added),
        n_splits=splits["n"] or 0,
    )


def _judged(
    layer: str, added: Sequence[Added], figures: Agreement, label_f1_threshold: float
) -> tuple[Agreement, list[RecordAgreement] | None]:
    """By the content of the labels, too; and whether anybody has used the layer."""
    records = _records(layer, added) if LAYERS[layer].has_records else None
    if records is not None:
        figures = judged_by_content(figures, records, layer, threshold=label_f1_threshold)
    if figures.value is None and not _is_used(added):
        figures = without_use(figures)
    return figures, records


def origins_in(measured: Round) -> list[str]:
    """Which labels are compared: all, and the typed ones where people saw suggestions."""
    return ["", TYPED] if is_assisted(measured) else [""]


def _is_used(added: Sequence[Added]) -> bool:
    """Whether a label of the layer is among the answers, or there are no answers to compare."""
    several = len({who for each in added for who in each.annotators}) > 1
    return not several or any(each.is_used for each in added)


def _of_typed(measured: Round, layer: str) -> Stored:
    """The figures of typed labels; the gate does not look at them."""
    added = conversations.each(measured, layer, TYPED)
    figures = _compared(layer, added, bar(measured), excluded_answers(measured)).as_json()
    return {name: figures[name] for name in OF_TYPED}


def is_assisted(measured: Round) -> bool:
    """Whether somebody has seen suggestions before they submitted."""
    seen = FirstPass.objects.filter(
        assignment__round=measured, assignment__purpose=Assignment.Purpose.LABELING
    )
    return seen.filter(assignment__annotation__status=Annotation.Status.SUBMITTED).exists()


def _figures(measured: Round, layer: str, added: Sequence[Added]) -> Agreement:
    result = _compared(layer, added, bar(measured), excluded_answers(measured))
    if not LAYERS[layer].has_units:
        return result
    return replace(result, excluded=[*result.excluded, *_missing(added, layer)])


def _compared(
    layer: str, added: Sequence[Added], rules: Bar, excluded: Mapping[str, Mapping[str, Fact]]
) -> Agreement:
    if not LAYERS[layer].has_units:
        submitted = _conversations_of(added)
        return summed_events(submitted, _counts(added), excluded=excluded, **rules)
    ratings: dict[str, dict[str, Sequence[Hashable]]] = defaultdict(dict)
    for each in added:
        for who, labels in each.labels.items():
            ratings[who][each.name] = labels
    return compute(ratings, level=LAYERS[layer].level, excluded=excluded, **rules)


def _records(layer: str, added: Sequence[Added]) -> list[RecordAgreement]:
    matching = LAYERS[layer].matching
    return summed_records(
        _conversations_of(added),
        _counts(added),
        (each.name for each in added),
        has_sources=isinstance(matching, SameRecord) and matching.cites,
    )


def _counts(added: Iterable[Added]) -> dict[tuple[str, str], dict[str, PairCounts]]:
    counts: dict[tuple[str, str], dict[str, PairCounts]] = defaultdict(dict)
    for each in added:
        for people, of_pair in each.pairs.items():
            counts[people][each.name] = of_pair
    return counts


def _conversations_of(added: Iterable[Added]) -> dict[str, list[str]]:
    """By annotator, what they submitted."""
    submitted: dict[str, list[str]] = defaultdict(list)
    for each in added:
        for who in each.annotators:
            submitted[who].append(each.name)
    return submitted


class Bar(TypedDict):
    """What κ is compared with, and which κ of the pairs."""

    threshold: float
    statistic: Statistic


def bar(measured: Round) -> Bar:
    """The bar for κ: a closed calibration round keeps the one that it was compared with."""
    project = measured.project
    stored = measured.agreement if measured.kind == Round.Kind.CALIBRATION else None
    if stored and not measured.is_blind:
        return {"threshold": stored["threshold"], "statistic": stored["statistic"]}
    statistic = cast(Statistic, project.kappa_statistic)
    return {"threshold": project.kappa_threshold, "statistic": statistic}


def summary(layers: Mapping[str, Stored]) -> Stored:
    """The figures of several layers, and the figure of the gate: the lowest of them.

    The gate holds only if each layer that somebody used passes; one without a figure is the lowest.
    A layer that nobody used is not measured: it neither passes nor fails the others.
    """
    measured = {
        layer: figures for layer, figures in layers.items() if outcome_of(figures) != "not_measured"
    }
    looked_at = measured or layers
    lowest = min(
        looked_at,
        key=lambda layer: (looked_at[layer]["value"] is not None, looked_at[layer]["value"]),
    )
    passed = bool(measured) and all(figures["passed"] for figures in measured.values())
    figures = layers[lowest]
    if not measured and len(layers) > 1:
        nothing = Fact("agreement.nothing_measured").as_json()
        figures = {**figures, "reasons": {**figures["reasons"], "value": nothing}}
    outcome: Outcome = "passed" if passed else "failed" if measured else "not_measured"
    return {
        **figures,
        "layer": lowest,
        "passed": passed,
        "outcome": outcome,
        "layers": dict(layers),
    }


def first_layer(project: Project) -> str:
    return str(project.layers[0])


def excluded_answers(measured: Round) -> dict[str, dict[str, Fact]]:
    """Why an assignment does not count: skipped with a reason, or unfinished."""
    reasons: dict[str, dict[str, Fact]] = defaultdict(dict)
    out = ~Q(annotation__status=Annotation.Status.SUBMITTED)
    rows = conversations.assignments_of(measured).filter(out)
    for annotator, conversation, why in rows.values_list(
        "annotator__username", "conversation__external_id", "annotation__skip_reason"
    ):
        reason = Fact("agreement.skipped", why=why) if why else Fact("agreement.not_submitted")
        reasons[annotator][conversation] = reason
    return dict(reasons)


def _missing(added: Sequence[Added], layer: str) -> list[Excluded]:
    """The units that somebody did not judge, mostly because they lack that requirement."""
    unit = LAYERS[layer].units
    is_rated = isinstance(unit, Judged) and bool(unit.value)
    code = "agreement.label_not_rated" if is_rated else "agreement.requirement_missing"
    return [
        Excluded(each.name, annotator, Fact(code, name=name))
        for each in added
        for annotator, labels in each.labels.items()
        for name, label in zip(each.unit_names, labels, strict=True)
        if label is None
    ]
