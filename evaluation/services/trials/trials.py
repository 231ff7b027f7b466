"""Trials that the page and the API begin: stored, worked on by workers, gone when they expire.

The rows of the cases say what is left to do, so a worker may be killed anywhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from time import perf_counter
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from evaluation import adapters
from evaluation.models import Trial, TrialCase, TrialConversation, Work
from evaluation.services.language_models import budgets, endpoints
from evaluation.services.language_models.budgets import Estimate
from evaluation.services.language_models.metering import PaidModel
from evaluation.services.launch import launch
from evaluation.services.stores import FileStore
from evaluation.services.trials import predicting
from evaluation.services.trials.files import Prediction
from evaluation.services.trials.predicting import Question, Talk, Task, TrialRefused
from evaluation.services.work import leases, working
from labeling.domain import transcripts
from labeling.domain.exchange.importing import Record
from labeling.domain.facts import Fact
from labeling.domain.fingerprints import fingerprint
from labeling.jobs import queue
from labeling.jobs.queue import KeepAlive
from labeling.models import Conversation, Project
from labeling.services import blindness, near_duplicates
from labeling.services.vectors import StoredVectors
from labeling.services.work.suggestions import allowed
from pipelines import registry
from pipelines.chat.endpoint import DEFAULT
from pipelines.encoder import MiniLM
from pipelines.types import Pipeline

logger = logging.getLogger(__name__)

KEPT_DAYS = 30
MOST_CONVERSATIONS = 200
MOST_MESSAGES = 20_000
MOST_OPEN = 5
"""Trials of one person that wait or run; their other ones wait to be asked for."""

CANCELLED = Fact("trial.cancelled")


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants to try, apart from the conversations."""

    maker: Any
    task: Task
    name: str
    project: Project | None = None
    budget_cost: float | None = None
    budget_tokens: int | None = None


# --- beginning ------------------------------------------------------------------------------------


def on_records(wish: Wish, records: Sequence[Record]) -> Trial:
    """On texts from files, which only the trial keeps."""
    _check_size(len(records), sum(len(record.turns) for record in records))
    ids = [record.id for record in records]
    twice = next((id for number, id in enumerate(ids) if id in ids[:number]), None)
    if twice is not None:
        raise TrialRefused("trial.id_twice", id=twice)
    _refuse_copies(wish.maker, records)
    return _begin(
        wish,
        [
            TrialConversation(
                position=position,
                external_id=record.id,
                domain=record.domain,
                n_messages=len(record.turns),
                text=transcripts.written(record.turns),
            )
            for position, record in enumerate(records)
        ],
    )


def on_conversations(wish: Wish, conversations: Sequence[Conversation]) -> Trial:
    """On conversations of the wish's project: none of the test split, none that is blind."""
    _check_size(len(conversations), sum(each.n_messages for each in conversations))
    pks = [conversation.pk for conversation in conversations]
    may = set(allowed(Conversation.objects.filter(pk__in=pks)).values_list("pk", flat=True))
    kept = next((each for each in conversations if each.pk not in may), None)
    if kept is not None:
        raise TrialRefused("trial.test_or_blind", id=kept.external_id)
    return _begin(
        wish,
        [
            TrialConversation(
                position=position,
                external_id=conversation.external_id,
                domain=conversation.domain,
                n_messages=conversation.n_messages,
                conversation=conversation,
            )
            for position, conversation in enumerate(conversations)
        ],
    )


def choosable(project: Project) -> QuerySet[Conversation]:
    """The conversations of a project that a pipeline may be tried on."""
    return allowed(project.conversations.all())


def _check_size(conversations: int, messages: int) -> None:
    if not conversations:
        raise TrialRefused("trial.no_conversation")
    if conversations > MOST_CONVERSATIONS or messages > MOST_MESSAGES:
        raise TrialRefused(
            "trial.too_large", conversations=MOST_CONVERSATIONS, messages=MOST_MESSAGES
        )


def _refuse_copies(maker: Any, records: Sequence[Record]) -> None:
    """A text that is the same as one of the maker's projects has the protection of that one.

    Of other projects nothing is said: a refusal would tell that the text is there.
    """
    prints = [fingerprint(turn.content for turn in record.turns) for record in records]
    own = Conversation.objects.filter(project__in=Project.objects.visible_to(maker))
    for record, matches in zip(records, near_duplicates.find(prints), strict=True):
        pks = [match.conversation for match in matches]
        stored = own.filter(pk__in=pks)
        if stored.exclude(pk__in=allowed(stored).values("pk")).exists():
            raise TrialRefused("trial.copy_of_test_or_blind", id=record.id)


def _begin(wish: Wish, conversations: list[TrialConversation]) -> Trial:
    task = wish.task
    launch.check_budget(
        task.entry, wish.budget_cost, wish.budget_tokens, asks_model=task.asks_model
    )
    _refuse_more(Trial.objects.filter(maker=wish.maker))
    with transaction.atomic():
        trial = Trial.objects.create(
            maker=wish.maker,
            project=wish.project,
            name=wish.name[:200] or conversations[0].external_id,
            pipeline=task.entry.name,
            layer=task.layer,
            config=task.config,
            questions=[[question.id, question.text] for question in task.questions],
            event_schema=task.event_schema or {},
            model=endpoints.describe() if task.asks_model else None,
            budget_cost=wish.budget_cost,
            budget_tokens=wish.budget_tokens,
            expires_at=timezone.now() + timedelta(days=KEPT_DAYS),
        )
        for conversation in conversations:
            conversation.trial = trial
        TrialConversation.objects.bulk_create(conversations, batch_size=50)
        TrialCase.objects.bulk_create(
            [
                TrialCase(
                    trial=trial,
                    conversation=conversation,
                    case_id=_case_id(conversation, question),
                    question=question.text if question else "",
                )
                for conversation in conversations
                for question in task.questions or [None]
            ],
            batch_size=200,
        )
        queue.ask("trial", trial.pk)
    return trial


def _refuse_more(trials: QuerySet[Trial]) -> None:
    open_ = trials.filter(failure=None, cases__in=TrialCase.objects.unfinished())
    if open_.distinct().count() >= MOST_OPEN:
        raise TrialRefused("trial.too_many_open", most=MOST_OPEN)


def _case_id(conversation: TrialConversation, question: Question | None) -> str:
    name = conversation.external_id
    return f"{name}:{question.id}" if question else name


def estimate(task: Task, talks: Iterable[tuple[int, int]]) -> Estimate | None:
    """What a language model will probably cost; None where none is asked.

    ``talks`` are characters and messages of each conversation.
    """
    if not task.asks_model:
        return None
    calls = task.entry.calls(task.config, task.layer)
    sizes = []
    for characters, messages in talks:
        if calls.messages is not None and messages > calls.messages:
            characters = round(characters * calls.messages / messages)
        sizes += [characters] * max(1, len(task.questions))
    return budgets.estimate_of(sizes, calls)


# --- reading --------------------------------------------------------------------------------------


def refuse_hidden(user: Any, trial: Trial) -> None:
    """Who labels a conversation blind must not see it, and of test items nobody sees anything.

    Both may have come after the trial.
    """
    stored = Conversation.objects.filter(trial_conversations__trial=trial)
    blindness.refuse(user, stored)
    if stored.filter(split=Conversation.Split.TEST).exists():
        raise TrialRefused("trial.now_test")


def opened(user: Any, pk: int) -> Trial | None:
    """The trial with its progress; None where there is none that the user may see."""
    rows = Trial.objects.visible_to(user).with_progress()
    return rows.select_related("maker", "project").filter(pk=pk).first()


def task_of(trial: Trial) -> Task:
    return Task(
        registry.entry_for(trial.pipeline),
        trial.layer,
        trial.config,
        tuple(Question(id, text) for id, text in trial.questions),
        trial.event_schema or None,
    )


def done_cases(trial: Trial) -> QuerySet[TrialCase]:
    return TrialCase.objects.filter(trial=trial, state=Work.State.DONE)


def predictions_of(trial: Trial) -> Iterator[Prediction]:
    rows = done_cases(trial).values_list("case_id", "output").order_by("pk")
    for case_id, output in rows.iterator(chunk_size=20):
        yield Prediction(case_id, output or {})


# --- steering -------------------------------------------------------------------------------------


@transaction.atomic
def cancel(trial: Trial) -> bool:
    """What is done stays; a worker that is at a case notices that it has lost it.

    False: it has ended meanwhile, and stays as it has ended.
    """
    n_open = (
        TrialCase.objects.filter(trial=trial)
        .unfinished()
        .update(
            state=Work.State.FAILED,
            error=CANCELLED,
            error_class=Work.ErrorClass.PERMANENT,
            owner=None,
            lease_expires_at=None,
            finished_at=timezone.now(),
        )
    )
    if n_open:
        Trial.objects.filter(pk=trial.pk).update(cancelled=True)
    return bool(n_open)


@transaction.atomic
def again(trial: Trial) -> None:
    """Try again what failed, was cancelled, or did not come to its turn."""
    _refuse_more(Trial.objects.filter(maker=trial.maker_id).exclude(pk=trial.pk))
    Trial.objects.filter(pk=trial.pk).update(cancelled=False, failure=None)
    TrialCase.objects.filter(trial=trial, state=Work.State.FAILED).update(
        state=Work.State.QUEUED,
        attempts=0,
        error=None,
        error_class="",
        lease_expires_at=None,
        finished_at=None,
    )
    queue.ask("trial", trial.pk)


def forget() -> None:
    """Delete what has expired."""
    for trial in Trial.objects.filter(expires_at__lt=timezone.now())[:20]:
        trial.delete()


# --- working --------------------------------------------------------------------------------------


def due() -> QuerySet[Trial, int]:
    return Trial.objects.startable().values_list("pk", flat=True)


def work(trial_id: int, owner: UUID, *, progress: Callable[[], None] | None = None) -> None:
    """Make what is left to make, case by case."""
    trial = Trial.objects.filter(pk=trial_id, failure=None).first()
    if trial is None:
        return
    problem = working.problem_with(trial.model) if trial.model else None
    if problem:
        _stop(trial, problem, None, owner)
        return
    built: Pipeline | None = None
    model = PaidModel.named(DEFAULT, check=lambda: budgets.check_trial(trial_id))
    while case := _claim(trial_id, owner):
        try:
            if built is None:
                built = _build(trial, model)
        except Exception as error:  # a pipeline is anybody's code: its maker learns why
            working.log_failure(logger, f"Pipeline {trial.pipeline}", error)
            _stop(trial, working.fact_of(error), case, owner)
            return
        _carry_out(case, trial, built, model, owner)
        if model and model.stopped:
            _stop(trial, working.fact_of(model.stopped), None, owner)
            return
        if progress:
            progress()


def _claim(trial_id: int, owner: UUID) -> TrialCase | None:
    taken = leases.claim(TrialCase.objects.filter(trial=trial_id, trial__failure=None), owner)
    rows = TrialCase.objects.select_related("conversation__conversation__transcript")
    return rows.get(pk=taken) if taken else None


def _build(trial: Trial, model: PaidModel | None) -> Pipeline:
    pipeline = registry.build(
        trial.pipeline,
        trial.config,
        encoder=MiniLM(StoredVectors("pipeline")),
        store=FileStore(),
        model=model,
    )
    Trial.objects.filter(pk=trial.pk).update(pipeline_version=pipeline.version[:50])
    return pipeline


def _carry_out(
    case: TrialCase, trial: Trial, pipeline: Pipeline, model: PaidModel | None, owner: UUID
) -> None:
    started, lease = perf_counter(), leases.lease_of(case, owner)
    with KeepAlive(lease):
        if model:
            model.begin(case)
        try:
            asked = _case(case, trial)
            output = predicting.predict(pipeline, asked)
            fields = {
                **working.done(),
                "output": output,
                "n_labels": sum(predicting.counted(output, trial.layer).values()),
            }
        except Exception as error:  # this case fails, the others continue: its row says why
            working.log_failure(logger, case, error)
            if model and model.stopped:
                lease.give_back()
                return
            fields = dict(working.failure_fields(error, attempts=case.attempts))
        except BaseException:  # Ctrl-C, or the process is told to end
            lease.give_back()
            raise
    if not leases.finish(case, owner, seconds=perf_counter() - started, **fields):
        logger.warning("%s was taken over or cancelled; this result is dropped.", case)


def _case(case: TrialCase, trial: Trial) -> Any:
    conversation, task = case.conversation, task_of(trial)
    talk = Talk(conversation.external_id, conversation.domain, adapters.messages_of(conversation))
    return next(each for each in predicting.cases_of(talk, task) if each.case_id == case.case_id)


def _stop(trial: Trial, why: Fact, case: TrialCase | None, owner: UUID) -> None:
    """Nothing more is tried until somebody asks for it again."""
    Trial.objects.filter(pk=trial.pk).update(failure=why)
    if case:
        leases.lease_of(case, owner).give_back()
