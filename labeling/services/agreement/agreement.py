"""Agreement of what people submitted, for one round, layer by layer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from celery import current_app
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from labeling.domain.agreement.agreement import Agreement
from labeling.domain.agreement.agreement import agreement as compute
from labeling.domain.agreement.event_agreement import event_agreement
from labeling.domain.agreement.units import (
    BY_REQUIREMENT,
    Units,
    judged,
    message_names,
    own_units,
    units,
)
from labeling.domain.agreement.units import marks as marks_in
from labeling.domain.matching.matching import texts_to_prime
from labeling.domain.matching.records import record_agreement
from labeling.domain.matching.similarity import Ruler
from labeling.domain.schema import LAYERS
from labeling.domain.sentences import noted, say
from labeling.models import Annotation, Assignment, FirstPass, Project, Round
from labeling.services.agreement import answers, marks
from labeling.services.agreement.answers import EVERYTHING, Selection
from labeling.services.projects import synonyms_of
from labeling.services.vectors import RulerNeeded

RECORD_LAYERS = ("extraction", "inference")
"""Layers whose labels are matched as records by the one matcher."""


ORIGINS = ("typed", "assisted")
"""Labels of people's own hand, and labels that they took over from a suggestion."""

OF_ORIGIN = ("statistic", "value", "measure", "pairs", "fleiss_kappa", "krippendorff_alpha")
"""The figures that are given by origin too; the gate looks at none of them."""


Events = dict[str, dict[str, list[dict[str, Any]]]]  # the same
Ratings = dict[str, dict[str, list[Hashable]]]  # by annotator and conversation


def of_round(
    measured: Round,
    layer: str = "",
    *,
    ruler: Ruler | None = None,
    selection: Selection = EVERYTHING,
    known: Mapping[str, Units] | None = None,
) -> Agreement:
    """Agreement of a round on one layer (default: the project's first).

    ``known`` are its units (see :func:`units_of`) where the caller has them already.
    """
    layer = layer or first_layer(measured.project)
    found = _of_selection(measured, layer, ruler=ruler, selection=selection, known=known)
    if selection.origin or not is_assisted(measured):
        return found
    apart = {
        origin: _of_selection(
            measured, layer, ruler=ruler, selection=replace(selection, origin=origin)
        ).as_json()
        for origin in ORIGINS
    }
    return replace(
        found,
        by_origin={
            origin: {name: figures[name] for name in (*OF_ORIGIN, "reasons")}
            for origin, figures in apart.items()
        },
    )


def is_assisted(measured: Round) -> bool:
    """Whether somebody has seen suggestions before they submitted."""
    seen = FirstPass.objects.filter(
        assignment__round=measured, assignment__purpose=Assignment.Purpose.LABELLING
    )
    return seen.filter(assignment__annotation__status=Annotation.Status.SUBMITTED).exists()


def _of_selection(
    measured: Round,
    layer: str,
    *,
    ruler: Ruler | None,
    selection: Selection,
    known: Mapping[str, Units] | None = None,
) -> Agreement:
    rules: dict[str, Any] = {
        **_bar(measured),
        "seed": measured.seed,
        "excluded": excluded_answers(measured, selection),
    }
    if layer == "events":
        return _only_with(
            selection.annotator, event_agreement(events_of(measured, selection), **rules)
        )
    if known is None:
        known = units_of(measured, layer, ruler=ruler, selection=selection)
    result = compute(ratings_of(known), **rules)
    result = replace(result, excluded=[*result.excluded, *_missing(known, layer, selection)])
    return _only_with(selection.annotator, result)


def _bar(measured: Round) -> dict[str, Any]:
    """What κ is held against: a closed calibration round keeps the bar that it was held against."""
    project = measured.project
    kept = measured.agreement if measured.kind == Round.Kind.CALIBRATION else None
    if kept and not measured.is_blind:
        return {"threshold": kept["threshold"], "statistic": kept["statistic"]}
    return {"threshold": project.kappa_threshold, "statistic": project.kappa_statistic}


def measure(
    measured: Round, *, ruler: Ruler | None = None, of: Sequence[str] = ()
) -> dict[str, Any]:
    """Every layer that the project requires, and the figure of the gate: the lowest of them.

    The gate holds only if each layer passes; a layer without a figure is the lowest. ``of`` names
    the layers where not all are wanted.
    """
    layers = {
        layer: of_round(measured, layer, ruler=ruler).as_json()
        for layer in of or measured.project.layers
    }
    lowest = min(
        layers, key=lambda layer: (layers[layer]["value"] is not None, layers[layer]["value"])
    )
    passed = all(figures["passed"] for figures in layers.values())
    return {**layers[lowest], "layer": lowest, "passed": passed, "layers": layers}


def compare_records(measured: Round, *, ruler: Ruler) -> dict[str, Any]:
    """Record and field agreement of each pair, by layer."""
    return {
        "computed_at": timezone.now().isoformat(timespec="seconds"),
        "ruler": ruler.id,
        "layers": {
            layer: records_of(measured, layer, ruler=ruler)
            for layer in measured.project.layers
            if layer in RECORD_LAYERS
        },
    }


def records_of(
    measured: Round, layer: str, *, ruler: Ruler, selection: Selection = EVERYTHING
) -> list[dict[str, Any]]:
    labels: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(dict)
    for answer in answers.each(measured, layer, selection):
        found = answer.payload.get(LAYERS[layer].key, [])
        labels[answer.annotator][answer.conversation] = found
    ruler.prime(texts_to_prime(_every(labels)))
    project = measured.project
    compared = record_agreement(
        labels,
        ruler=ruler,
        synonyms=synonyms_of(project),
        threshold=project.match_threshold,
        has_sources=layer == "extraction",
    )
    pairs = [pair.as_json() for pair in compared]
    return [pair for pair in pairs if selection.annotator in ("", pair["a"], pair["b"])]


def request(measured: Round) -> None:
    """Ask a worker for what needs the encoder, once the current transaction is committed."""
    wake_up = partial(current_app.send_task, "labeling.tasks.measure_round", [measured.pk])
    transaction.on_commit(wake_up, robust=True)


def remember(measured: Round, *, ruler: Ruler) -> None:
    """Store what a worker found. The figures a calibration round closed with never change."""
    if measured.is_blind:
        return
    kept = measured.agreement if measured.kind == Round.Kind.CALIBRATION else None
    figures = kept or measure(measured, ruler=ruler)
    records = compare_records(measured, ruler=ruler)
    measured.agreement = {**figures, "records": records}
    measured.save(update_fields=["agreement"])


def needs_ruler(project: Project) -> bool:
    return any(layer in BY_REQUIREMENT for layer in project.layers)


def of_messages(figures: Mapping[str, Any]) -> Mapping[str, Any]:
    """The stored figures of the layer whose units are marked or not; else those of the gate."""
    found: Mapping[str, Any] = figures.get("layers", {}).get("extraction", figures)
    return found


def first_layer(project: Project) -> str:
    return str(project.layers[0])


def ratings(
    measured: Round,
    layer: str = "",
    *,
    ruler: Ruler | None = None,
    selection: Selection = EVERYTHING,
) -> Ratings:
    """By annotator and conversation, the labels of the units in order."""
    return ratings_of(units_of(measured, layer, ruler=ruler, selection=selection))


def ratings_of(found: Mapping[str, Units]) -> Ratings:
    by_annotator: Ratings = defaultdict(dict)
    for conversation, of_conversation in found.items():
        for annotator, labels in of_conversation.labels.items():
            by_annotator[annotator][conversation] = labels
    return dict(by_annotator)


def units_of(
    measured: Round,
    layer: str = "",
    *,
    ruler: Ruler | None = None,
    selection: Selection = EVERYTHING,
) -> dict[str, Units]:
    """The units of each conversation of a round; none for events, which have no units.

    Of the ``typed`` labels alone, a unit that somebody labelled through a suggestion is missing:
    it says nothing about what they would have found.
    """
    layer = layer or first_layer(measured.project)
    if layer == "events":
        return {}
    found = _units_of(measured, layer, ruler, selection)
    if selection.origin != "typed":
        return found
    everything = _units_of(measured, layer, ruler, replace(selection, origin=""))
    return {name: own_units(found[name], everything[name]) for name in found}


def _units_of(
    measured: Round, layer: str, ruler: Ruler | None, selection: Selection
) -> dict[str, Units]:
    if layer in BY_REQUIREMENT:
        payloads = answers.by_conversation(answers.each(measured, layer, selection))
        return _judged_units(measured.project, layer, payloads, ruler)
    sizes = answers.sizes(measured)
    found: dict[str, Units] = {}
    for who, name, labels in _marked(measured, layer, selection, sizes):
        if name not in found:
            found[name] = Units(message_names(sizes[name]), {})
        found[name].labels[who] = labels
    return found


def _marked(
    measured: Round, layer: str, selection: Selection, sizes: Mapping[str, int]
) -> Iterator[marks.Marked]:
    if not (selection.label_type or selection.origin):
        name = f"marks:{measured.pk}:{layer}:{selection.guideline}"
        return marks.of_answers(answers.submitted(measured, selection), layer, sizes, kept_as=name)
    return (
        marks.Marked(who, name, marks_in(layer, payload, sizes[name]))
        for who, name, payload in answers.each(measured, layer, selection)
        if name in sizes  # else it came into the round since
    )


def _judged_units(
    project: Project, layer: str, submitted: answers.Payloads, ruler: Ruler | None
) -> dict[str, Units]:
    if ruler is None:
        raise RulerNeeded("The requirements are not matched yet; a worker does that.")
    everything = (payload for given in submitted.values() for payload in given.values())
    keys = [LAYERS[name].key for name in LAYERS[layer].needs]
    ruler.prime(
        texts_to_prime(
            label for payload in everything for key in keys for label in payload.get(key, [])
        )
    )
    rules = {"synonyms": synonyms_of(project), "threshold": project.match_threshold}
    found = {}
    for name, payloads in submitted.items():
        base = judged(layer, payloads, ruler=ruler, **rules)  # type: ignore[arg-type]
        found[name] = units(layer, payloads, message_count=0, base=base)
    return found


def events_of(measured: Round, selection: Selection) -> Events:
    found: Events = defaultdict(dict)
    for answer in answers.each(measured, "events", selection):
        found[answer.annotator][answer.conversation] = answer.payload.get("events", [])
    return found


def answers_in(measured: Round) -> dict[str, tuple[dict[str, dict[str, Any]], int]]:
    """By conversation: what each annotator submitted, and the number of its messages."""
    sizes = answers.sizes(measured)
    found = answers.by_conversation(answers.each(measured, "", EVERYTHING))
    return {name: (given, sizes[name]) for name, given in found.items() if name in sizes}


def excluded_answers(measured: Round, selection: Selection) -> dict[str, dict[str, str]]:
    """Why an assignment does not count: skipped with a reason, unfinished, or not selected."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    out = ~Q(annotation__status=Annotation.Status.SUBMITTED)
    if selection.guideline:
        out |= ~Q(annotation__guideline__version=selection.guideline)
    if selection.origin == "assisted":
        out |= Q(first_pass=None)
    rows = (
        answers.given(measured)
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
            reason = (
                say("skipped: {why}", why=skip_reason) if skip_reason else noted("not submitted")
            )
            found[annotator][conversation] = reason
        elif selection.guideline and version != selection.guideline:
            found[annotator][conversation] = say(
                "labelled under guidelines v{version}", version=version
            )
        elif selection.origin == "assisted" and first_pass is None:
            found[annotator][conversation] = noted("submitted without having seen suggestions")
    return dict(found)


def _missing(found: Mapping[str, Units], layer: str, selection: Selection) -> list[dict[str, str]]:
    """The units that somebody did not judge: mostly because they have no such requirement."""
    if selection.origin == "typed":
        return []  # what is missing is what was taken over; the figures of all labels have it
    return [
        {
            "conversation": conversation,
            "annotator": annotator,
            "reason": _why_missing(layer, name),
        }
        for conversation, of_conversation in found.items()
        for annotator, labels in of_conversation.labels.items()
        if None in labels
        for name, label in zip(of_conversation.names, labels, strict=True)
        if label is None
    ]


def _why_missing(layer: str, name: str) -> str:
    if layer == "relevance":
        return say("“{name}” is a label that they do not have or did not rate", name=name)
    return say("“{name}” is about a requirement that they do not have", name=name)


def _only_with(annotator: str, found: Agreement) -> Agreement:
    """Only the pairs of one annotator; the figures of all together stay those of all."""
    if not annotator:
        return found
    return replace(found, pairs=[pair for pair in found.pairs if annotator in (pair.a, pair.b)])


def _every(
    labels: Mapping[str, Mapping[str, Iterable[dict[str, Any]]]],
) -> Iterator[dict[str, Any]]:
    return (label for given in labels.values() for found in given.values() for label in found)
