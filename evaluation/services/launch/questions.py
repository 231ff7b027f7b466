"""Making questions about stored conversations, and freezing them: marked as what they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.utils.formats import date_format

from evaluation import adapters
from evaluation.questions import local
from evaluation.questions import model as by_model
from evaluation.questions.sample import Asked, Talk, TalkMessage
from evaluation.services.asking import ENDS, Asking, GenerationRefused
from evaluation.services.launch import generated
from evaluation.services.launch.generated import Progress
from labeling.domain.facts import Fact
from labeling.exchange.gold_imports import freeze_imported
from labeling.models import Conversation, GoldRelease, Project
from labeling.schema import check_payload
from labeling.schema.labels import StoredLabel
from labeling.schema.layers import published_as
from pipelines.llm import ModelError

TRIES = 3
"""Up to this number of questions are asked for each that is wanted, until enough of them verify."""

MOST = 10_000
LEAST_MESSAGES = 2
(LAYER,) = published_as("question cases")


@dataclass(frozen=True, slots=True)
class Wish:
    project: str
    count: int
    seed: int = 0
    split: str = ""


@dataclass(slots=True)
class GeneratedQuestions(generated.Generated[Asked]):
    project: Project = field(kw_only=True)

    def take(self, asked: Asked, problems: list[Fact]) -> None:
        if any(
            asked.question == other.question for other in self.accepted if other.talk == asked.talk
        ):
            problems = [*problems, Fact("sample.question_again")]
        super(GeneratedQuestions, self).take(asked, problems)


class _Chosen(NamedTuple):
    talk: Talk
    messages: tuple[TalkMessage, ...]


def make(wish: Wish, *, progress: Progress = lambda _: None) -> GeneratedQuestions:
    """Out of the words of the messages: the same for the same conversations and seed."""
    project, talks = _opened(wish)
    batch = GeneratedQuestions(f"{local.version()} seed {wish.seed}", project=project)
    for asked in _in_turns([local.questions(talk, wish.seed) for talk in talks]):
        batch.take(asked, _problems_of(asked))
        progress(len(batch.accepted))
        if len(batch.accepted) == wish.count:
            break
    return batch


def make_by_model(
    wish: Wish,
    *,
    budget_cost: float | None = None,
    budget_tokens: int | None = None,
    progress: Progress = lambda _: None,
) -> GeneratedQuestions:
    """By the language model of the settings; of what does not verify another one is asked."""
    project, talks = _opened(wish)
    asking = Asking.opened(Fact("task.ask_questions"), budget_cost, budget_tokens)
    batch = GeneratedQuestions(
        f"{by_model.version(asking.id)} seed {wish.seed}"[:200], project=project
    )
    turns = _in_turns([_choices(talk, wish.seed) for talk in talks])
    for tries, chosen in enumerate(turns):
        if len(batch.accepted) == wish.count or tries == TRIES * wish.count:
            break
        try:
            _one_by_model(batch, chosen, asking, wish.seed)
        except ENDS as error:
            batch.stopped = adapters.fact_of(error)
            break
        progress(len(batch.accepted))
    batch.usage = asking.spent
    return batch


def store(batch: GeneratedQuestions, *, gold: str, actor: Any = None) -> GoldRelease | None:
    """Frozen as separate gold; None if the newest release of the name holds exactly this."""
    if not batch.accepted:
        return None
    asked: dict[str, list[StoredLabel]] = {}
    for question in batch.accepted:
        asked.setdefault(question.talk, []).append(question.as_label())
    source = batch.source()
    imported = [
        generated.imported(talk, source, "questions", labels) for talk, labels in asked.items()
    ]
    return freeze_imported(
        project=batch.project, layer=LAYER, imported=imported, name=gold, by=actor
    )


def _opened(wish: Wish) -> tuple[Project, list[Talk]]:
    if not 1 <= wish.count <= MOST:
        raise GenerationRefused("generation.number_of_questions", most=MOST)
    project = Project.objects.filter(slug=wish.project).first()
    if project is None:
        raise GenerationRefused("generation.no_project", project=wish.project)
    talks = [_talk(conversation) for conversation in _conversations(project, wish)]
    if not talks:
        where = (
            Fact("generation.split_of", split=wish.split, project=project.slug)
            if wish.split
            else project.slug
        )
        raise GenerationRefused("generation.too_short", where=where, least=LEAST_MESSAGES)
    return project, talks


def _conversations(project: Project, wish: Wish) -> list[Conversation]:
    """One question for each conversation before any gets a second one, so no more are needed."""
    conversations = project.conversations.filter(**({"split": wish.split} if wish.split else {}))
    able = conversations.filter(n_messages__gte=LEAST_MESSAGES).select_related("transcript")
    return list(able.order_by("external_id")[: wish.count * TRIES])


def _talk(conversation: Conversation) -> Talk:
    messages = [
        TalkMessage(
            message.index,
            message.speaker or f"the {message.role}",
            message.content,
            date_format(message.time, "j F Y") if message.time else "",
        )
        for message in conversation.messages
    ]
    return Talk(conversation.external_id, messages)


def _in_turns(streams: list[Iterator[Any]]) -> Iterator[Any]:
    """One of each, then a second one of each, until all have run out."""
    while streams:
        left = []
        for stream in streams:
            for element in stream:
                yield element
                left.append(stream)
                break
        streams = left


def _choices(talk: Talk, seed: int) -> Iterator[_Chosen]:
    return (_Chosen(talk, messages) for messages in by_model.choices(talk, seed))


def _one_by_model(batch: GeneratedQuestions, chosen: _Chosen, asking: Asking, seed: int) -> None:
    talk, messages = chosen
    try:
        asked = by_model.ask(talk, messages, model=asking, repetition=seed)
        problems = _problems_of(asked) or by_model.problems_of(asked, messages, model=asking)
    except ENDS:
        raise
    except ModelError as error:
        batch.drop([generated.unusable(error)])
        return
    batch.take(asked, problems)


def _problems_of(asked: Asked) -> list[Fact]:
    """What the schema of questions says of it."""
    problems = check_payload(
        {"questions": [asked.as_label()]},
        layers=[LAYER],
        message_count=max(asked.evidence) + 1,
        complete=True,
    )
    fields = sorted({problem.path.rsplit(".", 1)[-1] for problem in problems})
    return [Fact("sample.labels_break_schema", field=name) for name in fields]
