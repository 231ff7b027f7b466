"""Working through a run, the same way in a queue worker and in a command's foreground.

The rows say what is left to do, so the work may stop anywhere, start again anywhere, and be done
by several processes at once.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import timedelta
from time import perf_counter
from typing import Any
from uuid import UUID

from django.db import OperationalError
from django.utils import timezone

from evaluation import adapters
from evaluation.layers import MalformedOutput, gold_layer
from evaluation.models import CaseRun, Run
from evaluation.services import layers, leases, scoring
from evaluation.services.stores import FileStore
from labeling.domain.errors import RuleError
from labeling.services.vectors import StoredVectors
from pipelines import registry
from pipelines.encoder import MiniLM
from pipelines.errors import PipelineError
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


def _run_cases(run_id: int, owner: UUID, progress: Progress | None) -> None:
    run: Run | None = None
    pipeline: Pipeline | None = None
    while _is_wanted(run_id) and CaseRun.objects.filter(run=run_id).unfinished().exists():
        if run is None or pipeline is None:
            run = Run.objects.select_related("release").get(pk=run_id)
            pipeline = _build(run)
        case = leases.claim_case(run_id, owner)
        if case is None:
            return
        _run_case(case, pipeline, owner, layer=run.release.layer)
        if progress:
            progress()


def _is_wanted(run_id: int) -> bool:
    wanted = Run.objects.filter(pk=run_id, paused=False, cancelled=False, failure="")
    return wanted.filter(scored_at=None).exists()


def _build(run: Run) -> Pipeline:
    encoder = MiniLM(StoredVectors("pipeline"))
    try:
        pipeline = registry.build(
            run.pipeline,
            run.config,
            encoder=encoder,
            store=FileStore(),
            rows_for=_rows_for(run),
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


def _run_case(case: CaseRun, pipeline: Pipeline, owner: UUID, *, layer: str) -> None:
    started = perf_counter()
    with leases.KeepAlive(lambda: leases.renew_case(case.pk, owner)):
        try:
            result = _output_fields(_output_of(case, pipeline, layer))
        except Exception as error:
            logger.info("Case %s failed.", case.pk, exc_info=True)
            result = _failure_fields(error, attempts=case.attempts)
        except BaseException:  # Ctrl-C, or the process is told to end
            leases.give_back_case(case.pk, owner)
            raise
    stored = leases.finish_case(case.pk, owner, seconds=perf_counter() - started, **result)
    if not stored:
        logger.warning("Case %s was taken over; this result is dropped.", case.pk)


def _output_of(case: CaseRun, pipeline: Pipeline, layer: str) -> dict[str, Any]:
    given = adapters.to_case(case, gold_layer(layer))
    return adapters.checked_output(pipeline.run(given), layer, message_count=len(given.messages))


def _output_fields(output: dict[str, Any]) -> dict[str, Any]:
    return {
        "state": State.DONE,
        "output": output,
        "usage": output.get("usage") or {},
        "error": "",
        "error_class": "",
        "finished_at": timezone.now(),
    }


def _failure_fields(error: Exception, *, attempts: int) -> dict[str, Any]:
    kind = _class_of(error)
    described = {"error": adapters.storable(_text(error)), "error_class": kind}
    if kind in RETRY_SECONDS and attempts < leases.MAX_ATTEMPTS:
        wait = timedelta(seconds=RETRY_SECONDS[kind] * 2 ** (attempts - 1))
        return {"state": State.QUEUED, "lease_expires_at": timezone.now() + wait, **described}
    return {"state": State.FAILED, "finished_at": timezone.now(), **described}


def _class_of(error: Exception) -> CaseRun.ErrorClass:
    if isinstance(error, MalformedOutput | json.JSONDecodeError):
        return ErrorClass.PARSE
    if isinstance(error, TimeoutError | ConnectionError | OperationalError):
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
