"""Agreement of what people submitted in one round, layer by layer, computed from the answers.

Nothing is stored here and no page calls it: :mod:`labeling.services.measurements` keeps what a
worker computed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypedDict, cast

from django.db.models import Q

from labeling.domain.agreement.agreement import (
    Agreement,
    AgreementFigures,
    AgreementSummary,
    Excluded,
    OriginFigures,
    Outcome,
    Statistic,
    outcome_of,
    without_use,
)
from labeling.domain.agreement.agreement import agreement as compute
from labeling.domain.agreement.content import content_agreement, judged_by_content
from labeling.domain.agreement.disagreements import (
    Split,
    label_splits,
    splits_of,
    with_candidates,
)
from labeling.domain.agreement.event_agreement import event_agreement
from labeling.domain.agreement.records import RecordAgreement, RecordFigures, record_agreement
from labeling.domain.agreement.units import (
    Base,
    Units,
    judged,
    message_names,
    own_units,
    units,
)
from labeling.domain.agreement.units import marks as marks_in
from labeling.domain.facts import Fact
from labeling.domain.matching.matchers import Rules
from labeling.domain.matching.matching import texts_to_prime
from labeling.domain.matching.similarity import Ruler
from labeling.domain.schema import DEFAULT_LAYER, LAYERS
from labeling.domain.schema.labels import StoredLabel
from labeling.domain.schema.layers import Judged, SameRecord
from labeling.models import Annotation, Assignment, FirstPass, Project, Round
from labeling.services.agreement import answers, marks
from labeling.services.agreement.answers import EVERYTHING, Selection
from labeling.services.projects import synonyms_of

ORIGINS = ("typed", "assisted")
"""Labels of people's own hand, and labels that they took over from a suggestion."""


Labels = dict[str, dict[str, list[StoredLabel]]]  # by annotator and conversation
Ratings = dict[str, dict[str, list[Hashable]]]  # the same


class Comparison(NamedTuple):
    """The units of one conversation with what they were made from.

    ``base`` are the labels that were judged, where the units are about labels.
    """

    units: Units
    base: Base
    payloads: Mapping[str, Mapping[str, Any]]


class LayerAgreement(NamedTuple):
    """Everything measured on one layer of a round.

    ``units`` are empty for events, which have none, and ``records`` None where labels are not
    matched as records. ``counts`` has for each conversation how many people annotated it, how many
    units two of them judged, and how many of these they labelled differently.
    """

    figures: Agreement
    units: dict[str, Units]
    counts: dict[str, tuple[int, int, int]]
    splits: list[Split]
    records: list[RecordFigures] | None


def measure(
    measured: Round, layer: str, *, ruler: Ruler, selection: Selection = EVERYTHING
) -> LayerAgreement:
    """Agreement of a round on one layer, and where it differs.

    Where annotators have seen suggestions, the figures of typed and of assisted labels are given
    separately, too.
    """
    compared = _compared(measured, layer, ruler, selection)
    units = {name: comparison.units for name, comparison in compared.items()}
    figures = _figures(measured, layer, units, selection)
    records = (
        records_of(measured, layer, ruler=ruler, selection=selection)
        if LAYERS[layer].has_records
        else None
    )
    if records is not None:
        content = content_agreement(
            records, threshold=measured.label_f1_threshold, statistic=figures.statistic
        )
        figures = judged_by_content(figures, content, layer)
    if figures.value is None and not _is_used(measured, layer, selection):
        figures = without_use(figures)
    if not selection.origin and is_assisted(measured):
        figures = replace(figures, by_origin=_by_origin(measured, layer, ruler, selection))
    return LayerAgreement(
        figures,
        units,
        {name: _counts(of_conversation) for name, of_conversation in units.items()},
        _splits(measured, layer, compared, ruler, selection),
        None if records is None else [pair.as_json() for pair in records],
    )


def _is_used(measured: Round, layer: str, selection: Selection) -> bool:
    """Whether a label of the layer is among the answers, or there are no answers to compare."""
    several = answers.submitted(measured, selection).values("annotator").distinct().count() > 1
    return not several or any(
        answer.payload.get(LAYERS[layer].key) for answer in answers.each(measured, layer, selection)
    )


def _by_origin(
    measured: Round, layer: str, ruler: Ruler, selection: Selection
) -> dict[str, OriginFigures]:
    """The figures of typed and of assisted labels; the gate looks at neither."""
    figures_of: dict[str, OriginFigures] = {}
    for origin in ORIGINS:
        part = replace(selection, origin=origin)
        compared = _compared(measured, layer, ruler, part)
        units = {name: comparison.units for name, comparison in compared.items()}
        figures = _figures(measured, layer, units, part).as_json()
        figures_of[origin] = {
            "statistic": figures["statistic"],
            "value": figures["value"],
            "measure": figures["measure"],
            "pairs": figures["pairs"],
            "fleiss_kappa": figures["fleiss_kappa"],
            "krippendorff_alpha": figures["krippendorff_alpha"],
            "reasons": figures["reasons"],
        }
    return figures_of


def is_assisted(measured: Round) -> bool:
    """Whether somebody has seen suggestions before they submitted."""
    seen = FirstPass.objects.filter(
        assignment__round=measured, assignment__purpose=Assignment.Purpose.LABELLING
    )
    return seen.filter(assignment__annotation__status=Annotation.Status.SUBMITTED).exists()


def _figures(
    measured: Round, layer: str, units: Mapping[str, Units], selection: Selection
) -> Agreement:
    rules, excluded = bar(measured), excluded_answers(measured, selection)
    if not LAYERS[layer].has_units:
        labels = labels_of(measured, layer, selection)
        return event_agreement(labels, excluded=excluded, **rules)
    ordinal = LAYERS[layer].is_ordinal
    result = compute(ratings_of(units), ordinal=ordinal, excluded=excluded, **rules)
    return replace(result, excluded=[*result.excluded, *_missing(units, layer, selection)])


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


def summary(layers: Mapping[str, AgreementFigures]) -> AgreementSummary:
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


def _counts(units: Units) -> tuple[int, int, int]:
    """Annotators, units that two of them judged, and those that they labelled differently."""
    people = len(units.labels)
    first, *others = units.labels.values()
    if not others or all(labels == first for labels in others):
        return people, len(first) - first.count(None), 0
    columns = list(zip(first, *others, strict=True))
    size = sum(people - labels.count(None) > 1 for labels in columns)
    return people, size, sum(len(set(labels) - {None}) > 1 for labels in columns)


def _splits(
    measured: Round,
    layer: str,
    compared: Mapping[str, Comparison],
    ruler: Ruler,
    selection: Selection,
) -> list[Split]:
    """What people labelled differently, in the order in which conversations were handed out."""
    order = list(measured.places.values_list("conversation__external_id", flat=True))
    if not LAYERS[layer].has_units:
        submitted = answers.by_conversation(answers.each(measured, layer, selection))
        return [
            split
            for name in order
            if name in submitted
            for split in label_splits(layer, name, submitted[name], ruler=ruler)
        ]
    divided = {
        name: splits_of(
            layer, name, compared[name].payloads, compared[name].units, compared[name].base
        )
        for name in order
        if name in compared
    }
    if LAYERS[layer].has_records:
        rules = Rules(ruler, synonyms_of(measured.project), measured.project.match_threshold)
        submitted = answers.by_conversation(answers.each(measured, layer, selection))
        divided = {
            name: with_candidates(
                layer,
                name,
                submitted[name],
                compared[name].units,
                compared[name].base,
                splits,
                rules,
            )
            for name, splits in divided.items()
            if name in submitted
        }
    return [split for splits in divided.values() for split in splits]


def records_of(
    measured: Round, layer: str, *, ruler: Ruler, selection: Selection = EVERYTHING
) -> list[RecordAgreement]:
    labels = labels_of(measured, layer, selection)
    ruler.prime(texts_to_prime(_every(labels)))
    project, matching = measured.project, LAYERS[layer].matching
    return record_agreement(
        labels,
        ruler=ruler,
        synonyms=synonyms_of(project),
        threshold=project.match_threshold,
        has_sources=isinstance(matching, SameRecord) and matching.cites,
    )


def of_messages(figures: Mapping[str, Any]) -> Mapping[str, Any]:
    """The stored figures of the layer whose units are marked or not; else those of the gate."""
    by_message: Mapping[str, Any] = figures.get("layers", {}).get(DEFAULT_LAYER, figures)
    return by_message


def first_layer(project: Project) -> str:
    return str(project.layers[0])


def ratings_of(units: Mapping[str, Units]) -> Ratings:
    by_annotator: Ratings = defaultdict(dict)
    for conversation, of_conversation in units.items():
        for annotator, labels in of_conversation.labels.items():
            by_annotator[annotator][conversation] = labels
    return dict(by_annotator)


def marked_units(
    measured: Round, layer: str, *, selection: Selection = EVERYTHING
) -> dict[str, Units]:
    """The messages of each conversation and who cites them: units that need no matching.

    Of the ``typed`` labels alone, a unit that somebody labelled through a suggestion is missing:
    it does not show what they would have labelled themselves.
    """
    units = _marked_units(measured, layer, selection)
    if selection.origin != "typed":
        return units
    everything = _marked_units(measured, layer, replace(selection, origin=""))
    return {name: own_units(units[name], everything[name]) for name in units}


def _marked_units(measured: Round, layer: str, selection: Selection) -> dict[str, Units]:
    sizes = answers.sizes(measured)
    units: dict[str, Units] = {}
    for who, name, labels in _marked(measured, layer, selection, sizes):
        if name not in units:
            units[name] = Units(message_names(sizes[name]), {})
        units[name].labels[who] = labels
    return units


def _compared(
    measured: Round, layer: str, ruler: Ruler, selection: Selection
) -> dict[str, Comparison]:
    """The units of each conversation of a round; none for events, which have no units."""
    if not LAYERS[layer].has_units:
        return {}
    if LAYERS[layer].by_message:
        units = marked_units(measured, layer, selection=selection)
        return {name: Comparison(units[name], [], {}) for name in units}
    compared = _judged(measured, layer, ruler, selection)
    if selection.origin != "typed":
        return compared
    everything = _judged(measured, layer, ruler, replace(selection, origin=""))
    return {
        name: part._replace(units=own_units(part.units, everything[name].units))
        for name, part in compared.items()
    }


def _marked(
    measured: Round, layer: str, selection: Selection, sizes: Mapping[str, int]
) -> Iterator[marks.Marked]:
    if not (selection.label_type or selection.origin):
        name = f"marks:{measured.pk}:{layer}:{selection.guideline}"
        return marks.of_answers(answers.submitted(measured, selection), layer, sizes, kept_as=name)
    return (
        marks.Marked(who, name, marks_in(layer, payload, sizes[name]))
        for who, name, payload in answers.each(measured, layer, selection)
        if name in sizes  # else it was added to the round since
    )


def _judged(
    measured: Round, layer: str, ruler: Ruler, selection: Selection
) -> dict[str, Comparison]:
    """Units that are about labels, which are matched between the annotators first."""
    project = measured.project
    submitted = answers.by_conversation(answers.each(measured, layer, selection))
    payloads = (payload for by_annotator in submitted.values() for payload in by_annotator.values())
    keys = [LAYERS[name].key for name in LAYERS[layer].needs]
    ruler.prime(
        texts_to_prime(
            label for payload in payloads for key in keys for label in payload.get(key, [])
        )
    )
    compared = {}
    for name, by_annotator in submitted.items():
        base = judged(
            layer,
            by_annotator,
            ruler=ruler,
            synonyms=synonyms_of(project),
            threshold=project.match_threshold,
        )
        label_units = units(layer, by_annotator, message_count=0, base=base)
        compared[name] = Comparison(label_units, base, by_annotator)
    return compared


def labels_of(measured: Round, layer: str, selection: Selection) -> Labels:
    labels: Labels = defaultdict(dict)
    for answer in answers.each(measured, layer, selection):
        labels[answer.annotator][answer.conversation] = answer.payload.get(LAYERS[layer].key, [])
    return labels


def excluded_answers(measured: Round, selection: Selection) -> dict[str, dict[str, Fact]]:
    """Why an assignment does not count: skipped with a reason, unfinished, or not selected."""
    reasons: dict[str, dict[str, Fact]] = defaultdict(dict)
    out = ~Q(annotation__status=Annotation.Status.SUBMITTED)
    if selection.guideline:
        out |= ~Q(annotation__guideline__version=selection.guideline)
    if selection.origin == "assisted":
        out |= Q(first_pass=None)
    rows = (
        answers.assignments_of(measured)
        .filter(out)
        .values_list(
            "annotator__username",
            "conversation__external_id",
            "annotation__status",
            "annotation__skip_reason",
            "annotation__guideline__version",
            "first_pass",
        )
    )
    for annotator, conversation, status, skip_reason, version, first_pass in rows:
        if status != Annotation.Status.SUBMITTED:
            reasons[annotator][conversation] = (
                Fact("agreement.skipped", why=skip_reason)
                if skip_reason
                else Fact("agreement.not_submitted")
            )
        elif selection.guideline and version != selection.guideline:
            reasons[annotator][conversation] = Fact("agreement.other_guidelines", version=version)
        elif selection.origin == "assisted" and first_pass is None:
            reasons[annotator][conversation] = Fact("agreement.no_suggestions_seen")
    return dict(reasons)


def _missing(units: Mapping[str, Units], layer: str, selection: Selection) -> list[Excluded]:
    """The units that somebody did not judge, mostly because they lack that requirement."""
    if selection.origin == "typed":
        return []  # what is missing was taken over; the figures of all labels have it
    return [
        Excluded(conversation, annotator, _why_missing(layer, name))
        for conversation, of_conversation in units.items()
        for annotator, labels in of_conversation.labels.items()
        if None in labels
        for name, label in zip(of_conversation.names, labels, strict=True)
        if label is None
    ]


def _why_missing(layer: str, name: str) -> Fact:
    unit = LAYERS[layer].units
    if isinstance(unit, Judged) and unit.value:
        return Fact("agreement.label_not_rated", name=name)
    return Fact("agreement.requirement_missing", name=name)


def _every(
    labels: Mapping[str, Mapping[str, Iterable[StoredLabel]]],
) -> Iterator[StoredLabel]:
    return (
        label
        for by_conversation in labels.values()
        for conversation_labels in by_conversation.values()
        for label in conversation_labels
    )
