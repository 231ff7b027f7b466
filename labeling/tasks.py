"""What workers do for labeling: look up rows, call a service, nothing else.

Repeating any of it is harmless: what is done is not done again.
"""

from __future__ import annotations

from celery import shared_task

from labeling.agreement import vectors
from labeling.gold import gold_requests
from labeling.jobs import outbox, pending, tasks
from labeling.jobs.tasks import Task
from labeling.models import Project
from labeling.operation.webhooks import sending
from labeling.screening import check_scores, check_turns
from labeling.settling import processing


@shared_task
def look() -> None:
    """Something waits: a thread of this worker need not look for it by itself."""
    tasks.bell.set()


def process_answers(project_id: int, *_: object) -> None:
    project = Project.objects.get(pk=project_id)
    processing.process(project, ruler=vectors.ruler, seconds=processing.TURN_SECONDS)


def score_check(assignment_id: int, *_: object) -> None:
    check_scores.score(assignment_id, ruler=vectors.ruler())


tasks.register(
    Task("answers", process_answers, pending.due, is_quick=True, flows=True),
    Task("webhooks", sending.work, outbox.due, is_quick=True, flows=True),
    Task("checks", score_check, check_turns.due, is_quick=True),
    Task("freeze", gold_requests.work, gold_requests.due, is_apart=True, flows=True),
)
