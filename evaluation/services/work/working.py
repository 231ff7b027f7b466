"""One piece of leased work: done once, its failure classed, and the run paused where it must be."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import takewhile
from time import perf_counter
from typing import Any
from uuid import UUID

from django.db import OperationalError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from evaluation import adapters
from evaluation.judge import how_asked
from evaluation.layers import MalformedOutput
from evaluation.models import CaseRun, Run, Work
from evaluation.services.language_models import budgets, endpoints
from evaluation.services.language_models.metering import STOPS, PaidModel
from evaluation.services.work import leases, steering
from evaluation.services.work.leases import Columns, failed
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.jobs.queue import KeepAlive
from pipelines.chat.client import LONGEST_WAIT_SECONDS
from pipelines.chat.endpoint import DEFAULT, JUDGE
from pipelines.errors import PipelineError
from pipelines.llm import (
    InvalidReply,
    ModelError,
    OutOfTime,
    RateLimited,
    TooLargeReply,
    Unavailable,
)

logger = logging.getLogger(__name__)

ErrorClass = Work.ErrorClass
State = Work.State

RETRY_SECONDS = {ErrorClass.TRANSIENT: 2, ErrorClass.PARSE: 0, ErrorClass.RATE: 20}
"""How long work waits after its first failed attempt, doubled after the second.

A permanent error is not in here: the same input would fail in the same way.
"""

LONGEST_ERROR = 2000  # characters


@dataclass(frozen=True, slots=True)
class WorkContext:
    """What a worker needs for a phase of a run."""

    run: Run
    owner: UUID
    model: PaidModel | None
    breaker: CircuitBreaker


def context_for(
    run: Run,
    owner: UUID,
    *,
    model: Mapping[str, Any] | None,
    pieces: QuerySet[Any],
    judging: bool = False,
) -> WorkContext | None:
    """None if the run must wait for other settings; it is then paused. ``pieces``: all of them."""
    name = endpoints.name_in(model, JUDGE if judging else DEFAULT)
    problem = problem_with(model, judging=judging) if model else None
    if problem:
        steering.halt(run, problem)
        return None
    paid_model = PaidModel.named(name, check=lambda: budgets.check(run.pk))
    return WorkContext(run, owner, paid_model, CircuitBreaker(run, pieces))


def problem_with(wanted: Mapping[str, Any], *, judging: bool = False) -> Fact | None:
    """Why the configured model can't be used. With other settings, a judge is another judge."""
    here = endpoints.describe(endpoints.name_in(wanted, JUDGE if judging else DEFAULT))
    if here is None or here["id"] != wanted["id"]:
        if here is None:
            return Fact("run.model_missing", wanted=wanted["id"])
        return Fact("run.other_model", wanted=wanted["id"], here=here["id"])
    if judging and how_asked(here) != how_asked(wanted):
        return Fact(
            "run.other_judge",
            wanted=wanted["id"],
            asked=endpoints.parameters(wanted),
            here=endpoints.parameters(here),
        )
    return None


def carry_out(
    work: Work, context: WorkContext, do: Callable[[], Columns], *, repetition: int
) -> None:
    """Store the fields that ``do`` returns, or its failure; or give the work back and pause."""
    started = perf_counter()
    lease = leases.lease_of(work, context.owner)
    with KeepAlive(lease):
        if context.model:
            context.model.begin(work, repetition)
        try:
            result: Columns = {**done(), **do()}
        except Exception as error:  # this piece fails, the others continue: the row says why
            log_failure(logger, work, error)
            _fail(work, error, context, started)
            return
        except BaseException:  # Ctrl-C, or the process is told to end
            lease.give_back()
            raise
    _store(work, context, started, result)


@transaction.atomic
def _fail(work: Work, error: Exception, context: WorkContext, started: float) -> None:
    """Of those that fail at the same moment, the last one sees all others: they lock the run."""
    Run.objects.select_for_update().only("pk").get(pk=context.run.pk)
    reason = _why_pause(work, error, context)
    if reason:
        _stop(work, reason, context)
    else:
        _store(work, context, started, failure_fields(error, attempts=work.attempts))


def _store(work: Work, context: WorkContext, started: float, result: Columns) -> None:
    result = _without_unreadable(work, context, result)
    timed = {"seconds": perf_counter() - started} if isinstance(work, CaseRun) else {}
    if not leases.finish(work, context.owner, **timed, **result):
        logger.warning("%s was taken over; this result is dropped.", work)


def _without_unreadable(work: Work, context: WorkContext, result: Columns) -> Columns:
    """A reply that cannot be read is not kept; where it came from the cache, the model is asked."""
    if result.get("error_class") != ErrorClass.PARSE or context.model is None:
        return result
    if context.model.forget_replies() and work.attempts < leases.MAX_ATTEMPTS:
        return {**result, **_again(0)}
    return result


def done() -> Columns:
    return {"state": State.DONE, "error": None, "error_class": "", "finished_at": Now()}


def log_failure(log: logging.Logger, what: object, error: Exception) -> None:
    """An unforeseen error is a bug: it is logged as one, although work continues."""
    foreseen = isinstance(error, PipelineError | RuleError | MalformedOutput)
    if foreseen:  # its reason is enough
        log.info("%s failed: %s", what, error)
    else:
        log.error("%s failed.", what, exc_info=error)


def fact_of(error: Exception) -> Fact:
    """What went wrong, without secrets, and short enough to read."""
    if isinstance(error, PipelineError):
        return _short(adapters.fact_of(error))
    if isinstance(error, RuleError | adapters.OutputTooLarge):
        return _short(error.fact)
    if isinstance(error, MalformedOutput):
        return _short(Fact("output.malformed", problem=error.fact))
    text = adapters.storable(str(error))
    return _short(Fact("error.unforeseen", kind=type(error).__name__, said=text))


def _short(fact: Fact) -> Fact:
    values = {name: _short_value(value) for name, value in fact.values.items()}
    return Fact(fact.code, **values)


def _short_value(value: Any) -> Any:
    if isinstance(value, Fact):
        return _short(value)
    return endpoints.keyless(value)[:LONGEST_ERROR] if isinstance(value, str) else value


def _why_pause(work: Work, error: Exception, context: WorkContext) -> Fact | None:
    """Why the whole run has to wait for a person; ``None`` if only this failed."""
    stopped = context.model.stopped if context.model else None
    if stopped or isinstance(error, STOPS):
        return fact_of(stopped or error)
    if isinstance(error, RateLimited | Unavailable) and context.breaker.trips(error):
        return fact_of(error)
    return None


def _stop(work: Work, reason: Fact, context: WorkContext) -> None:
    """Pause first: while this work is leased, the run does not count as done."""
    steering.halt(context.run, reason)
    context.breaker.undo()
    leases.lease_of(work, context.owner).give_back()


def failure_fields(error: Exception, *, attempts: int) -> Columns:
    kind = class_of(error)
    again = kind in RETRY_SECONDS and not isinstance(error, ModelError)  # that was tried again
    if again and attempts < leases.MAX_ATTEMPTS:
        return {**failed(fact_of(error), kind), **_again(RETRY_SECONDS[kind] * 2 ** (attempts - 1))}
    return failed(fact_of(error), kind)


def _again(seconds: float) -> Columns:
    until = Now() + timedelta(seconds=seconds)
    return {"state": State.QUEUED, "finished_at": None, "lease_expires_at": until}


def class_of(error: Exception) -> Work.ErrorClass:
    if isinstance(error, adapters.OutputTooLarge | TooLargeReply):
        return ErrorClass.PERMANENT
    if isinstance(error, MalformedOutput | json.JSONDecodeError | InvalidReply):
        return ErrorClass.PARSE
    if isinstance(error, RateLimited):
        return ErrorClass.RATE
    if isinstance(
        error, TimeoutError | ConnectionError | OperationalError | Unavailable | OutOfTime
    ):
        return ErrorClass.TRANSIENT
    return ErrorClass.PERMANENT


# --- circuit breaker ------------------------------------------------------------------------------


IN_A_ROW = 3
"""After this many failures the run pauses; a run with fewer pieces of work needs them all."""


UNREACHABLE = frozenset(
    {
        "model.no_answer_in_time",
        "model.unreachable",
        "model.unreachable_at",
        "model.server_failed",
        "model.stream_failed",
        "model.too_many_requests",
        "model.too_many_requests_now",
        "model.too_many_requests_until",
    }
)
"""What ``RateLimited`` and ``Unavailable`` say: the codes of such a failure in its row."""


class CircuitBreaker:
    """Finds what failed one after the other because the model could not be reached.

    In the rows, because the pieces of a run fail in several processes at a time.
    """

    def __init__(self, run: Run, pieces: QuerySet[Any]) -> None:
        self._run = run
        self._pieces = pieces

    def trips(self, error: RateLimited | Unavailable) -> bool:
        """Whether it is time to pause; if not, the work simply fails."""
        asked = error.retry_after if isinstance(error, RateLimited) else None
        enough = min(IN_A_ROW, self._pieces.count())
        if (asked or 0) > LONGEST_WAIT_SECONDS or len(self._in_a_row(enough - 1)) + 1 >= enough:
            return True
        paused = Run.objects.filter(pk=self._run.pk, paused=True, pause_reason__isnull=False)
        return paused.exists()

    def undo(self) -> None:
        """What failed waits again as if it had never been tried; what it cost is kept."""
        self._pieces.filter(pk__in=self._in_a_row(), state=State.FAILED).update(
            state=State.QUEUED, attempts=0, error=None, error_class="", finished_at=None
        )

    def _in_a_row(self, most: int | None = None) -> list[int]:
        """The pieces that failed so, back from now to the last one that ended in another way."""
        ended = self._pieces.filter(state__in=[State.DONE, State.FAILED], finished_at__isnull=False)
        newest = ended.order_by("-finished_at", "-pk").values_list("pk", "error")
        unreachable = takewhile(
            lambda row: row[1] is not None and row[1].code in UNREACHABLE, newest[:most].iterator()
        )
        return [pk for pk, _ in unreachable]
