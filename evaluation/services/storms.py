"""The circuit breaker: when a model fails case after case, the run pauses instead of failing."""

from __future__ import annotations

from evaluation.models import Work
from pipelines.chat.client import LONGEST_WAIT_SECONDS
from pipelines.llm import RateLimited, Unavailable

IN_A_ROW = 3
"""So many failures are a storm; a run with fewer pieces of work needs them all."""


class Storm:
    """Counts what failed one after the other because the model was not to be had."""

    def __init__(self, n_pieces: int) -> None:
        self._failed: list[Work] = []
        self._enough = min(IN_A_ROW, n_pieces)

    def passed(self) -> None:
        """A piece of work ended in another way: the model is there."""
        self._failed.clear()

    def breaks_out(self, work: Work, error: RateLimited | Unavailable) -> bool:
        """Whether it is time to pause; if not, the work simply failed."""
        asked = error.retry_after if isinstance(error, RateLimited) else None
        if (asked or 0) > LONGEST_WAIT_SECONDS or len(self._failed) + 1 >= self._enough:
            return True
        self._failed.append(work)
        return False

    def undo(self) -> None:
        """What failed waits again as if it had never been tried; what it cost is kept."""
        for work in self._failed:
            failed = type(work)._default_manager.filter(pk=work.pk, state=Work.State.FAILED)
            failed.update(
                state=Work.State.QUEUED, attempts=0, error="", error_class="", finished_at=None
            )
        self._failed.clear()
