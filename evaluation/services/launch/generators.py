"""Synthetic conversations out of templates, and questions about stored ones by a language model.

They are always marked as what they are, and questions become separate gold.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, zip_longest
from typing import Any, NamedTuple

from django.db import transaction

from evaluation import adapters
from evaluation.services.language_models import budgets, endpoints
from evaluation.services.language_models.metering import STOPS, CountedModel
from evaluation.synthetic import questions, talks
from evaluation.synthetic.questions import Asked, Talk
from evaluation.synthetic.talks import MIXED, Sample
from labeling.conversations import conversations
from labeling.conversations.rules.importing import Record
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.exchange.gold_imports import Imported, Source, freeze_imported
from labeling.gold.rules.content import LabelOrigin
from labeling.models import Conversation, GoldRelease, Project
from labeling.schema import DEFAULT_LAYER, check_payload
from labeling.schema.labels import StoredLabel
from labeling.schema.layers import published_as
from pipelines.llm import ModelError, RateLimited, Unavailable

ALL = "all"
TRIES = 3
"""So often a question is asked for each that is wanted, until enough of them verify."""
ENDS = (*STOPS, RateLimited, Unavailable)
"""After one of these every further request would fail as well, or take too long."""
MOST_TALKS, MOST_QUESTIONS = 100_000, 10_000
LEAST_MESSAGES = 2
MADE_HOW = "generated"
(QUESTIONS,) = published_as("question cases")

Progress = Callable[[int], object]


class GenerationRefused(RuleError, code="generation_refused"):
    """Such conversations or questions cannot be made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    project: str
    count: int
    seed: int = 0
    split: str = ""
    domain: str = ALL
    difficulty: str = MIXED


@dataclass(slots=True)
class Batch:
    """The questions that verified, and what was thrown out for which reasons."""

    generator: str
    accepted: list[Asked] = field(default_factory=list)
    rejected: Counter[Fact] = field(default_factory=Counter)
    n_rejected: int = 0
    stopped: Fact | None = None
    """Why there are fewer than was asked for."""

    def settle(self, attempt: Callable[[], tuple[Asked, list[Fact]]]) -> None:
        try:
            asked, problems = attempt()
        except ENDS as error:
            self.stopped = adapters.fact_of(error)
            return
        except ModelError as error:  # equal failures are counted together
            problems = [Fact("sample.unusable_reply", code=error.code)]
        if problems:
            self.n_rejected += 1
            self.rejected.update(problems)
        else:
            self.accepted.append(asked)


def _imported(name: str, key: str, labels: Sequence[StoredLabel], generator: str) -> Imported:
    sha256 = hashlib.sha256(generator.encode()).hexdigest()
    origins: dict[str, LabelOrigin] = {
        str(label["uid"]): {"how": MADE_HOW, "by": []} for label in labels
    }
    return Imported(name, Source(generator, sha256, MADE_HOW), {key: [*labels]}, origins)


# --- conversations --------------------------------------------------------------------------------


class Stored(NamedTuple):
    new: int
    unchanged: int
    release: GoldRelease | None


def talks_of(wish: Wish) -> list[Sample]:
    """Out of templates, the same for the same wish. The domains take turns."""
    if not 1 <= wish.count <= MOST_TALKS:
        raise GenerationRefused("generation.number_of_conversations", most=MOST_TALKS)
    domains = cycle(talks.domains() if wish.domain == ALL else [wish.domain])
    levels = talks.difficulties(wish.difficulty, wish.count)
    return [
        talks.generate(number, domain=domain, difficulty=difficulty, seed=wish.seed)
        for number, (domain, difficulty) in enumerate(zip(domains, levels, strict=False), start=1)
    ]


@transaction.atomic
def store_talks(wish: Wish, *, gold: str, actor: Any = None) -> Stored:
    """The conversations, and their labels as gold under the name ``gold`` (none without one)."""
    samples, generator = talks_of(wish), f"{talks.version()} seed {wish.seed}"
    project, _ = conversations.open_project(wish.project, actor, layers=[DEFAULT_LAYER])
    records = (
        (
            generator,
            Record(
                id=sample.id,
                turns=sample.turns,
                domain=sample.domain,
                difficulty=sample.difficulty,
                split=wish.split,
                origin=Conversation.Origin.SYNTHETIC,
                generator=generator,
            ),
        )
        for sample in samples
    )
    report = conversations.store_records(project=project, records=records)
    release = None
    if gold:
        imported = [
            _imported(sample.id, "requirements", sample.requirements, generator)
            for sample in samples
        ]
        release = freeze_imported(
            project=project, layer=DEFAULT_LAYER, imported=imported, name=gold, by=actor
        )
    return Stored(report.new, report.unchanged, release)


# --- questions ------------------------------------------------------------------------------------


def model_for(name: str, cost: float | None, tokens: int | None) -> CountedModel:
    """The model of this name; refused where it is not set up, or the budget makes no sense."""
    endpoints.require(Fact("task.ask_questions"), name)
    problem = budgets.problem_with(cost, tokens, model=name)
    if problem:
        raise GenerationRefused(problem)
    model = CountedModel.named(name, budget_cost=cost, budget_tokens=tokens)
    assert model is not None  # required before
    return model


def make_questions(wish: Wish, model: CountedModel, *, progress: Progress) -> Batch:
    """One for each conversation before any gets a second one."""
    if not 1 <= wish.count <= MOST_QUESTIONS:
        raise GenerationRefused("generation.number_of_questions", most=MOST_QUESTIONS)
    about = _talks_of(wish)
    batch = Batch(f"{questions.version_by(model.id)} seed {wish.seed}"[:200])
    for chosen in zip_longest(*(questions.choices(talk, wish.seed) for talk in about)):
        for talk, messages in zip(about, chosen, strict=True):
            made = len(batch.accepted)
            if batch.stopped or wish.count == made or made + batch.n_rejected == TRIES * wish.count:
                return batch
            if messages:
                batch.settle(partial(_asked_by, model, talk, messages, wish.seed, batch))
                progress(len(batch.accepted))
    return batch


def _talks_of(wish: Wish) -> list[Talk]:
    able = _project(wish).conversations.filter(n_messages__gte=LEAST_MESSAGES)
    able = able.filter(**({"split": wish.split} if wish.split else {}))
    chosen = able.select_related("transcript").order_by("external_id")[: wish.count * TRIES]
    if about := [Talk(each.external_id, each.messages) for each in chosen]:
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


def _asked_by(
    model: CountedModel, talk: Talk, chosen: Any, seed: int, batch: Batch
) -> tuple[Asked, list[Fact]]:
    asked = questions.ask(talk, chosen, model=model, seed=seed)
    if any((asked.talk, asked.question) == (one.talk, one.question) for one in batch.accepted):
        return asked, [Fact("sample.question_again")]
    labels = {"questions": [asked.as_label()]}
    most = max(asked.evidence) + 1
    wrong = check_payload(labels, layers=[QUESTIONS], message_count=most, complete=True)
    fields = sorted({problem.path.rsplit(".", 1)[-1] for problem in wrong})
    problems = [Fact("sample.labels_break_schema", field=name) for name in fields]
    return asked, problems or questions.unconfirmed(asked, chosen, model)


def store_questions(
    batch: Batch, wish: Wish, *, gold: str, actor: Any = None
) -> GoldRelease | None:
    """Frozen as separate gold; None if the newest release of the name holds exactly this."""
    if not batch.accepted:
        return None
    asked: dict[str, list[StoredLabel]] = {}
    for question in batch.accepted:
        asked.setdefault(question.talk, []).append(question.as_label())
    imported = [
        _imported(talk, "questions", labels, batch.generator) for talk, labels in asked.items()
    ]
    return freeze_imported(
        project=_project(wish), layer=QUESTIONS, imported=imported, name=gold, by=actor
    )
