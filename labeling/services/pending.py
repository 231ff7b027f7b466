"""Noting that a worker has to process stored answers, and waking it.

What is due is stored in rows, so a lost message or a worker that dies loses nothing: the sweep
sends another message. Only the first row of a project sends one; the worker gathers for a moment,
then takes all rows there are. So a hundred submissions make one message and one batch.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from time import sleep

from django.db import transaction
from django.utils import timezone

from labeling.models import PendingUpdate, Project, Round
from labeling.services.wakeups import RESEND_SECONDS, Wakeups

_messages = Wakeups("labeling.tasks.process_answers")

GATHER_SECONDS = 0.5
"""A worker that was woken lets this much time pass before it looks for rows."""


def request(
    project: Project, *, conversation: int | None = None, measure: Round | None = None
) -> None:
    """Have a worker catch up with a change, once the current transaction is committed.

    With a conversation it merges that one's answers; with a round it measures agreement; with
    neither it merges everything that is due in the project. A complete calibration round is closed
    in any case.
    """
    update = PendingUpdate.objects.create(
        project=project, conversation_id=conversation, round=measure
    )
    transaction.on_commit(partial(_wake, update), robust=True)


def gather() -> None:
    """Let what comes in together be processed together."""
    sleep(GATHER_SECONDS)


def go_on(project_id: int) -> None:
    """With what is left, behind the messages that wait meanwhile."""
    _messages.send(project_id)


def _wake(update: PendingUpdate) -> None:
    """Unless a worker is on its way for an earlier row: it takes this one, too.

    A worker that this process has just woken has not looked yet. And a worker deletes a row only
    after its work and then looks for others, so it has not finished with an earlier row that is
    still there.
    """
    if _messages.sent_within(GATHER_SECONDS / 2, update.project_id):
        return
    waiting = PendingUpdate.objects.filter(project=update.project_id).order_by("pk")
    pk, asked_at = waiting.values_list("pk", "asked_at").first() or (None, None)
    if pk == update.pk:
        _messages.send(update.project_id)
    elif asked_at and timezone.now() - asked_at > timedelta(seconds=RESEND_SECONDS):
        _messages.send_again(update.project_id)  # nobody has taken it up


def wake_unattended() -> list[int]:
    """Send another message for each project with work that nobody has taken up."""
    before = timezone.now() - timedelta(seconds=RESEND_SECONDS)
    waiting = PendingUpdate.objects.filter(asked_at__lt=before).order_by("project")
    projects = waiting.values_list("project", flat=True).distinct()
    return [pk for pk in projects if _messages.send_again(pk)]
