"""Working through a run, the same way in a queue worker and in a command's foreground.

The rows say what is left to do, so the work may stop anywhere, start again anywhere, and be done
by several processes at once.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from time import perf_counter
from typing import Any
from uuid import UUID

from django.db import OperationalError
from django.utils import timezone

from evaluation import adapters
from evaluation.layers import MalformedOutput, gold_layer
from evaluation.models import CaseRun, Run
from evaluation.services import layers, leases, runs, scoring
from evaluation.services.metering import STOPS, RunModel, together
from evaluation.services.stores import FileStore
from evaluation.services.storms import Storm
from labeling.domain.errors import RuleError
from labeling.services.vectors import StoredVectors
from pipelines import registry
from pipelines.encoder import MiniLM
from pipelines.errors import PipelineError
from pipelines.llm import ChatModel, InvalidReply, ModelError, RateLimited, Unavailable
from pipelines.memory.layers.build import Rows
from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.talks import RowsFor
from pipelines.types import Case, Pipeline

logger = logging.getLogger(__name__)

ErrorClass = CaseRun.ErrorClass
State = CaseRun.State

RETRY_SECONDS = {ErrorClass.TRANSIENT: 2, ErrorClass.PARSE: 0, ErrorClass.RATE: 20}
"""How long a case waits after its first failed attempt, doubled after the second.

A permanent error is not in here: the same input would fail in the same way.
"""

Progress = Callable[[], None]


class CannotRun(Exception):
    """The whole run cannot go on; the text tells a person why."""


def work(run_id: int, owner: UUID, *, progress: Progress | None = None) -> None:
    """Do what there is to do for the run, until nothing is left that can be taken now."""
    try:
        _run_cases(run_id, owner, progress)
        _score(run_id, owner)
    except CannotRun as problem:
        Run.objects.filter(pk=run_id, failure="").update(failure=str(problem))
    if progress:
        progress()


@dataclass(frozen=True, slots=True)
class _Crew:
    """What the cases of one run are worked through with."""

    pipeline: Pipeline
    layer: str
    model: RunModel | None
    storm: Storm


def _run_cases(run_id: int, owner: UUID, progress: Progress | None) -> None:
    crew: _Crew | None = None
    while _is_wanted(run_id) and CaseRun.objects.filter(run=run_id).unfinished().exists():
        crew = crew or _crew(Run.objects.select_related("release__project").get(pk=run_id))
        if crew is None:
            return
        case = leases.claim_case(run_id, owner)
        if case is None:
            return
        _run_case(case, crew, owner)
        if progress:
            progress()


def _crew(run: Run) -> _Crew | None:
    """None if the run has to wait for other settings, and is paused for it."""
    model = RunModel.for_run(run)
    wanted = (run.spec.get("model") or {}).get("id")
    if wanted and (model is None or model.id != wanted):
        here = f"“{model.id}”" if model else "none"
        runs.halt(run, f"The run uses the model “{wanted}”, and {here} is set up for the worker.")
        return None
    return _Crew(_build(run, model), run.release.layer, model, Storm(run.pk))


def _is_wanted(run_id: int) -> bool:
    wanted = Run.objects.filter(pk=run_id, paused=False, cancelled=False, failure="")
    return wanted.filter(scored_at=None).exists()


def _build(run: Run, model: ChatModel | None) -> Pipeline:
    encoder = MiniLM(StoredVectors("pipeline"))
    try:
        pipeline = registry.build(
            run.pipeline,
            run.config,
            encoder=encoder,
            store=FileStore(),
            rows_for=_rows_for(run),
            model=model,
        )
    except PipelineError as error:
        raise CannotRun(error.message) from error
    except Exception as error:
        logger.exception("Pipeline %s cannot be built.", run.pipeline)
        raise CannotRun(f"The pipeline cannot be built: {_text(error)}") from error
    Run.objects.filter(pk=run.pk, pipeline_version="").update(pipeline_version=pipeline.version)
    started_with = Run.objects.values_list("pipeline_version", flat=True).get(pk=run.pk)
    if started_with != pipeline.version:
        raise CannotRun(
            f"The run was started with version {started_with} of {run.pipeline}, and this is "
            f"version {pipeline.version}: launch a new run."
        )
    return pipeline


def _rows_for(run: Run) -> RowsFor:
    """Layers that were built before are read, and those built now are kept for the next run."""
    config = LayersConfig()
    key = layers.key_of(config)

    def rows_for(case: Case) -> Rows:
        items = run.release.items.filter(item_id=case.conversation_id)
        return layers.StoredRows(items.values_list("conversation", flat=True).get(), key, config)

    return rows_for


def _run_case(case: CaseRun, crew: _Crew, owner: UUID) -> None:
    started = perf_counter()
    with leases.KeepAlive(lambda: leases.renew_case(case.pk, owner)):
        if crew.model:
            crew.model.begin(case)
        try:
            result = _output_fields(_output_of(case, crew))
            crew.storm.passed()
        except Exception as error:
            logger.info("Case %s failed.", case.pk, exc_info=True)
            reason = _why_pause(case, error, crew)
            if reason:
                _stop(case, owner, reason, crew)
                return
            result = _failure_fields(error, attempts=case.attempts)
        except BaseException:  # Ctrl-C, or the process is told to end
            leases.give_back_case(case.pk, owner, usage=_usage(case, crew))
            raise
    usage = _usage(case, crew) or (result.get("output") or {}).get("usage") or {}
    seconds = perf_counter() - started
    if not leases.finish_case(case.pk, owner, seconds=seconds, usage=usage, **result):
        logger.warning("Case %s was taken over; this result is dropped.", case.pk)


def _output_of(case: CaseRun, crew: _Crew) -> dict[str, Any]:
    given = adapters.to_case(case, gold_layer(crew.layer))
    output = crew.pipeline.run(given)
    if crew.model and crew.model.stopped:  # the pipeline went on without, as it should not
        raise crew.model.stopped
    return adapters.checked_output(output, crew.layer, message_count=len(given.messages))


def _why_pause(case: CaseRun, error: Exception, crew: _Crew) -> str:
    """Why the whole run has to wait for a person; empty if only this case failed."""
    stopped = crew.model.stopped if crew.model else None
    if stopped or isinstance(error, STOPS):
        return _text(stopped or error)
    if not isinstance(error, RateLimited | Unavailable):
        crew.storm.passed()
        return ""
    return _text(error) if crew.storm.breaks_out(case, error) else ""


def _stop(case: CaseRun, owner: UUID, reason: str, crew: _Crew) -> None:
    """Pause first: while this case is held, nobody takes the run for done."""
    runs.halt(case.run, reason)
    crew.storm.undo()
    leases.give_back_case(case.pk, owner, usage=_usage(case, crew))


def _usage(case: CaseRun, crew: _Crew) -> dict[str, Any]:
    """What the model cost this case so far, earlier attempts included."""
    if crew.model is None or not crew.model.meter.calls:
        return case.usage
    return together(case.usage, crew.model.meter.as_json())


def _output_fields(output: dict[str, Any]) -> dict[str, Any]:
    return {
        "state": State.DONE,
        "output": output,
        "error": "",
        "error_class": "",
        "finished_at": timezone.now(),
    }


def _failure_fields(error: Exception, *, attempts: int) -> dict[str, Any]:
    kind = _class_of(error)
    described = {"error": adapters.storable(_text(error)), "error_class": kind}
    again = kind in RETRY_SECONDS and not isinstance(error, ModelError)  # that was tried again
    if again and attempts < leases.MAX_ATTEMPTS:
        wait = timedelta(seconds=RETRY_SECONDS[kind] * 2 ** (attempts - 1))
        return {"state": State.QUEUED, "lease_expires_at": timezone.now() + wait, **described}
    return {"state": State.FAILED, "finished_at": timezone.now(), **described}


def _class_of(error: Exception) -> CaseRun.ErrorClass:
    if isinstance(error, MalformedOutput | json.JSONDecodeError | InvalidReply):
        return ErrorClass.PARSE
    if isinstance(error, RateLimited):
        return ErrorClass.RATE
    if isinstance(error, TimeoutError | ConnectionError | OperationalError | Unavailable):
        return ErrorClass.TRANSIENT
    return ErrorClass.PERMANENT


def _text(error: Exception) -> str:
    return str(error) if isinstance(error, PipelineError) else f"{type(error).__name__}: {error}"


def _score(run_id: int, owner: UUID) -> None:
    if not leases.claim_scoring(run_id, owner):
        return
    with leases.KeepAlive(lambda: leases.renew_scoring(run_id, owner)):
        try:
            scoring.score(run_id, owner)
        except OperationalError:  # the database is busy or away: a later try will do
            raise
        except RuleError as error:
            raise CannotRun(error.message) from error
        except Exception as error:
            logger.exception("Run %s cannot be scored.", run_id)
            raise CannotRun(f"The outputs cannot be scored: {_text(error)}") from error
