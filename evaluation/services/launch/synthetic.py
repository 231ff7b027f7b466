"""Making synthetic conversations, and storing those that verify: always marked as what they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, NamedTuple

from django.db import transaction

from evaluation import adapters
from evaluation.services.asking import ENDS, Asking, GenerationRefused
from evaluation.services.launch import generated
from evaluation.services.launch.generated import Progress
from evaluation.synthetic import model as by_model
from evaluation.synthetic import templates
from evaluation.synthetic.sample import DIFFICULTIES, MIXED, Sample, difficulties, problems_of
from labeling.conversations import conversations
from labeling.conversations.rules.importing import Record
from labeling.conversations.rules.importing import Turn as StoredTurn
from labeling.domain.facts import Fact
from labeling.exchange.gold_imports import freeze_imported
from labeling.models import Conversation, GoldRelease
from labeling.schema import DEFAULT_LAYER
from pipelines.llm import ModelError

ALL = "all"
TRIES = 3
"""So often the model is asked for one conversation that does not verify."""

MOST = 100_000


@dataclass(frozen=True, slots=True)
class Wish:
    count: int
    domain: str = ALL
    difficulty: str = MIXED
    seed: int = 0
    split: str = ""


GeneratedSamples = generated.Generated[Sample]


class Stored(NamedTuple):
    new: int
    unchanged: int
    release: GoldRelease | None


def make(wish: Wish, *, progress: Progress = lambda _: None) -> GeneratedSamples:
    """Out of templates: the same for the same wish."""
    _check(wish)
    batch = GeneratedSamples(f"{templates.version()} seed {wish.seed}")
    for number, domain, difficulty in _asked(wish):
        sample = templates.generate(number, domain=domain, difficulty=difficulty, seed=wish.seed)
        batch.take(sample, problems_of(sample))
        progress(number)
    return batch


def make_by_model(
    wish: Wish,
    *,
    budget_cost: float | None = None,
    budget_tokens: int | None = None,
    progress: Progress = lambda _: None,
) -> GeneratedSamples:
    """By the language model of the settings; what does not verify is tried again a few times."""
    _check(wish)
    asking = Asking.opened(Fact("task.generate_conversations"), budget_cost, budget_tokens)
    batch = GeneratedSamples(f"{by_model.version(asking.id)} seed {wish.seed}"[:200])
    for number, domain, difficulty in _asked(wish):
        try:
            _one_by_model(batch, asking, number, domain, difficulty, wish.seed)
        except ENDS as error:
            batch.stopped = adapters.fact_of(error)
            break
        progress(number)
    batch.usage = asking.spent
    return batch


def store(
    project_slug: str, batch: GeneratedSamples, wish: Wish, *, gold: str, actor: Any = None
) -> Stored:
    """The conversations, and their labels as gold under the name ``gold`` (none without one)."""
    with transaction.atomic():
        project, _ = conversations.open_project(project_slug, actor, layers=[DEFAULT_LAYER])
        records = ((batch.generator, _record(sample, batch, wish)) for sample in batch.accepted)
        report = conversations.store_records(project=project, records=records)
        release = None
        if gold and batch.accepted:
            source = batch.source()
            imported = [
                generated.imported(sample.id, source, "requirements", list(sample.requirements))
                for sample in batch.accepted
            ]
            release = freeze_imported(
                project=project, layer=DEFAULT_LAYER, imported=imported, name=gold, by=actor
            )
    return Stored(report.new, report.unchanged, release)


def _check(wish: Wish) -> None:
    if not 1 <= wish.count <= MOST:
        raise GenerationRefused("generation.number_of_conversations", most=MOST)
    if wish.domain not in (ALL, *templates.domains()):
        known = [ALL, *templates.domains()]
        raise GenerationRefused("generation.unknown_domain", domain=wish.domain, known=known)
    if wish.difficulty not in (MIXED, *DIFFICULTIES):
        raise GenerationRefused(
            "generation.unknown_difficulty",
            difficulty=wish.difficulty,
            known=[MIXED, *DIFFICULTIES],
        )
    if wish.split not in ("", *Conversation.Split.values):
        raise GenerationRefused("generation.unknown_split", split=wish.split)


def _asked(wish: Wish) -> Iterator[tuple[int, str, str]]:
    """Number, domain and difficulty of each; the domains take turns."""
    chosen = templates.domains() if wish.domain == ALL else [wish.domain]
    levels = difficulties(wish.difficulty, wish.count)
    numbers = range(1, wish.count + 1)
    return zip(numbers, islice(cycle(chosen), wish.count), levels, strict=True)


def _one_by_model(
    batch: GeneratedSamples, asking: Asking, number: int, domain: str, difficulty: str, seed: int
) -> None:
    for repetition in range(TRIES):
        try:
            sample = by_model.generate(
                number,
                domain=domain,
                difficulty=difficulty,
                seed=seed,
                model=asking,
                repetition=repetition,
            )
            problems = _problems_of(sample, batch) or by_model.unsupported(sample, model=asking)
        except ENDS:
            raise
        except ModelError as error:
            batch.drop([generated.unusable(error)])
            continue
        batch.take(sample, problems)
        if not problems:
            return


def _problems_of(sample: Sample, batch: GeneratedSamples) -> list[Fact]:
    if any(sample.turns == other.turns for other in batch.accepted):
        return [Fact("sample.conversation_again")]
    return problems_of(sample)


def _record(sample: Sample, batch: GeneratedSamples, wish: Wish) -> Record:
    return Record(
        id=sample.id,
        turns=tuple(StoredTurn(turn.role, turn.content) for turn in sample.turns),
        domain=sample.domain,
        difficulty=sample.difficulty,
        split=wish.split,
        origin=Conversation.Origin.SYNTHETIC,
        generator=batch.generator,
    )
