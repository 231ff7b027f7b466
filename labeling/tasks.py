"""Entry points for the queue: look up rows, call a service, nothing else.

Repeating any of them is harmless: what is done is not done again.
"""

from __future__ import annotations

from uuid import uuid4

from celery import shared_task

from labeling.jobs import runner
from labeling.models import GoldRelease, Project
from labeling.services import pending, processing
from labeling.services.agreement import with_gold
from labeling.services.alone import alone
from labeling.services.gold import gold_requests, verification
from labeling.services.quality import check_scores
from labeling.services.turns import takes_long
from labeling.services.webhooks import sending


@shared_task  # repeating it is harmless: a request is answered once
@takes_long
def freeze_gold(request_id: int) -> None:
    runner.run(gold_requests.work, request_id)


@shared_task  # repeating it is harmless: it reads, and keeps what came of it
@takes_long
def verify_gold(release_id: int) -> None:
    verification.check(GoldRelease.objects.get(pk=release_id))


@shared_task  # repeating it is harmless: only what is out of date is computed
def process_answers(project_id: int) -> None:
    from labeling.services.vectors import ruler

    pending.gather()
    if processing.take_turn(Project.objects.get(pk=project_id), ruler=ruler):
        pending.go_on(project_id)


@shared_task  # repeating it is harmless: the same answers give the same figures
@takes_long
def measure_with_gold(project_id: int) -> None:
    with alone(f"with gold {project_id}") as mine:
        if mine:
            with_gold.measure(Project.objects.get(pk=project_id))


@shared_task  # repeating it is harmless: a receiver knows a message by its id
def send_webhook(webhook_id: int) -> None:
    sending.work(webhook_id, uuid4())


@shared_task  # repeating it is harmless: an answer is compared once
def score_check(assignment_id: int) -> None:
    from labeling.services.vectors import ruler

    check_scores.score(assignment_id, ruler=ruler())
