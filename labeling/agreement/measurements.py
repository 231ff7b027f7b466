"""Agreement of rounds as a worker measured it: what is due, measuring it, and reading it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from django.http import StreamingHttpResponse
from django.utils import timezone

from labeling.agreement import agreement, conversations, measurements
from labeling.agreement.matching.similarity import Ruler
from labeling.agreement.rules.label_tables import COLUMNS
from labeling.core import transactions
from labeling.core.csv_files import csv_file
from labeling.domain.canonical import canonical_json
from labeling.domain.errors import RuleError
from labeling.domain.stored import Stored
from labeling.jobs import pending
from labeling.models import Measurement, Round
from labeling.schema import LAYERS
from labeling.work import assignments, rounds

VERSION = 3
"""Raise it when the same answers may give other figures: everything is then measured again."""


MEASURED = ("answers_sha256", "measured_at", "figures", "records", "n_compared", "n_splits")


class NotMeasured(RuleError, code="not_measured"):
    """A worker has to measure the agreement of this round first."""


# --- measuring, by a worker ---------------------------------------------------------------------


def measure(measured: Round, *, ruler: Callable[[], Ruler]) -> None:
    """Measure every layer that is out of date.

    An open calibration round is blind: nothing of it is measured until its last answer is in, and
    then it closes with the figures.
    """
    if measured.is_blind and not rounds.is_complete(measured):
        return
    started = timezone.now()
    layers = measured.project.layers
    parts = [(layer, origin) for layer in layers for origin in agreement.origins_in(measured)]
    digest = _named(measured, conversations.catch_up(measured, parts, ruler=ruler))
    current = measured.measurements.filter(answers_sha256=digest).values_list("layer", flat=True)
    rows = [agreement.measure(measured, layer) for layer in layers if layer not in set(current)]
    for row in rows:
        row.answers_sha256 = digest
        row.measured_at = started  # an answer that came in meanwhile is not in it
    _publish(measured, rows, digest)


def answers_sha256(measured: Round) -> str:
    """Names the answers of a round and the rules that its agreement is measured by."""
    return _named(measured, conversations.digest_of(conversations.digests(measured)))


def _named(measured: Round, answers: str) -> str:
    rules = [VERSION, agreement.bar(measured), measured.label_f1_threshold, answers]
    return hashlib.sha256(canonical_json(rules).encode()).hexdigest()


@transactions.atomic
def _publish(measured: Round, rows: Iterable[Measurement], digest: str) -> None:
    """Store what was measured. A calibration round closes only if its answers are still these."""
    locked = assignments.lock(measured)
    if locked.is_blind and not (rounds.is_complete(locked) and answers_sha256(locked) == digest):
        return
    Measurement.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["round", "layer"], update_fields=MEASURED
    )
    is_open = locked.state == Round.State.OPEN
    if (locked.kind == Round.Kind.CALIBRATION) != is_open:
        return  # what calibration closed with never changes, and full labeling is not over yet
    stored = locked.measurements.filter(answers_sha256=digest)
    by_layer = dict(stored.values_list("layer", "figures"))
    figures = agreement.summary(
        {layer: by_layer[layer] for layer in locked.project.layers if layer in by_layer}
    )
    if locked.is_blind:
        rounds.close_calibration(locked, figures)
    else:
        Round.objects.filter(pk=locked.pk).update(agreement=figures)


# --- reading ------------------------------------------------------------------------------------


def ask(measured: Round) -> None:
    """Have a worker measure what is out of date."""
    pending.request(measured.project, measure=measured)


def read(measured: Round, layer: str = "") -> Measurement | None:
    """What was measured last; None if a worker has to measure it first."""
    layer = layer or agreement.first_layer(measured.project)
    return measured.measurements.filter(layer=layer).first()


def figures_of(measured: Round, layer: str = "") -> Stored | None:
    """The stored agreement on a layer; of a closed calibration round what it closed with."""
    layer = layer or agreement.first_layer(measured.project)
    if measured.kind == Round.Kind.CALIBRATION and measured.agreement:
        closed_with: Stored | None = measured.agreement.get("layers", {}).get(layer)
        if closed_with:
            return closed_with
    row = read(measured, layer)
    return row.figures if row else None


class Current(NamedTuple):
    """What was measured last; ``figures`` None while nothing was."""

    row: Measurement | None
    figures: Stored | None
    is_outdated: bool


def current(measured: Round, layer: str) -> Current:
    """A worker is asked for what came in or was reopened since, which an open round allows."""
    row = read(measured, layer)
    is_outdated = row is None or (
        measured.state == Round.State.OPEN and answers_sha256(measured) != row.answers_sha256
    )
    if is_outdated:
        ask(measured)
    return Current(row, figures_of(measured, layer), is_outdated)


def refuse_unmeasured(measured: Round, layer: str) -> None:
    if not measured.measurements.filter(layer=layer).exists():
        raise NotMeasured("agreement.not_measured")


def ratings_file(round_: Round, layer: str) -> StreamingHttpResponse:
    """A row per unit and annotator.

    Raises NotMeasured, and has a worker measure, where the units are not known yet.
    """
    if not LAYERS[layer].has_units:
        raise RuleError("agreement.no_ratings")
    try:
        measurements.refuse_unmeasured(round_, layer)
    except NotMeasured:
        measurements.ask(round_)
        raise
    parts = [round_.project.slug, f"round-{round_.number}"]
    if len(round_.project.layers) > 1:
        parts.append(layer)
    return csv_file("-".join([*parts, "ratings"]), _rows(round_, layer))


def _rows(round_: Round, layer: str) -> Iterator[list[Any]]:
    """What ``assay agreement --from-csv`` reads."""
    yield list(COLUMNS)
    for added in conversations.each(round_, layer):
        for annotator, labels in added.labels.items():
            for name, label in zip(added.unit_names, labels, strict=True):
                yield [added.name, name, annotator, label]
