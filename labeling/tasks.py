"""Entry points for the queue: look up rows, call a service, nothing else."""

from __future__ import annotations

from uuid import uuid4

from celery import shared_task

from labeling.models import Project, Round
from labeling.services.agreement import agreement, splitting
from labeling.services.gold import gold_requests
from labeling.services.quality import check_scores
from labeling.services.settling import merges
from labeling.services.webhooks import sending
from labeling.services.work import rounds


@shared_task(acks_late=True)  # repeating it is harmless: a request is answered once
def freeze_gold(request_id: int) -> None:
    from labeling.services.vectors import ruler

    gold_requests.answer(request_id, ruler=ruler)


@shared_task(acks_late=True)  # repeating it is harmless: only what is out of date is made
def merge_answers(project_id: int, conversation_id: int | None) -> None:
    from labeling.services.vectors import ruler

    project = Project.objects.get(pk=project_id)
    for layer in merges.layers_of(project):
        waiting = merges.due(project, layer, conversation=conversation_id)
        if waiting:
            merges.make(project, layer, waiting, ruler=ruler())


@shared_task(acks_late=True)  # repeating it is harmless: the same labels give the same figures
def measure_round(round_id: int) -> None:
    from labeling.services.vectors import ruler

    measured = Round.objects.labelling().select_related("project").get(pk=round_id)
    by_meaning = ruler()
    agreement.measure(measured, ruler=by_meaning)  # encodes before the transaction that closes
    rounds.close_if_complete(measured, ruler=by_meaning)
    measured.refresh_from_db()
    agreement.remember(measured, ruler=by_meaning)
    splitting.remember(measured, ruler=by_meaning)
    merge_answers(measured.project_id, None)  # what was blind until now may be adjudicated


@shared_task(acks_late=True)  # repeating it is harmless: a receiver knows a message by its id
def send_webhook(webhook_id: int) -> None:
    sending.work(webhook_id, uuid4())


@shared_task(acks_late=True)  # repeating it is harmless: an answer is compared once
def score_check(assignment_id: int) -> None:
    from labeling.services.vectors import ruler

    check_scores.score(assignment_id, ruler=ruler())
