"""Runs without gold: on conversations that they name, worked on like every other run.

Nothing is measured; what came out is read, downloaded and, if a lead wants it, suggested. Such a
run goes with its results when it expires.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, BinaryIO

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from evaluation.models import CaseRun, Run, RunConversation
from evaluation.services.language_models import budgets, endpoints
from evaluation.services.language_models.budgets import Estimate
from evaluation.services.launch import launch, spec
from evaluation.services.unmeasured.predicting import Question, Task, TrialRefused
from evaluation.services.work import steering
from labeling.conversations import near_duplicates
from labeling.conversations.formats import conversations as formats
from labeling.conversations.formats.talks import HowToRead
from labeling.conversations.rules import transcripts
from labeling.conversations.rules.importing import Problem, Record
from labeling.domain.facts import Fact
from labeling.domain.fingerprints import fingerprint
from labeling.models import Conversation, Project
from labeling.work import blindness
from labeling.work.suggestions import allowed

KEPT_DAYS = 30
MOST_CONVERSATIONS = 200
MOST_MESSAGES = 20_000
MOST_BYTES = 20 * 1024 * 1024
SHOWN_PROBLEMS = 5
MOST_OPEN = 5
"""Such runs of one person that wait or run; their other ones wait to be asked for."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants to try, apart from the conversations."""

    by: Any
    task: Task
    name: str
    project: Project | None = None
    budget_cost: float | None = None
    budget_tokens: int | None = None


def records_of(
    files: Iterable[tuple[str, BinaryIO]], *, format: str, how: HowToRead
) -> list[Record]:
    """All of them, or why they cannot be read. No more is read than a trial takes."""
    records: list[Record] = []
    problems: list[Fact] = []
    for name, stream in files:
        for entry in formats.read(stream, format=format, name=name, how=how):
            if isinstance(entry, Problem):
                problems.append(_problem(name, entry))
            else:
                records.append(entry[1])
            if len(problems) == SHOWN_PROBLEMS:
                raise TrialRefused("trial.unreadable", problems=problems)
            if len(records) > MOST_CONVERSATIONS:
                raise TrialRefused(
                    "trial.too_large", conversations=MOST_CONVERSATIONS, messages=MOST_MESSAGES
                )
    if problems:
        raise TrialRefused("trial.unreadable", problems=problems)
    return records


def _problem(name: str, problem: Problem) -> Fact:
    place = f"{name}:{problem.line}" if problem.line else name
    return Fact("import.note", place=place, why=problem.reason)


def on_records(wish: Wish, records: Sequence[Record]) -> Run:
    """On texts from files, which only the run keeps."""
    _check_size(len(records), sum(len(record.turns) for record in records))
    ids = [record.id for record in records]
    twice = next((id for number, id in enumerate(ids) if id in ids[:number]), None)
    if twice is not None:
        raise TrialRefused("trial.id_twice", id=twice)
    _refuse_copies(wish.by, records)
    _check_open(wish.by)
    return _begin(wish, _own(records))


def on_files(wish: Wish, records: Sequence[Record]) -> Run:
    """The same of a command, however many: it works on the run, and nobody else waits for it."""
    if not records:
        raise TrialRefused("trial.no_conversation")
    return _begin(wish, _own(records), queue=False)


def _own(records: Iterable[Record]) -> list[RunConversation]:
    return [
        RunConversation(
            position=position,
            external_id=record.id,
            domain=record.domain,
            n_messages=len(record.turns),
            text=transcripts.written(record.turns),
        )
        for position, record in enumerate(records)
    ]


def on_conversations(wish: Wish, conversations: Sequence[Conversation]) -> Run:
    """On conversations of the wish's project: none of the test split, none that is blind."""
    _check_size(len(conversations), sum(each.n_messages for each in conversations))
    return on_all(wish, conversations)


def on_all(wish: Wish, conversations: Sequence[Conversation]) -> Run:
    """The same, however many."""
    pks = [conversation.pk for conversation in conversations]
    may = set(allowed(Conversation.objects.filter(pk__in=pks)).values_list("pk", flat=True))
    kept = next((each for each in conversations if each.pk not in may), None)
    if kept is not None:
        raise TrialRefused("trial.test_or_blind", id=kept.external_id)
    _check_open(wish.by)
    return _begin(
        wish,
        [
            RunConversation(
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


def chosen(project: Project | None, ids: Collection[str]) -> list[Conversation]:
    """Those of a project that somebody named; refused if one is not there."""
    if project is None:
        raise TrialRefused("trial.no_project")
    rows = project.conversations.filter(external_id__in=ids).select_related("transcript")
    if len(rows) != len(ids):
        raise TrialRefused("trial.conversation_gone")
    return list(rows)


def _check_size(conversations: int, messages: int) -> None:
    if not conversations:
        raise TrialRefused("trial.no_conversation")
    if conversations > MOST_CONVERSATIONS or messages > MOST_MESSAGES:
        raise TrialRefused(
            "trial.too_large", conversations=MOST_CONVERSATIONS, messages=MOST_MESSAGES
        )


def _refuse_copies(by: Any, records: Sequence[Record]) -> None:
    """A text that is the same as one of the person's projects has the protection of that one.

    Of other projects nothing is said: a refusal would tell that the text is there.
    """
    prints = [fingerprint(turn.content for turn in record.turns) for record in records]
    own = Conversation.objects.filter(project__in=Project.objects.visible_to(by))
    for record, matches in zip(records, near_duplicates.find(prints), strict=True):
        pks = [match.conversation for match in matches]
        stored = own.filter(pk__in=pks)
        if stored.exclude(pk__in=allowed(stored).values("pk")).exists():
            raise TrialRefused("trial.copy_of_test_or_blind", id=record.id)


def _check_open(by: Any) -> None:
    going_on = Run.objects.filter(release__isnull=True, requested_by=by, scored_at=None)
    if going_on.filter(failure=None, cancelled=False).count() >= MOST_OPEN:
        raise TrialRefused("trial.too_many_open", most=MOST_OPEN)


@transaction.atomic
def _begin(wish: Wish, talks: list[RunConversation], *, queue: bool = True) -> Run:
    task = wish.task
    budget = wish.budget_cost, wish.budget_tokens
    launch.check_budget(task.entry, *budget, asks_model=task.asks_model, model=task.model)
    run = Run(
        project=wish.project,
        pipeline=task.entry.name,
        config=task.config,
        name=wish.name[: launch.LONGEST_NAME] or talks[0].external_id,
        budget_cost=wish.budget_cost,
        budget_tokens=wish.budget_tokens,
        concurrency=endpoints.at_once(task.model) if task.asks_model else settings.RUN_CONCURRENCY,
        requested_by=wish.by,
        expires_at=timezone.now() + timedelta(days=KEPT_DAYS),
    )
    asked = _by_key(task.questions)
    run.spec = spec.describe_unmeasured(
        run,
        task.layer,
        {
            "questions": {key: question.text for key, question in asked.items()},
            "event_schema": task.event_schema,
            "model": endpoints.describe(task.model) if task.asks_model else None,
        },
    )
    run.config_sha256 = run.spec.config_sha256
    run.save()
    for talk in talks:
        talk.run = run
    RunConversation.objects.bulk_create(talks, batch_size=50)
    cases = (case for talk in talks for case in _cases_about(talk, asked))
    CaseRun.objects.bulk_create(cases, batch_size=200)
    steering.record("run.launched", run, wish.by, pipeline=run.pipeline, gold=run.name)
    if queue:
        transaction.on_commit(lambda: steering.wake(run.pk))
    return run


def _by_key(questions: Sequence[Question]) -> dict[str, Question]:
    """By their ids; by their numbers where conversations have questions of the same id."""
    ids = {question.id for question in questions}
    by_id = len(ids) == len(questions)
    return {
        question.id if by_id else str(number): question
        for number, question in enumerate(questions, start=1)
    }


def _cases_about(talk: RunConversation, asked: Mapping[str, Question]) -> Iterator[CaseRun]:
    """One, or one for each question that is asked of all conversations or of this one."""
    if not asked:
        yield CaseRun(run=talk.run, talk=talk)
    for key, question in asked.items():
        if question.conversation in ("", talk.external_id):
            yield CaseRun(run=talk.run, talk=talk, part=key, part_id=question.id)


def estimate(task: Task, talks: Iterable[int]) -> Estimate | None:
    """What a language model will probably cost for conversations of so many characters; None where
    none is asked."""
    if not task.asks_model:
        return None
    calls = task.entry.calls(task.config, task.layer)
    sizes = [characters for characters in talks for _ in task.questions or [""]]
    return budgets.estimate_of(sizes, calls, task.model)


def refuse_hidden(user: Any, run: Run) -> None:
    """Who labels a conversation blind must not see it, and of test items nobody sees anything.

    Both may have come after the run.
    """
    stored = Conversation.objects.filter(run_conversations__run=run)
    blindness.refuse(user, stored)
    if stored.filter(split=Conversation.Split.TEST).exists():
        raise TrialRefused("trial.now_test")


def done_cases(run: Run) -> QuerySet[CaseRun]:
    """Without the texts."""
    rows = CaseRun.objects.filter(run=run, state=CaseRun.State.DONE).order_by("pk")
    return rows.select_related("talk").defer("talk__text")


def forget() -> None:
    """Delete what has expired."""
    for run in Run.objects.filter(release__isnull=True, expires_at__lt=timezone.now())[:20]:
        run.delete()
