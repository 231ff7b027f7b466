"""Noting that a worker has to process stored answers.

What is due is stored in rows, and a worker takes all of a project. The first row asks for it in a
moment, so a hundred submissions make one batch.
"""

from __future__ import annotations

from collections.abc import Iterable

from labeling.jobs import queue
from labeling.models import PendingUpdate, Project, Round

GATHER_SECONDS = 0.5
"""What comes in within this time is processed together."""


def request(
    project: Project, *, conversation: int | None = None, measure: Round | None = None
) -> None:
    """Have a worker catch up with a change, once the current transaction is committed.

    With a conversation it merges that one's answers; with a round it measures agreement; with
    neither it merges everything that is due in the project. A complete calibration round is closed
    in any case.
    """
    PendingUpdate.objects.create(project=project, conversation_id=conversation, round=measure)
    queue.ask("answers", project.pk, after=GATHER_SECONDS)


def due() -> Iterable[int]:
    """Projects with something to process."""
    return PendingUpdate.objects.order_by("project").values_list("project", flat=True).distinct()
