"""Making synthetic conversations, or questions about stored ones, and storing those that verify.

They are always marked as what they are, and questions become separate gold.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, zip_longest
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import transaction
from django.utils.formats import date_format

from evaluation import adapters
from evaluation.services.language_models import budgets, endpoints
from evaluation.services.language_models.metering import STOPS, CountedModel
from evaluation.synthetic import questions, talks
from evaluation.synthetic.questions import Asked, Talk, TalkMessage
from evaluation.synthetic.talks import MIXED, Sample
from labeling.conversations import conversations
from labeling.conversations.rules.importing import Record
from labeling.conversations.rules.importing import Turn as StoredTurn
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.exchange.gold_imports import Imported, Source, freeze_imported
from labeling.gold.rules.content import LabelOrigin
from labeling.models import Conversation, GoldRelease, Project
from labeling.schema import DEFAULT_LAYER
from labeling.schema.labels import StoredLabel
from labeling.schema.layers import published_as
from pipelines.llm import ModelError, RateLimited, Unavailable

ALL = "all"
TRIES = 3
"""So often a model is asked for each that is wanted, until enough of them verify."""
ENDS = (*STOPS, RateLimited, Unavailable)
"""After one of these every further request would fail as well, or take too long."""
MOST_TALKS, MOST_QUESTIONS = 100_000, 10_000
LEAST_MESSAGES = 2
MADE_HOW = "generated"
(QUESTIONS,) = published_as("question cases")

Progress = Callable[[int], object]
T = TypeVar("T")


class GenerationRefused(RuleError):
    """Such conversations or questions cannot be made."""

    code = "generation_refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    project: str
    count: int
    seed: int = 0
    split: str = ""
    domain: str = ALL
    difficulty: str = MIXED


@dataclass(slots=True)
class Batch(Generic[T]):
    """What verified, and what was thrown out for which reasons."""

    generator: str
    count: int
    accepted: list[T] = field(default_factory=list)
    rejected: Counter[Fact] = field(default_factory=Counter)
    n_rejected: int = 0
    stopped: Fact | None = None
    """Why there are fewer than was asked for."""

    @property
    def over(self) -> bool:
        return self.stopped is not None or len(self.accepted) == self.count

    def settled(self, attempt: Callable[[], tuple[T, list[Fact]]]) -> bool:
        """Whether what it made verifies, or nothing more can be made."""
        try:
            sample, problems = attempt()
        except ENDS as error:
            self.stopped = adapters.fact_of(error)
            return True
        except ModelError as error:  # equal failures are counted together
            problems = [Fact("sample.unusable_reply", code=error.code)]
        if problems:
            self.n_rejected += 1
            self.rejected.update(problems)
        else:
            self.accepted.append(sample)
        return not problems

    def imported(self, name: str, key: str, labels: list[StoredLabel]) -> Imported:
        sha256 = hashlib.sha256(self.generator.encode()).hexdigest()
        origins: dict[str, LabelOrigin] = {
            str(label["uid"]): {"how": MADE_HOW, "by": []} for label in labels
        }
        source = Source(self.generator, sha256, MADE_HOW)
        return Imported(name, source, {key: labels}, origins)


def model_for(what: str, name: str, cost: float | None, tokens: int | None) -> CountedModel:
    """The model of this name; refused where it is not set up, or the budget makes no sense."""
    endpoints.require(Fact(f"task.{what}"), name)
    problem = budgets.problem_with(cost, tokens, model=name)
    if problem:
        raise GenerationRefused(problem)
    model = CountedModel.named(name, budget_cost=cost, budget_tokens=tokens)
    assert model is not None  # required before
    return model


# --- conversations --------------------------------------------------------------------------------


class Stored(NamedTuple):
    new: int
    unchanged: int
    release: GoldRelease | None


def make_talks(
    wish: Wish, model: CountedModel | None = None, *, progress: Progress = lambda _: None
) -> Batch[Sample]:
    """Out of templates, the same for the same wish; or by a language model, which tries a few times
    what does not verify. The domains take turns."""
    if not 1 <= wish.count <= MOST_TALKS:
        raise GenerationRefused("generation.number_of_conversations", most=MOST_TALKS)
    version = talks.version_by(model.id) if model else talks.version()
    batch: Batch[Sample] = Batch(f"{version} seed {wish.seed}"[:200], wish.count)
    domains = cycle(talks.domains() if wish.domain == ALL else [wish.domain])
    levels = talks.difficulties(wish.difficulty, wish.count)
    for number, (domain, difficulty) in enumerate(zip(domains, levels, strict=False), start=1):
        asked = {"domain": domain, "difficulty": difficulty, "seed": wish.seed}
        attempts = range(TRIES if model else 1)
        any(batch.settled(partial(_talk, number, asked, model, at, batch)) for at in attempts)
        progress(len(batch.accepted))
        if batch.over:
            break
    return batch


def _talk(
    number: int, asked: Any, model: CountedModel | None, repetition: int, batch: Batch[Sample]
) -> tuple[Sample, list[Fact]]:
    if model is None:
        sample = talks.generate(number, **asked)
        return sample, talks.problems_of(sample)
    sample = talks.generate_by(model, number, repetition=repetition, **asked)
    if any(sample.turns == other.turns for other in batch.accepted):
        return sample, [Fact("sample.conversation_again")]
    return sample, talks.problems_of(sample) or [*talks.unsupported(sample, model)]


def store_talks(batch: Batch[Sample], wish: Wish, *, gold: str, actor: Any = None) -> Stored:
    """The conversations, and their labels as gold under the name ``gold`` (none without one)."""
    with transaction.atomic():
        project, _ = conversations.open_project(wish.project, actor, layers=[DEFAULT_LAYER])
        records = (
            (
                batch.generator,
                Record(
                    id=sample.id,
                    turns=tuple(StoredTurn(turn.role, turn.content) for turn in sample.turns),
                    domain=sample.domain,
                    difficulty=sample.difficulty,
                    split=wish.split,
                    origin=Conversation.Origin.SYNTHETIC,
                    generator=batch.generator,
                ),
            )
            for sample in batch.accepted
        )
        report = conversations.store_records(project=project, records=records)
        release = None
        if gold and batch.accepted:
            imported = [
                batch.imported(sample.id, "requirements", list(sample.requirements))
                for sample in batch.accepted
            ]
            release = freeze_imported(
                project=project, layer=DEFAULT_LAYER, imported=imported, name=gold, by=actor
            )
    return Stored(report.new, report.unchanged, release)


# --- questions ------------------------------------------------------------------------------------


def make_questions(
    wish: Wish, model: CountedModel, *, progress: Progress = lambda _: None
) -> Batch[Asked]:
    """One for each conversation before any gets a second one."""
    if not 1 <= wish.count <= MOST_QUESTIONS:
        raise GenerationRefused("generation.number_of_questions", most=MOST_QUESTIONS)
    about = _talks_of(wish)
    version = questions.version_by(model.id)
    batch: Batch[Asked] = Batch(f"{version} seed {wish.seed}"[:200], wish.count)
    for chosen in zip_longest(*(questions.choices(talk, wish.seed) for talk in about)):
        for talk, messages in zip(about, chosen, strict=True):
            if batch.over or len(batch.accepted) + batch.n_rejected == TRIES * wish.count:
                return batch
            if messages:
                batch.settled(partial(_asked_by, model, talk, messages, wish.seed, batch))
                progress(len(batch.accepted))
    return batch


def _talks_of(wish: Wish) -> list[Talk]:
    able = _project(wish).conversations.filter(n_messages__gte=LEAST_MESSAGES)
    able = able.filter(**({"split": wish.split} if wish.split else {}))
    chosen = able.select_related("transcript").order_by("external_id")[: wish.count * TRIES]
    if about := [_talk_about(conversation) for conversation in chosen]:
        return about
    where: Any = wish.project
    if wish.split:
        where = Fact("generation.split_of", split=wish.split, project=wish.project)
    raise GenerationRefused("generation.too_short", where=where, least=LEAST_MESSAGES)


def _project(wish: Wish) -> Project:
    project = Project.objects.filter(slug=wish.project).first()
    if project is None:
        raise GenerationRefused("generation.no_project", project=wish.project)
    return project


def _talk_about(conversation: Conversation) -> Talk:
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


def _asked_by(
    model: CountedModel, talk: Talk, chosen: Any, seed: int, batch: Batch[Asked]
) -> tuple[Asked, list[Fact]]:
    asked = questions.ask(talk, chosen, model=model, seed=seed)
    if any((asked.talk, asked.question) == (one.talk, one.question) for one in batch.accepted):
        return asked, [Fact("sample.question_again")]
    labels = {"questions": [asked.as_label()]}
    problems = talks.against_schema(labels, QUESTIONS, max(asked.evidence) + 1)
    return asked, problems or questions.unconfirmed(asked, chosen, model)


def store_questions(
    batch: Batch[Asked], wish: Wish, *, gold: str, actor: Any = None
) -> GoldRelease | None:
    """Frozen as separate gold; None if the newest release of the name holds exactly this."""
    if not batch.accepted:
        return None
    asked: dict[str, list[StoredLabel]] = {}
    for question in batch.accepted:
        asked.setdefault(question.talk, []).append(question.as_label())
    imported = [batch.imported(talk, "questions", labels) for talk, labels in asked.items()]
    return freeze_imported(
        project=_project(wish), layer=QUESTIONS, imported=imported, name=gold, by=actor
    )
