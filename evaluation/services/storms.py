"""The circuit breaker: when a model fails case after case, the run pauses instead of failing."""

from __future__ import annotations

from evaluation.models import CaseRun
from pipelines.chat.client import LONGEST_WAIT_SECONDS
from pipelines.llm import RateLimited, Unavailable

IN_A_ROW = 3
"""So many failed cases are a storm; a run with fewer cases needs them all."""


class Storm:
    """Counts the cases that failed one after the other because the model was not to be had."""

    def __init__(self, run_id: int) -> None:
        self._run_id = run_id
        self._failed: list[int] = []
        cases = CaseRun.objects.filter(run=run_id).count()
        self._enough = min(IN_A_ROW, cases)

    def passed(self) -> None:
        """A case ended in another way: the model is there."""
        self._failed.clear()

    def breaks_out(self, case: CaseRun, error: RateLimited | Unavailable) -> bool:
        """Whether it is time to pause; if not, the case simply failed."""
        asked = error.retry_after if isinstance(error, RateLimited) else None
        if (asked or 0) > LONGEST_WAIT_SECONDS or len(self._failed) + 1 >= self._enough:
            return True
        self._failed.append(case.pk)
        return False

    def undo(self) -> None:
        """Its failed cases wait again as if they had never been tried; what they cost is kept."""
        failed = CaseRun.objects.filter(pk__in=self._failed, state=CaseRun.State.FAILED)
        failed.update(
            state=CaseRun.State.QUEUED, attempts=0, error="", error_class="", finished_at=None
        )
        self._failed.clear()
