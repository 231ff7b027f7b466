"""The one path from stored answers to what is computed from them.

A worker takes it when somebody has asked (:mod:`labeling.jobs.pending`), a command or a freeze
when it needs the results at once: a complete calibration round is measured and closed, answers are
merged, agreement is measured. Everything is computed outside of transactions and stored with the
digest of the answers that it was computed from. So a repetition changes nothing, and what somebody
else has computed meanwhile is not computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from time import monotonic

from labeling.agreement import measurements
from labeling.agreement.matching.similarity import Ruler
from labeling.models import PendingUpdate, Project, Round
from labeling.settling import merges
from labeling.work import rounds

TURN_SECONDS = 5.0
"""How long a worker processes answers before what else waits has its turn.

Where people answer as fast as it merges, it would never come to anything else.
"""

AT_ONCE = 100
"""Updates in one batch, of some two seconds: none begins after the end of a turn."""


def process(project: Project, *, ruler: Callable[[], Ruler], seconds: float | None = None) -> None:
    """Catch up with what is pending in the project, in batches.

    With ``seconds`` none begins after them, nor after one that had room: what came in since then
    had better be gathered again, or each answer would soon be its own batch.
    """
    end = None if seconds is None else monotonic() + seconds
    waiting = project.pending_updates.select_related("round__project").defer("round__agreement")
    waiting = waiting.order_by("pk")
    while updates := list(waiting[:AT_ONCE]):
        measure = {update.round for update in updates if update.round}
        same = project.pending_updates.filter(round__in=measure)  # asked for in a later batch
        done = [*(update.pk for update in updates), *same.values_list("pk", flat=True)]
        conversations = _conversations(updates)
        catch_up(project, ruler=ruler, conversations=conversations, measure=measure)
        PendingUpdate.objects.filter(pk__in=done).delete()
        if end is not None and (monotonic() >= end or len(updates) < AT_ONCE):
            return


def catch_up(
    project: Project,
    *,
    ruler: Callable[[], Ruler],
    conversations: Collection[int] | None = None,
    measure: Collection[Round] = (),
) -> None:
    """Compute and store what is out of date of these conversations (None: all) and rounds."""
    ruler = cache(ruler)
    for calibration in project.rounds.filter(kind=Round.Kind.CALIBRATION, state=Round.State.OPEN):
        if rounds.is_complete(calibration):
            measurements.measure(calibration, ruler=ruler)
            conversations = None  # what was blind until now may be merged
    if conversations is None or conversations:
        merges.merge(project, ruler=ruler, among=conversations)
    for measured in sorted(measure, key=lambda each: each.number):
        measured.refresh_from_db()
        measurements.measure(measured, ruler=ruler)


def _conversations(updates: Collection[PendingUpdate]) -> set[int] | None:
    """The conversations to look at; None for all."""
    if any(update.conversation_id is None and update.round_id is None for update in updates):
        return None
    return {update.conversation_id for update in updates if update.conversation_id}
