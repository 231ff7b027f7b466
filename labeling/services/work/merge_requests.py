"""Wakes a worker when the answers of a conversation are complete, so that it merges them."""

from __future__ import annotations

from functools import partial
from typing import Any

from celery import current_app
from django.db import transaction

from labeling.models import (
    Assignment,
    Project,
    Round,
)
from labeling.models.assignments import ANSWERED


def request(project: Project, *, conversation: int | None = None) -> None:
    """Wake a worker, which merges whatever is due."""
    arguments: list[Any] = [project.pk, conversation]
    wake_up = partial(current_app.send_task, "labeling.tasks.merge_answers", arguments)
    transaction.on_commit(wake_up, robust=True)


def request_when_complete(assignment: Assignment) -> None:
    """Once an answer is stored: have the conversation merged if it was the last one."""
    transaction.on_commit(partial(_wake_if_complete, assignment.pk), robust=True)


def _wake_if_complete(assignment_pk: int) -> None:
    assignment = (
        Assignment.objects.labelling().select_related("round__project").get(pk=assignment_pk)
    )
    measured = assignment.round
    if measured.kind == Round.Kind.CALIBRATION:
        if measured.state != Round.State.OPEN:
            request(measured.project)
        return
    here = measured.assignments.labelling().filter(conversation=assignment.conversation_id)
    if here.filter(ANSWERED).count() >= measured.overlap:
        request(measured.project, conversation=assignment.conversation_id)
