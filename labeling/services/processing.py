"""The one path from stored answers to what is computed from them.

A worker takes it when somebody has asked (:mod:`labeling.services.pending`), a command or a freeze
when it needs the results at once: a complete calibration round is measured and closed, answers are
merged, agreement is measured. Everything is computed outside of transactions and stored with the
digest of the answers that it was computed from. So a repetition changes nothing, and what somebody
else has computed meanwhile is not computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from time import monotonic

from labeling.domain.matching.similarity import Ruler
from labeling.models import PendingUpdate, Project, Round
from labeling.services.agreement import measurements
from labeling.services.agreement.answers import Selection
from labeling.services.settling import merges
from labeling.services.work import rounds


def process(project: Project, *, ruler: Callable[[], Ruler], seconds: float | None = None) -> bool:
    """Catch up with what is pending in the project, in batches; False if some of it is left.

    No batch begins after ``seconds``: where people answer as fast as a worker merges, it would
    never come to anything else.
    """
    end = None if seconds is None else monotonic() + seconds
    waiting = project.pending_updates.select_related("round__project").order_by("pk")
    while updates := list(waiting[: merges.FEW]):
        catch_up(
            project,
            ruler=ruler,
            conversations=_conversations(updates),
            measure={update.round for update in updates if update.round},
        )
        PendingUpdate.objects.filter(pk__in=[update.pk for update in updates]).delete()
        if end is not None and monotonic() >= end:
            return not waiting.exists()
    return True


def catch_up(
    project: Project,
    *,
    ruler: Callable[[], Ruler],
    conversations: Collection[int] | None = None,
    measure: Collection[Round] = (),
    selections: Collection[tuple[str, Selection]] = (),
) -> None:
    """Compute and store what is out of date of these conversations (None: all) and rounds."""
    ruler = cache(ruler)
    for calibration in project.rounds.labelling().filter(
        kind=Round.Kind.CALIBRATION, state=Round.State.OPEN
    ):
        if rounds.is_complete(calibration):
            measurements.measure(calibration, ruler=ruler)
            conversations = None  # what was blind until now may be merged
    if conversations is None or conversations:
        merges.merge(project, ruler=ruler, among=conversations)
    for measured in sorted(measure, key=lambda each: each.number):
        measured.refresh_from_db()
        measurements.measure(measured, ruler=ruler, selections=selections)


def _conversations(updates: Collection[PendingUpdate]) -> set[int] | None:
    """The conversations to look at; None for all."""
    if any(update.conversation_id is None and update.round_id is None for update in updates):
        return None
    return {update.conversation_id for update in updates if update.conversation_id}
