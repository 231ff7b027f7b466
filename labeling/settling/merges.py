"""How the answers of a conversation fit together: computed by workers, read by pages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, TypedDict

from django.db.models import Case, When

from labeling.agreement.matching.merging import (
    Cluster,
    agreement_of,
    clusters_of,
    plain,
    read_clusters,
)
from labeling.agreement.matching.references import Base
from labeling.agreement.matching.similarity import MINILM_ID, Ruler
from labeling.core import events, transactions
from labeling.domain.batches import batches
from labeling.domain.canonical import canonical_json
from labeling.domain.facts import Fact
from labeling.domain.stored import Stored
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
from labeling.settling import settling
from labeling.settling.provenance import Answers, resolved_by
from labeling.work.models.assignments import ANSWERED


class Ready(NamedTuple):
    """A conversation whose newest round has all its answers.

    ``answers_sha256`` names the answers, the rules of matching, and what was decided about the
    labels that those of the layer refer to. ``waits_for`` is the layer that must be settled
    first; empty when there is none.
    """

    conversation: int
    external_id: str
    round: int
    round_number: int
    answers_sha256: str
    waits_for: str = ""


class Merged(TypedDict):
    """What a worker stores of one conversation and layer."""

    round_id: int
    answers_sha256: str
    state: str
    agreement: float
    n_agreed: int
    n_disputed: int
    clusters: list[Stored]


class StoredMerge(NamedTuple):
    """A stored merge of the current answers, without its clusters."""

    pk: int
    conversation: int
    state: str
    agreement: float
    n_agreed: int
    n_disputed: int


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
    talks, fixes = project.conversations.order_by(), _fixes(project, among)
    if among is not None:
        assignments = assignments.filter(conversation__in=among)
        talks = talks.filter(pk__in=among)
    names = dict(talks.values_list("pk", "external_id"))
    rules = _rules(project)
    counted = assignments.annotate(counts=Case(When(ANSWERED, then=1), default=0))
    ordered = counted.order_by("conversation", "-round__number", "annotation")
    ready = {}
    for pk, group in groupby(ordered.values_list(*_COLUMNS).iterator(), key=itemgetter(0)):
        rows = [_AnswerRow(*row) for row in group]
        newest = rounds[rows[0].round]
        digest = _digest([row for row in rows if row.round == newest.pk], newest, rules, fixes)
        if digest:
            ready[pk] = Ready(pk, names[pk], newest.pk, newest.number, digest)
    return ready


def for_layer(everything: dict[int, Ready], project: Project, layer: str) -> dict[int, Ready]:
    ready = everything
    for need in settling.needs_of(project, layer):
        needed = for_layer(everything, project, need)
        decided = _decided(project, need, ready)
        merges_now = current(project, need, needed)
        agreed = {pk for pk, merge in merges_now.items() if merge.state != "disputed"}
        ready = {
            pk: state._replace(
                answers_sha256=_sha256([state.answers_sha256, need, decided.get(pk)]),
                waits_for=state.waits_for or ("" if pk in agreed | decided.keys() else need),
            )
            for pk, state in ready.items()
        }
    return ready


def _decided(project: Project, layer: str, conversations: Collection[int]) -> dict[int, int]:
    """The newest decision that overrides the annotators' labels, by conversation."""
    of_answers = Adjudication.objects.of_answers()
    rows = of_answers.filter(conversation__project=project, layer=layer)
    if len(conversations) <= FEW:
        rows = rows.filter(conversation__in=conversations)
    newest = {
        conversation: (pk, kind)
        for conversation, pk, kind in rows.order_by("version").values_list(
            "conversation", "pk", "kind"
        )
    }
    accepted = Adjudication.Kind.ACCEPTED
    return {conversation: pk for conversation, (pk, kind) in newest.items() if kind != accepted}


def _fixes(project: Project, among: Collection[int] | None) -> dict[tuple[int, int], int]:
    """The newest review of an answer's version, where it corrected the labels."""
    reviews = Review.objects.filter(annotation__assignment__conversation__project=project)
    if among is not None:
        reviews = reviews.filter(annotation__assignment__conversation__in=among)
    newest = {
        (annotation, version): (pk, verdict)
        for annotation, version, pk, verdict in reviews.order_by("pk").values_list(
            "annotation", "version", "pk", "verdict"
        )
    }
    return {
        answer: pk for answer, (pk, verdict) in newest.items() if verdict == Review.Verdict.FIXED
    }


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


def current(project: Project, layer: str, ready: dict[int, Ready]) -> dict[int, StoredMerge]:
    """The stored merges of the current answers, by conversation."""
    rows = Merge.objects.filter(conversation__project=project, layer=layer).order_by()
    if len(ready) <= FEW:
        rows = rows.filter(conversation__in=ready)
    wanted = {(pk, merge.answers_sha256) for pk, merge in ready.items()}
    stored = rows.values_list("answers_sha256", *StoredMerge._fields).iterator()
    merges = ((sha256, StoredMerge(*row)) for sha256, *row in stored)
    return {
        merge.conversation: merge
        for sha256, merge in merges
        if (merge.conversation, sha256) in wanted
    }


def with_clusters(layer: str, ready: Ready) -> Merge | None:
    """The stored merge of one conversation's current answers."""
    fitting = Merge.objects.filter(conversation=ready.conversation, layer=layer)
    return fitting.filter(answers_sha256=ready.answers_sha256).first()


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


def _merge(project: Project, layer: str, waiting: dict[int, Ready], ruler: Ruler) -> None:
    chosen = project.conversations.filter(pk__in=waiting)
    fits = fitting(project, settling.needs_of(project, layer), among=waiting)
    everything = [
        settling.answers_of(conversation) for conversation in settling.labeled(chosen, layer)
    ]
    settling.prime(ruler, everything, layer)
    for some in batches(everything, AT_ONCE):
        if merged := _merged(project, layer, waiting, some, fits, ruler):
            _store(project, layer, merged)


def _merged(
    project: Project,
    layer: str,
    waiting: dict[int, Ready],
    everything: Sequence[Answers],
    fits: settling.Fits,
    ruler: Ruler,
) -> dict[Conversation, Merged]:
    """What there is to store; nothing of conversations that have to wait again."""
    merged: dict[Conversation, Merged] = {}
    for answers in everything:
        try:
            base = settling.Outcomes(answers, project, settling.stored(answers, fits)).base(layer)
        except settling.NotMerged:
            continue  # what it refers to has changed meanwhile: it waits again
        if isinstance(base, Fact):
            continue  # the same
        settlement = settling.settle_answers(answers, project, ruler, layer, base)
        standing = waiting[answers.conversation.pk]
        merged[answers.conversation] = {
            "round_id": standing.round,
            "answers_sha256": standing.answers_sha256,
            "state": settlement.state,
            "agreement": agreement_of(settlement),
            "n_agreed": len(settlement.agreed),
            "n_disputed": len(settlement.disputed),
            "clusters": clusters_of(settlement),
        }
    return merged


@transactions.atomic
def _store(project: Project, layer: str, merged: dict[Conversation, Merged]) -> None:
    """The first merge of a conversation also records, once, that everybody has answered it."""
    wanted = [conversation.pk for conversation in merged]
    among = Conversation.objects.filter(pk__in=wanted).order_by("pk")
    there = set(among.select_for_update(no_key=True).values_list("pk", flat=True))
    known = set(Merge.objects.filter(conversation__in=there).values_list("conversation", flat=True))
    rows = {each: merged[each] for each in sorted(merged, key=attrgetter("pk")) if each.pk in there}
    Merge.objects.bulk_create(
        [
            Merge(conversation=conversation, layer=layer, **row)
            for conversation, row in rows.items()
        ],
        update_conflicts=True,
        unique_fields=["conversation", "layer"],
        update_fields=[*Merged.__annotations__, "made_at"],
    )
    events.record_each(
        "conversation.answered",
        [
            (conversation, {"conversation": conversation.external_id})
            for conversation in rows
            if conversation.pk not in known
        ],
        project=project,
    )


class MergeToDecide(NamedTuple):
    """A merge for an adjudicator: its clusters, and what its labels may refer to."""

    clusters: list[Cluster]
    base: dict[str, list[StoredLabel]]  # by layer


def read(merge: Merge) -> MergeToDecide:
    """The clusters with everybody's current labels, in terms of the settled labels."""
    conversation = Conversation.objects.select_related("project").get(pk=merge.conversation_id)
    chosen = Conversation.objects.filter(pk=merge.conversation_id)
    (labeled,) = settling.labeled(chosen, merge.layer)
    answers = settling.answers_of(labeled)
    base, base_labels = _base(conversation, merge.layer, answers)
    labels = {
        name: resolved.labels for name, resolved in resolved_by(answers, merge.layer, base).items()
    }
    fields = [field["name"] for field in form_fields(merge.layer)]
    return MergeToDecide(read_clusters(merge.clusters, labels, fields=fields), base_labels)


def base_of(conversation: Conversation, layer: str) -> dict[str, list[StoredLabel]]:
    """The settled labels of the layers that this one refers to, by layer."""
    if not settling.needs_of(conversation.project, layer):
        return {}
    chosen = Conversation.objects.filter(pk=conversation.pk)
    labeled = list(settling.labeled(chosen, layer))
    return _base(conversation, layer, settling.answers_of(labeled[0]))[1] if labeled else {}


def _base(
    conversation: Conversation, layer: str, answers: Answers
) -> tuple[Base, dict[str, list[StoredLabel]]]:
    """What is settled in the layers that this one refers to, from decisions and stored merges."""
    base = Base()
    by_layer: dict[str, list[StoredLabel]] = {}
    people = [assignment.annotator.get_username() for assignment in answers.submitted]
    for need in settling.needs_of(conversation.project, layer):
        by_layer[need] = []
        for label, holders in _settled_labels(conversation, need, answers, people):
            base.add(label, holders)
            by_layer[need].append(label)
    return base, by_layer


def _settled_labels(
    conversation: Conversation, layer: str, answers: Answers, people: list[str]
) -> Iterator[tuple[StoredLabel, dict[str, str | None]]]:
    decision = settling.decision_on(answers, layer)
    if decision and decision.kind != Adjudication.Kind.ACCEPTED:
        for label in decision.payload.get(LAYERS[layer].key, []):
            yield plain(label), label.get("uids") or dict.fromkeys(people, str(label["uid"]))
        return
    merge = Merge.objects.filter(conversation=conversation, layer=layer).first()
    for cluster in merge.clusters if merge else []:
        if cluster["how"] != "disputed":
            yield cluster["label"], cluster["uids"]


def layers_of(project: Project) -> list[str]:
    """The project's layers; a layer comes after those that it refers to."""
    return sorted(project.layers, key=lambda layer: len(LAYERS[layer].needs))
