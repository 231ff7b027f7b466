"""How the answers of a conversation fit together: computed by workers, read by pages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from django.db.models import Case, QuerySet, When

from labeling.agreement.matching.merging import (
    Cluster,
    agreement_of,
    clusters_of,
    read_clusters,
)
from labeling.agreement.matching.references import Base
from labeling.agreement.matching.similarity import MINILM_ID, Ruler
from labeling.core import events, transactions
from labeling.domain.batches import batches
from labeling.domain.canonical import canonical_json
from labeling.domain.facts import Fact
from labeling.models import (
    Adjudication,
    Annotation,
    Assignment,
    Conversation,
    Merge,
    Project,
    Review,
    Round,
)
from labeling.schema import LAYERS, form_fields
from labeling.schema.labels import StoredLabel
from labeling.schema.targets import stages_of
from labeling.settling import settling
from labeling.settling.provenance import Answers, resolved_by
from labeling.work.models.assignments import ANSWERED


class Ready(NamedTuple):
    """A conversation whose newest round has all its answers.

    ``answers_sha256`` names the answers, the rules of matching, and what was decided about the
    labels that those of the layer refer to. ``waits_for`` is the layer that must be settled
    first; empty when there is none.
    """

    round: int
    answers_sha256: str
    waits_for: str = ""


class _AnswerRow(NamedTuple):
    conversation: int
    round: int
    annotation: int | None
    version: int | None
    status: str | None
    counts: int  # 1 or 0: a truth value of SQLite would have to be converted, in each row


_COLUMNS = (
    *("conversation", "round"),
    *("annotation", "annotation__version", "annotation__status", "counts"),
)
VERSION = 2
"""Raise it when the same answers may be merged in another way: all are then merged again.

Since 2, a field on which holders are divided is disputed. Releases state it.
"""

FEW = 500
"""Up to this many conversations are named in a query."""

AT_ONCE = 50
"""Merges stored in one transaction: some 15 ms, for which SQLite keeps other writers waiting."""


def ready(
    project: Project, layer: str, *, among: Collection[int] | None = None
) -> dict[int, Ready]:
    """By conversation. An open calibration round is blind, so nothing in it is ready."""
    return for_layer(answered(project, among=among), project, layer)


def answered(project: Project, *, among: Collection[int] | None = None) -> dict[int, Ready]:
    """What is ready, for any layer; ``among`` narrows it to these conversations."""
    rounds = {round_.pk: round_ for round_ in project.rounds.defer("agreement")}
    assignments = Assignment.objects.filter(round__in=rounds)
    reviews = Review.objects.filter(annotation__assignment__conversation__project=project)
    if among is not None:
        assignments = assignments.filter(conversation__in=among)
        reviews = reviews.filter(annotation__assignment__conversation__in=among)
    fixes, rules = _fixes(reviews), _rules(project)
    counted = assignments.annotate(counts=Case(When(ANSWERED, then=1), default=0))
    ordered = counted.order_by("conversation", "-round__number", "annotation")
    ready = {}
    for pk, group in groupby(ordered.values_list(*_COLUMNS).iterator(), key=itemgetter(0)):
        rows = [_AnswerRow(*row) for row in group]
        newest = rounds[rows[0].round]
        digest = _digest([row for row in rows if row.round == newest.pk], newest, rules, fixes)
        if digest:
            ready[pk] = Ready(newest.pk, digest)
    return ready


def for_layer(everything: dict[int, Ready], project: Project, layer: str) -> dict[int, Ready]:
    ready = everything
    for need in settling.needs_of(project, layer):
        decided = _decided(project, need, ready)
        merges_now = current(project, need, for_layer(everything, project, need))
        agreed = {pk for pk, merge in merges_now.items() if merge.state != "disputed"}
        ready = {
            pk: state._replace(
                answers_sha256=_sha256([state.answers_sha256, need, decided.get(pk)]),
                waits_for=state.waits_for or ("" if pk in agreed | decided.keys() else need),
            )
            for pk, state in ready.items()
        }
    return ready


def _few(rows: QuerySet[Any], conversations: Collection[int]) -> QuerySet[Any]:
    """Those about these conversations, where they can be named in a query."""
    return rows.filter(conversation__in=conversations) if len(conversations) <= FEW else rows


def _decided(project: Project, layer: str, conversations: Collection[int]) -> dict[int, int]:
    """The newest decision that overrides the annotators' labels, by conversation."""
    of_layer = Adjudication.objects.of_answers().filter(conversation__project=project, layer=layer)
    rows = _few(of_layer, conversations).order_by("version").defer("payload")
    newest = {row.conversation_id: row for row in rows}
    return {pk: row.pk for pk, row in newest.items() if row.overrides}


def _fixes(reviews: QuerySet[Review]) -> dict[tuple[int, int], int]:
    """The newest review of an answer's version, where it corrected the labels."""
    rows = reviews.order_by("pk").defer("payload")
    newest = {(row.annotation_id, row.version): row for row in rows}
    fixed = Review.Verdict.FIXED
    return {answer: row.pk for answer, row in newest.items() if row.verdict == fixed}


def _rules(project: Project) -> str:
    return canonical_json([VERSION, MINILM_ID, project.match_threshold, project.actor_synonyms])


def _digest(
    rows: Sequence[_AnswerRow], newest: Round, rules: str, fixes: dict[tuple[int, int], int]
) -> str:
    """Names the answers of one conversation in its newest round; empty if it is not ready."""
    submitted = [row for row in rows if row.status == Annotation.Status.SUBMITTED]
    enough = sum(row.counts for row in rows) >= newest.overlap
    if newest.is_blind or not submitted or not enough:
        return ""
    answers = [
        [row.annotation, row.version, fixes.get((row.annotation or 0, row.version or 0))]
        for row in submitted
    ]
    # canonical_json([rules, answers]), where the rules are written once and the rest is whole
    # numbers: there may be a hundred thousand conversations
    text = f"[{rules},{json.dumps(answers, separators=(',', ':'))}]"
    return hashlib.sha256(text.encode()).hexdigest()


def _sha256(value: Any) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def current(project: Project, layer: str, ready: dict[int, Ready]) -> dict[int, Merge]:
    """The stored merges of the current answers, without their clusters, by conversation."""
    rows = _few(Merge.objects.filter(conversation__project=project, layer=layer), ready)
    merges = rows.select_related("conversation", "round").only(*_SHOWN).order_by()
    return {
        merge.conversation_id: merge
        for merge in merges.iterator()
        if (standing := ready.get(merge.conversation_id))
        and standing.answers_sha256 == merge.answers_sha256
    }


_SHOWN = (
    *("conversation", "round"),
    *("conversation__external_id", "round__number", "layer", "answers_sha256"),
    *("state", "agreement", "n_agreed", "n_disputed"),
)


def with_clusters(conversation: int, layer: str, ready: Ready) -> Merge | None:
    """The stored merge of one conversation's current answers."""
    same = Merge.objects.filter(conversation=conversation, layer=layer)
    return same.filter(answers_sha256=ready.answers_sha256).first()


def merge(
    project: Project, *, ruler: Callable[[], Ruler], among: Collection[int] | None = None
) -> None:
    """Merge what is out of date, layer by layer; ``among`` are the conversations to look at."""
    for part in settling.parts(project, among):
        for layer in layers_of(project):
            if waiting := due(project, layer, among=part):
                _merge(project, layer, waiting, ruler())


def due(project: Project, layer: str, *, among: Collection[int] | None = None) -> dict[int, Ready]:
    """What a worker still has to merge; what waits for another layer is not due."""
    waiting = ready(project, layer, among=among)
    current_merges = current(project, layer, waiting)
    return {
        pk: state
        for pk, state in waiting.items()
        if pk not in current_merges and not state.waits_for
    }


def fitting(project: Project, layers: Collection[str], *, among: Collection[int]) -> settling.Fits:
    """A test whether a stored merge of these layers is of the current answers."""
    if not layers:
        return lambda merge: False
    answered_now = answered(project, among=among)
    wanted = {
        (layer, pk, standing.answers_sha256)
        for layer in layers
        for pk, standing in for_layer(answered_now, project, layer).items()
    }
    return lambda merge: (merge.layer, merge.conversation_id, merge.answers_sha256) in wanted


def outcomes_of_project(
    project: Project, layer: str, *, among: Collection[int] | None = None
) -> Iterator[tuple[Conversation, settling.SettledConversation | Fact]]:
    """Every labeled conversation: its settled labels, or why it has none.

    An adjudicator's decision overrides the annotators' labels. Otherwise everybody who was asked
    must have answered, and each label must be held by a strict majority. What labels refer
    to must be settled, too. Answers that no worker has merged yet are left out as well.
    """
    stages = stages_of(layer)
    behind = dict.fromkeys(name for stage in stages for name in (*LAYERS[stage].needs, stage))
    for part in settling.parts(project, among):
        fits = fitting(project, list(behind), among=part)
        chosen = Conversation.objects.filter(pk__in=part)
        for conversation in settling.labeled(chosen, *stages):
            answers = settling.answers_of(conversation)
            settlements = settling.stored(answers, fits)
            try:
                yield conversation, settling.Outcomes(answers, project, settlements).of(layer)
            except settling.NotMerged:
                yield conversation, settling.JUST_IN


def _merge(project: Project, layer: str, waiting: dict[int, Ready], ruler: Ruler) -> None:
    chosen = project.conversations.filter(pk__in=waiting)
    fits = fitting(project, settling.needs_of(project, layer), among=waiting)
    everything = [
        settling.answers_of(conversation) for conversation in settling.labeled(chosen, layer)
    ]
    settling.prime(ruler, everything, layer)
    for some in batches(everything, AT_ONCE):
        merged = (_merged(project, layer, waiting, answers, fits, ruler) for answers in some)
        if rows := [merge for merge in merged if merge]:
            _store(project, rows)


def _merged(
    project: Project,
    layer: str,
    waiting: dict[int, Ready],
    answers: Answers,
    fits: settling.Fits,
    ruler: Ruler,
) -> Merge | None:
    """What there is to store; None where it has to wait again, as what it refers to has changed."""
    try:
        base = settling.Outcomes(answers, project, settling.stored(answers, fits)).base(layer)
    except settling.NotMerged:
        return None
    if isinstance(base, Fact):
        return None
    settlement = settling.settle_answers(answers, project, ruler, layer, base)
    standing = waiting[answers.conversation.pk]
    return Merge(
        conversation=answers.conversation,
        layer=layer,
        round_id=standing.round,
        answers_sha256=standing.answers_sha256,
        state=settlement.state,
        agreement=agreement_of(settlement),
        n_agreed=len(settlement.agreed),
        n_disputed=len(settlement.disputed),
        clusters=clusters_of(settlement),
    )


_KEY = ["conversation", "layer"]


@transactions.atomic
def _store(project: Project, merged: Sequence[Merge]) -> None:
    """The first merge of a conversation also records, once, that everybody has answered it."""
    among = Conversation.objects.filter(pk__in=[merge.conversation_id for merge in merged])
    locked = among.order_by("pk").select_for_update(no_key=True)
    there = set(locked.values_list("pk", flat=True))
    known = set(Merge.objects.filter(conversation__in=there).values_list("conversation", flat=True))
    rows = [merge for merge in merged if merge.conversation_id in there]
    rows.sort(key=attrgetter("conversation_id"))
    columns = [field.name for field in Merge._meta.fields if not field.primary_key]
    Merge.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=_KEY,
        update_fields=[name for name in columns if name not in _KEY],
    )
    new = [merge.conversation for merge in rows if merge.conversation_id not in known]
    events.record_each(
        "conversation.answered",
        [(conversation, {"conversation": conversation.external_id}) for conversation in new],
        project=project,
    )


class MergeToDecide(NamedTuple):
    """A merge for an adjudicator: its clusters, and what its labels may refer to."""

    clusters: list[Cluster]
    base: dict[str, list[StoredLabel]]  # by layer


def read(merge: Merge) -> MergeToDecide:
    """The clusters with everybody's current labels, in terms of the settled labels."""
    outcomes = _outcomes(merge.conversation, merge.layer)
    assert outcomes is not None, "merged answers are there"
    base = outcomes.base(merge.layer)
    terms = Base() if isinstance(base, Fact) else base
    resolved = resolved_by(outcomes.answers, merge.layer, terms)
    labels = {name: of_person.labels for name, of_person in resolved.items()}
    fields = [field["name"] for field in form_fields(merge.layer)]
    clusters = read_clusters(merge.clusters, labels, fields=fields)
    return MergeToDecide(clusters, outcomes.base_labels(merge.layer))


def base_of(conversation: Conversation, layer: str) -> dict[str, list[StoredLabel]]:
    """The settled labels of the layers that this one refers to, by layer."""
    outcomes = _outcomes(conversation, layer)
    try:
        return outcomes.base_labels(layer) if outcomes else {}
    except settling.NotMerged:
        return {}


def _outcomes(conversation: Conversation, layer: str) -> settling.Outcomes | None:
    """By decisions and stored merges; None where nobody was asked."""
    project, among = conversation.project, [conversation.pk]
    fits = fitting(project, settling.needs_of(project, layer), among=among)
    for labeled in settling.labeled(Conversation.objects.filter(pk__in=among), layer):
        answers = settling.answers_of(labeled)
        return settling.Outcomes(answers, project, settling.stored(answers, fits))
    return None


def layers_of(project: Project) -> list[str]:
    """The project's layers; a layer comes after those that it refers to."""
    return sorted(project.layers, key=lambda layer: len(LAYERS[layer].needs))
