"""How the answers of a conversation fit together: computed by workers, read by pages."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from celery import current_app
from django.db import transaction
from django.db.models import Q

from labeling.domain.merging import Cluster, agreement_of, clusters_of, read_clusters
from labeling.domain.release import canonical_json
from labeling.domain.schema import form_fields
from labeling.domain.similarity import MINILM_ID, Ruler
from labeling.models import Annotation, Assignment, Conversation, Merge, Project, Review, Round
from labeling.models.assignments import ANSWERED
from labeling.services import settling

MERGED = ("extraction",)


class Ready(NamedTuple):
    """A conversation whose newest round everybody asked has answered."""

    conversation: int
    external_id: str
    round: int
    round_number: int
    answers_sha256: str


class _Row(NamedTuple):
    conversation: int
    external_id: str
    round: int
    number: int
    kind: str
    state: str
    overlap: int
    annotation: int | None
    version: int | None
    status: str | None
    is_answer: bool


_COLUMNS = (
    "conversation",
    "conversation__external_id",
    "round",
    "round__number",
    "round__kind",
    "round__state",
    "round__overlap",
    "annotation",
    "annotation__version",
    "annotation__status",
    "is_answer",
)


def ready(project: Project, *, conversation: int | None = None) -> dict[int, Ready]:
    """By conversation. An open calibration round is blind, so nothing of it is ready."""
    chosen = Q() if conversation is None else Q(conversation=conversation)
    assignments = Assignment.objects.filter(chosen, conversation__project=project)
    ordered = assignments.with_answered().order_by("conversation", "-round__number", "annotation")
    rows = [_Row(*row) for row in ordered.values_list(*_COLUMNS)]
    fixes = _fixes(project)
    found = {}
    for pk, group in groupby(rows, key=attrgetter("conversation")):
        standing = _standing(list(group), project, fixes)
        if standing is not None:
            found[pk] = standing
    return found


def _fixes(project: Project) -> dict[tuple[int, int], int]:
    """The newest review of an answer's version, where it corrected the labels."""
    reviews = Review.objects.filter(annotation__assignment__conversation__project=project)
    newest = {
        (annotation, version): (pk, verdict)
        for annotation, version, pk, verdict in reviews.order_by("pk").values_list(
            "annotation", "version", "pk", "verdict"
        )
    }
    return {one: pk for one, (pk, verdict) in newest.items() if verdict == Review.Verdict.FIXED}


def _standing(
    rows: Sequence[_Row], project: Project, fixes: dict[tuple[int, int], int]
) -> Ready | None:
    newest = [row for row in rows if row.number == rows[0].number]
    first = newest[0]
    if first.kind == Round.Kind.CALIBRATION and first.state == Round.State.OPEN:
        return None
    submitted = [row for row in newest if row.status == Annotation.Status.SUBMITTED]
    if not submitted or sum(row.is_answer for row in newest) < first.overlap:
        return None
    answers = [
        [row.annotation, row.version, fixes.get((row.annotation or 0, row.version or 0))]
        for row in submitted
    ]
    rules = [MINILM_ID, project.match_threshold, project.actor_synonyms]
    digest = hashlib.sha256(canonical_json([rules, answers]).encode()).hexdigest()
    return Ready(first.conversation, first.external_id, first.round, first.number, digest)


def current(project: Project, layer: str, standing: dict[int, Ready]) -> dict[int, Merge]:
    """The stored merges that fit the answers of now, without their clusters."""
    rows = Merge.objects.filter(conversation__project=project, layer=layer)
    if len(standing) == 1:
        rows = rows.filter(conversation__in=standing)
    return {
        row.conversation_id: row
        for row in rows.defer("clusters")
        if row.conversation_id in standing
        and row.answers_sha256 == standing[row.conversation_id].answers_sha256
    }


def due(project: Project, layer: str, *, conversation: int | None = None) -> dict[int, Ready]:
    """What a worker still has to merge."""
    standing = ready(project, conversation=conversation)
    made = current(project, layer, standing)
    return {pk: one for pk, one in standing.items() if pk not in made}


def make(project: Project, layer: str, waiting: dict[int, Ready], *, ruler: Ruler) -> None:
    """Merge these conversations. Repeating it changes nothing."""
    chosen = project.conversations.filter(pk__in=waiting)
    everything = [settling.answers_of(one) for one in settling.labelled(chosen, layer)]
    settling.prime(ruler, everything, layer)
    for answers in everything:
        settlement = settling.settlement_of(answers, project, layer, ruler=ruler)
        standing = waiting[answers.conversation.pk]
        Merge.objects.update_or_create(
            conversation=answers.conversation,
            layer=layer,
            defaults={
                "round_id": standing.round,
                "answers_sha256": standing.answers_sha256,
                "state": settlement.state,
                "agreement": agreement_of(settlement),
                "n_agreed": len(settlement.agreed),
                "n_disputed": len(settlement.disputed),
                "clusters": clusters_of(settlement),
            },
        )


def read(merge: Merge) -> list[Cluster]:
    """The clusters with everybody's own labels, as they are now."""
    chosen = Conversation.objects.filter(pk=merge.conversation_id)
    (found,) = settling.labelled(chosen, merge.layer)
    answers = settling.labels_by(settling.answers_of(found), merge.layer)
    fields = [field["name"] for field in form_fields(merge.layer)]
    return read_clusters(merge.clusters, answers, fields=fields)


def request(project: Project, *, conversation: int | None = None) -> None:
    """Wake a worker, which merges whatever is due."""
    arguments: list[Any] = [project.pk, conversation]
    wake_up = partial(current_app.send_task, "labeling.tasks.merge_answers", arguments)
    transaction.on_commit(wake_up, robust=True)


def request_when_complete(assignment: Assignment) -> None:
    """Once an answer is stored: have the conversation merged if it was the last one."""
    transaction.on_commit(partial(_wake_if_complete, assignment.pk), robust=True)


def _wake_if_complete(assignment_pk: int) -> None:
    assignment = Assignment.objects.select_related("round__project").get(pk=assignment_pk)
    measured = assignment.round
    if measured.kind == Round.Kind.CALIBRATION:
        if measured.state != Round.State.OPEN:
            request(measured.project)
        return
    here = measured.assignments.filter(conversation=assignment.conversation_id)
    if here.filter(ANSWERED).count() >= measured.overlap:
        request(measured.project, conversation=assignment.conversation_id)


def layers_of(project: Project) -> list[str]:
    """The project's layers that are settled by matching."""
    return [layer for layer in project.layers if layer in MERGED]
