"""Taking work from its holder, because somebody says that it is stuck.

It is safe whether the holder lives or not: one that lives has lost its lease, so it stores nothing
more, and what was not stored is made again. The attempt is not counted: nobody has proved a death.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest

from evaluation.models import Answer, CaseRun, Judgement, Run, Slot, Work
from evaluation.services.work import steering


@transaction.atomic
def free_run(run_id: int) -> bool:
    slots = Slot.objects.filter(run=run_id)
    owners = list(slots.values_list("owner", flat=True))
    n_held = sum(
        _free(rows)
        for rows in (
            CaseRun.objects.filter(run=run_id),
            Answer.objects.filter(case__run=run_id),
            Judgement.objects.filter(judging__run=run_id),
        )
    )
    scored = Run.objects.filter(pk=run_id, scoring_owner__isnull=False, scored_at=None)
    n_held += scored.update(scoring_owner=None, scoring_expires_at=None)
    Slot.objects.filter(owner__in=owners).delete()
    if n_held or owners:
        steering.wake(run_id)
    return bool(n_held or owners)


def _free(rows: QuerySet[Any]) -> int:
    """By key: an update through joined tables would walk through all work."""
    keys = list(rows.filter(state=Work.State.RUNNING).order_by().values_list("pk", flat=True))
    in_work: Any = rows.model
    return int(
        in_work.objects.filter(pk__in=keys, state=Work.State.RUNNING).update(
            state=Work.State.QUEUED, owner=None, lease_expires_at=None, attempts=_one_less()
        )
    )


def _one_less() -> Greatest:
    return Greatest(F("attempts") - 1, 0)
