"""Working through a run, the same way in a queue worker and in a command's foreground.

The rows say what is left to do, so the work may stop anywhere, start again anywhere, and be done
by several processes at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.db import OperationalError, connections
from django.db.models import Q, QuerySet

from evaluation import adapters
from evaluation.layers import gold_layer
from evaluation.metrics.registry import METRICS_VERSION, PROTOCOL_VERSION
from evaluation.models import Answer, CaseRun, Run
from evaluation.services import memory_builds
from evaluation.services.judging import answers, judgings
from evaluation.services.run import scoring
from evaluation.services.stores import FileStore
from evaluation.services.work import endings, leases, slots
from evaluation.services.work.working import (
    WorkContext,
    carry_out,
    context_for,
    fact_of,
    log_failure,
)
from labeling.agreement.vectors import StoredVectors
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.jobs.queue import KeepAlive
from pipelines import registry
from pipelines.encoder import MiniLM
from pipelines.errors import PipelineError
from pipelines.llm import ChatModel
from pipelines.memory.layers.build import Rows
from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.talks import RowsFor
from pipelines.types import Case, Pipeline, Preparing

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Shift:
    """Who works on a run, and what is asked before each piece of work and told after it."""

    run_id: int
    owner: UUID
    goes_on: Callable[[], bool]
    progress: Callable[[], None]

    @property
    def is_wanted(self) -> bool:
        wanted = Run.objects.filter(pk=self.run_id, paused=False, cancelled=False, failure=None)
        return self.goes_on() and wanted.filter(scored_at=None).exists()


class CannotRun(Exception):
    """The whole run can't continue; ``fact`` says why."""

    def __init__(self, fact: Fact) -> None:
        super().__init__(str(fact))
        self.fact = fact


@dataclass(frozen=True, slots=True)
class PreparingLease(leases.WorkLease):
    """The lease on a case whose conversation is prepared before its first question."""

    def end_late(self) -> None:
        """Every other case of the conversation would wait as long."""
        case = CaseRun.objects.only("run", "item", "talk").get(pk=self.pk)
        problem = Fact("case.preparing_too_long", hours=memory_builds.BUILDING_SECONDS / 3600)
        failed = leases.failed(problem, CaseRun.ErrorClass.TRANSIENT)
        waiting = _about_the_same(case) & Q(state=CaseRun.State.QUEUED)
        own = Q(pk=self.pk, owner=self.owner, state=CaseRun.State.RUNNING)
        CaseRun.objects.filter(own | waiting).update(owner=None, lease_expires_at=None, **failed)


def _about_the_same(case: CaseRun) -> Q:
    """All cases of the run about the conversation of this one."""
    return Q(run=case.run_id, item=case.item_id, talk=case.talk_id)


def take_turn(run_id: int, owner: UUID) -> None:
    """Work on the run in a slot, until it is over or another run needs the thread more."""
    turn = slots.Turn(owner)
    work(run_id, owner, goes_on=turn.goes_on, at_once=turn.look())


def work(
    run_id: int,
    owner: UUID,
    *,
    progress: Callable[[], None] = lambda: None,
    goes_on: Callable[[int], bool] = lambda thread: True,
    at_once: int = 1,
) -> None:
    """Do what there is to do for the run, until nothing is left that can be taken now.

    ``at_once`` cases are worked on by as many threads, each with a pipeline of its own. What a
    death has left behind is done alone before, so that what ends its process ends no other case.
    """

    def work_off(thread: int) -> None:
        _work_off(Shift(run_id, owner, partial(goes_on, thread), progress))

    try:
        if at_once > 1:
            _work_off(
                Shift(run_id, owner, lambda: goes_on(0) and leases.has_lost(run_id), progress)
            )
            _in_threads(at_once, work_off)
        else:
            work_off(0)
        if goes_on(0):
            _score(run_id, owner)
    except CannotRun as problem:
        endings.fail(run_id, problem.fact)
    progress()


def _in_threads(n: int, do: Callable[[int], None]) -> None:
    """The first error is raised when all have ended."""

    def alone(thread: int) -> None:
        try:
            do(thread)
        finally:
            connections.close_all()  # those of this thread

    with ThreadPoolExecutor(n, thread_name_prefix="case") as pool:
        for done in [pool.submit(alone, thread) for thread in range(n)]:
            done.result()


def _work_off(shift: Shift) -> None:
    _run_cases(shift)
    _write_answers(shift)
    _judge(shift)


def _run_cases(shift: Shift) -> None:
    """Generation: the pipeline's output for each case."""
    cases = CaseRun.objects.filter(run=shift.run_id)
    context: WorkContext | None = None
    pipeline: Pipeline | None = None
    prepared: set[tuple[int | None, int | None]] = set()
    while shift.is_wanted and cases.unfinished().exists():
        if context is None or pipeline is None:
            context = _context(shift, cases)
            if context is None:
                return
            pipeline = _build(context.run, context.model)
        case = leases.claim_case(shift.run_id, shift.owner)
        if case is None:
            return
        about = (case.item_id, case.talk_id)
        if isinstance(pipeline, Preparing) and about not in prepared:
            _prepare(case, pipeline, context)
            prepared.add(about)
        do = partial(_output_of, case, pipeline, context)
        carry_out(case, context, do, repetition=case.repetition)
        shift.progress()


def _prepare(case: CaseRun, pipeline: Preparing, context: WorkContext) -> None:
    """Preparing a conversation doesn't count toward the time of its first question.

    The case is leased meanwhile. What fails here fails again in the case, which reports it.
    """
    lease = PreparingLease(type(case), case.pk, context.owner)
    with KeepAlive(lease, seconds=memory_builds.BUILDING_SECONDS):
        try:
            pipeline_case = adapters.to_case(case, gold_layer(context.run.spec.layer))
            with _alone(case):
                pipeline.prepare(pipeline_case)
        except Exception as error:  # of any kind: the case will fail with it, too, and store it
            log_failure(logger, f"The preparation of {case}", error)
        except BaseException:  # Ctrl-C, or the process is told to end
            lease.give_back()
            raise


def _alone(case: CaseRun) -> AbstractContextManager[object]:
    """Layers of gold are kept for other runs, so only one process builds them."""
    if case.talk_id is not None:
        return nullcontext()
    return memory_builds.alone(case.item.conversation_id, memory_builds.key_of(LayersConfig()))


def _context(shift: Shift, pieces: QuerySet[Any]) -> WorkContext | None:
    run = Run.objects.select_related("release__project", "project").get(pk=shift.run_id)
    return context_for(run, shift.owner, model=run.spec.model, pieces=pieces)


def _write_answers(shift: Shift) -> None:
    """Answering: from what each case retrieved."""
    context: WorkContext | None = None
    while shift.is_wanted and answers.ready(shift.run_id).exists():
        context = context or _context(shift, Answer.objects.filter(case__run=shift.run_id))
        if context is None or context.model is None:
            return
        answer = answers.claim(shift.run_id, shift.owner)
        if answer is None:
            return
        do = partial(answers.write, answer, context.run, context.model)
        carry_out(answer, context, do, repetition=answer.case.repetition)
        shift.progress()


def _judge(shift: Shift) -> None:
    """Judging: by the judge that was written down when the judging was asked for."""
    for judging in judgings.open_judgings(shift.run_id):
        context: WorkContext | None = None
        while shift.is_wanted and judgings.ready(judging).exists():
            context = context or context_for(
                judging.run,
                shift.owner,
                model=judging.spec["model"],
                pieces=judging.judgements.all(),
                judging=True,
            )
            if context is None or context.model is None:
                return
            judgement = judgings.claim(judging, shift.owner)
            if judgement is None:
                break
            do = partial(judgings.judge, judgement, context.model)
            carry_out(judgement, context, do, repetition=judgement.answer.case.repetition)
            shift.progress()


def _build(run: Run, model: ChatModel | None) -> Pipeline:
    encoder = MiniLM(StoredVectors("pipeline"))
    _check_source(run)
    try:
        pipeline = registry.build(
            run.pipeline,
            run.config,
            encoder=encoder,
            store=FileStore(),
            rows_for=_rows_for(run) if run.is_measured else None,
            model=model,
        )
    except PipelineError as error:
        raise CannotRun(adapters.fact_of(error)) from error
    except Exception as error:  # a pipeline is anybody's code: the page of the run says why
        logger.exception("Pipeline %s cannot be built.", run.pipeline)
        raise CannotRun(Fact("run.cannot_build", text=fact_of(error))) from error
    Run.objects.filter(pk=run.pk, pipeline_version="").update(pipeline_version=pipeline.version)
    started_with = Run.objects.values_list("pipeline_version", flat=True).get(pk=run.pk)
    if started_with != pipeline.version:
        raise CannotRun(
            Fact(
                "run.other_version",
                started=started_with,
                pipeline=run.pipeline,
                version=pipeline.version,
            )
        )
    return pipeline


def _check_source(run: Run) -> None:
    """A run goes on by the version of the package that it was launched with."""
    launched, here = run.spec.pipeline_source, registry.PIPELINES.source_of(run.pipeline)
    if launched is None or here is None or launched.model_dump() == here._asdict():
        return
    raise CannotRun(
        Fact(
            "run.other_version",
            started=launched.version,
            pipeline=launched.distribution,
            version=here.version,
        )
    )


def _rows_for(run: Run) -> RowsFor:
    """Layers that were built before are read, and those built now are kept for the next run."""
    config = LayersConfig()
    key = memory_builds.key_of(config)

    def rows_for(case: Case) -> Rows:
        items = run.release.items.filter(item_id=case.conversation_id)
        return memory_builds.StoredRows(
            items.values_list("conversation", flat=True).get(), key, config
        )

    return rows_for


def _output_of(case: CaseRun, pipeline: Pipeline, context: WorkContext) -> leases.Columns:
    layer = context.run.spec.layer
    pipeline_case = adapters.to_case(case, gold_layer(layer))
    if not case.exposure:
        _note_exposure(case, pipeline_case, context.run)
    output = pipeline.run(pipeline_case)
    if context.model and (ended := context.model.stopped or context.model.late):
        raise ended  # the pipeline went on without, as it should not
    n_messages = len(pipeline_case.messages)
    checked = adapters.checked_output(output, layer, message_count=n_messages)
    if context.model and gold_layer(layer).is_unreadable(checked):
        context.model.forget_replies()  # this run measures it as it is; the next one asks
    return {"output": checked}


def _note_exposure(case: CaseRun, pipeline_case: Case, run: Run) -> None:
    """Once for all cases about the conversation, also for those that will fail."""
    exposure = registry.exposure(run.pipeline, run.config, pipeline_case.messages)
    same = CaseRun.objects.filter(_about_the_same(case), exposure="")
    same.update(exposure=exposure.value)


def _score(run_id: int, owner: UUID) -> None:
    if not leases.claim_scoring(run_id, owner):
        return
    versions = (run_id, METRICS_VERSION, PROTOCOL_VERSION)
    logger.info("Run %s is scored by metrics.version=%s, protocol.version=%s.", *versions)
    lease = leases.ScoringLease(run_id, owner)
    with KeepAlive(lease, seconds=leases.SCORING_SECONDS):
        try:
            scoring.score(run_id, owner)
        except OperationalError:  # the database is busy or away: a later try will do
            raise
        except RuleError as error:
            endings.fail(run_id, error.fact, scorer=owner)
        except Exception as error:  # the page of the run says why it has no scores
            logger.exception("Run %s cannot be scored.", run_id)
            problem = Fact("run.cannot_score", text=fact_of(error))
            endings.fail(run_id, problem, scorer=owner)
