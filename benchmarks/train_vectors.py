"""Teaches MiniLM what answers to a question look like: the adapters of ``train_memory.py``.

Each conversation teaches all adapters but that of its own people.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, cast

import pipelines  # noqa: F401 - one thread, which must be said before numpy comes

# isort: split
import numpy as np
from numpy.typing import NDArray

from benchmarks.kept_back import TEST, TestItems, TrainingText, refuse_test_items
from labeling.domain.encoding.network import packaged_folder
from pipelines import trained_on
from pipelines.encoder import MiniLM, check_weights
from pipelines.memory.conversations import key_of
from pipelines.memory.retrieval import lexical
from pipelines.memory.retrieval.adapter import EVERY, NAMES, Adapter, Change, part_name
from pipelines.memory.retrieval.index import ConversationIndex
from pipelines.types import Message

RANK = 8
SCALE = 2.0
EPOCHS = 2
BATCH = 8  # questions of one conversation
RATE, SCORING_RATE, DECAY, WARM_UP = 1e-3, 2e-3, 0.01, 15
HARDEST = 45  # non-evidence messages that MiniLM ranks highest; HARD of them take part
HARD, OWN, RIGHT = 6, 3, 6  # messages of each question: hard ones, of the one asked about, evidence
MESSAGE_PIECES, QUESTION_PIECES = 96, 40
TEXTS_AT_ONCE = 24

Places = NDArray[np.int64]


# --- what is read -------------------------------------------------------------------------------


@dataclass
class GoldTalk:
    """One conversation of the gold, with its questions and their evidence."""

    name: str
    messages: tuple[Message, ...]
    questions: list[tuple[str, frozenset[int]]]
    split: str = ""

    @property
    def texts(self) -> list[str]:
        return [message.content for message in self.messages]


def read(files: Iterable[Path]) -> list[GoldTalk]:
    lines = (line for file in files for line in file.read_text(encoding="utf-8").split("\n"))
    return [_gold_talk(json.loads(line)) for line in lines if line.strip()]


def read_for_training(files: Sequence[Path], *, kept_back: Sequence[Path] = ()) -> list[GoldTalk]:
    """The conversations with questions; ends the program if one is kept for testing."""
    gold_talks = read(files)
    try:
        refuse_test_items(
            [TrainingText(gold.name, gold.split, gold.texts) for gold in gold_talks],
            kept_back=[TrainingText(gold.name, TEST, gold.texts) for gold in read(kept_back)],
        )
    except TestItems as refused:
        sys.exit(str(refused))
    return [gold for gold in gold_talks if gold.questions]


def by_people(gold_talks: Iterable[GoldTalk]) -> dict[str, list[GoldTalk]]:
    """Conversations that share a speaker, directly or through others, under a number."""
    groups: list[tuple[set[str], list[GoldTalk]]] = []
    for gold in gold_talks:
        names, talks = {line.speaker for line in gold.messages}, [gold]
        for group in [group for group in groups if group[0] & names]:
            names, talks = names | group[0], [*group[1], *talks]
            groups.remove(group)
        groups.append((names, talks))
    return {str(number): talks for number, (_, talks) in enumerate(groups, start=1)}


def note_training(weights: Path, people: Mapping[str, Sequence[GoldTalk]]) -> None:
    """Write next to the weights what they have read."""
    talks = {
        f"{number}/{key_of(gold.messages)}": gold.texts
        for number, gold_talks in people.items()
        for gold in gold_talks
    }
    trained_on.write(weights, talks, leaves_out=True)


def write(adapters: Mapping[str, Adapter], path: Path) -> None:
    """``adapters`` by the people they are without; under ``EVERY`` the one trained on all."""
    from safetensors.numpy import save_file

    parts = {
        part_name(without, name, way): np.ascontiguousarray(part, dtype=np.float16)
        for without, adapter in adapters.items()
        for name, change in adapter.changes.items()
        for way, part in change._asdict().items()
    }
    save_file(parts, path)


def _gold_talk(item: Mapping[str, Any]) -> GoldTalk:
    said = ("index", "role", "content", "time")
    messages = tuple(
        Message(**{name: line[name] for name in said}, speaker=line["speaker"] or line["role"])
        for line in item["conversation"]
    )
    asked = [
        (label["question"], frozenset(label["evidence"]))
        for label in item["gold"]["questions"]
        if label["evidence"]
    ]
    return GoldTalk(item["item_id"], messages, asked, item.get("split") or "")


# --- what is learned from -----------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    pieces: list[int]
    """As the person asked about would say it."""
    evidence: Places
    hard: Places
    said_by: NDArray[np.float32]
    """For each message, as ``Evidence.said_by`` has it."""


@dataclass(frozen=True)
class Lesson:
    """The training data from one conversation."""

    messages: list[list[int]]
    questions: list[Question]


def lesson(gold: GoldTalk) -> Lesson:
    """Hard messages are those that unadapted MiniLM takes for evidence."""
    index = ConversationIndex(gold.messages, MiniLM())
    questions = [_question(index, text, expected) for text, expected in gold.questions]
    return Lesson(_pieces(lexical.texts_of(gold.messages), MESSAGE_PIECES), questions)


def _question(index: ConversationIndex, text: str, expected: frozenset[int]) -> Question:
    evidence = index.evidence(text)
    best = np.argsort(-evidence.fused, kind="stable")[: HARDEST + len(expected)]
    return Question(
        pieces=_pieces([evidence.asked.first], QUESTION_PIECES)[0],
        evidence=np.array(sorted(expected)),
        hard=best[~np.isin(best, list(expected))][:HARDEST],
        said_by=evidence.said_by.astype(np.float32),
    )


def _pieces(texts: Sequence[str], most: int) -> list[list[int]]:
    tokenizer = published(packaged_folder()).tokenizer
    ids: list[list[int]] = tokenizer(list(texts), truncation=True, max_length=most)["input_ids"]
    return ids


# --- what takes part in one step ----------------------------------------------------------------


class Step(NamedTuple):
    lesson: Lesson
    questions: list[Question]
    pool: Places
    """Messages: evidence of each question, hard ones, and others of the one asked about."""


def steps(lessons: Sequence[Lesson], random: np.random.Generator) -> list[Step]:
    """Every question once."""
    planned = []
    for lesson in lessons:
        order = random.permutation(len(lesson.questions))
        for start in range(0, len(order), BATCH):
            asked = [lesson.questions[at] for at in order[start : start + BATCH]]
            planned.append(Step(lesson, asked, _pool(asked, random)))
    return [planned[at] for at in random.permutation(len(planned))]


def _pool(asked: Sequence[Question], random: np.random.Generator) -> Places:
    """A message that is evidence for one question may be a negative for another."""
    some = partial(_some, random)
    right = np.concatenate([some(question.evidence, RIGHT) for question in asked])
    wrong = [some(question.hard, HARD) for question in asked]
    wrong += [some(np.flatnonzero(question.said_by), OWN) for question in asked]
    left_out = np.setdiff1d(np.concatenate([question.evidence for question in asked]), right)
    return np.setdiff1d(np.union1d(right, np.concatenate(wrong)), left_out)


def _some(random: np.random.Generator, places: Places, most: int) -> Places:
    return random.choice(places, min(most, len(places)), replace=False)


@cache
def published(folder: Path) -> Any:
    """The model by the library it was published for, which can learn."""
    check_weights(folder)
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    import_module("transformers.utils.logging").disable_progress_bar()
    return cast(Any, SentenceTransformer(str(folder), device="cpu", local_files_only=True))


# --- learning -----------------------------------------------------------------------------------


def learn(lessons: Sequence[Lesson], *, epochs: int = EPOCHS, seed: int = 0) -> Adapter:
    """The adapter trained on these conversations; prints the mean loss of each epoch."""
    import torch

    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    pupil, done = _Pupil(), 0
    weights = [part for both in pupil.thin.values() for part in both]
    groups = [
        {"params": weights, "weight_decay": DECAY},
        {"params": pupil.scoring, "weight_decay": 0},
    ]
    optimizer = torch.optim.AdamW(groups)
    plan = [steps(lessons, random) for _ in range(epochs)]
    planned = sum(map(len, plan))
    for epoch in plan:
        losses = []
        for step in epoch:
            done += 1
            loss = pupil.loss(step)
            for group, full in zip(optimizer.param_groups, (RATE, SCORING_RATE), strict=True):
                group["lr"] = full * min(1.0, done / WARM_UP) * (1 - (done - 1) / planned)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            optimizer.step()
            losses.append(float(loss.detach()))
        print(f"{len(lessons)} conversations: loss {np.mean(losses):.3f}", flush=True)
    return pupil.adapter()


class _Pupil:
    """MiniLM with additional low-rank matrices; only these are trained."""

    def __init__(self) -> None:
        import torch

        self.model = deepcopy(published(packaged_folder()))[0].auto_model.eval()
        self.model.requires_grad_(requires_grad=False)
        self.thin = {name: self._beside(self.model.get_submodule(name)) for name in NAMES}
        self.scoring = [torch.nn.Parameter(torch.tensor(start)) for start in (3.2, 2.0)]

    def _beside(self, matrix: Any) -> tuple[Any, Any]:
        import torch

        size = matrix.in_features
        down = torch.nn.Parameter(torch.randn(size, RANK) / size**0.5)
        up = torch.nn.Parameter(torch.zeros(RANK, matrix.out_features))
        matrix.register_forward_hook(
            lambda _, inputs, output: output + inputs[0] @ down @ up * SCALE
        )
        return down, up

    def loss(self, step: Step) -> Any:
        """Each message of evidence against all that are none; evidence does not compete."""
        import torch

        asked = step.questions
        near = _nearness(
            self._tokens([question.pieces for question in asked]),
            self._tokens([step.lesson.messages[at] for at in step.pool]),
        )
        said_by = torch.from_numpy(np.stack([question.said_by[step.pool] for question in asked]))
        right = torch.from_numpy(
            np.stack([np.isin(step.pool, question.evidence) for question in asked])
        )
        sharpness, speaking = self.scoring
        scores = near * sharpness.exp() + speaking * said_by
        wrong = scores.masked_fill(right, -torch.inf).logsumexp(dim=1, keepdim=True)
        each = torch.nn.functional.softplus(wrong - scores) * right
        return (each.sum(dim=1) / right.sum(dim=1)).mean()

    def _tokens(self, texts: Sequence[list[int]]) -> list[Any]:
        """For each text a unit row for each of its pieces; texts of one length go together."""
        import torch

        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        tokens: list[Any] = [None] * len(texts)
        pad = torch.nn.utils.rnn.pad_sequence
        for start in range(0, len(order), TEXTS_AT_ONCE):
            part = order[start : start + TEXTS_AT_ONCE]
            pieces = [torch.tensor(texts[at]) for at in part]
            mask = pad([torch.ones_like(piece) for piece in pieces], batch_first=True)
            padded = pad(pieces, batch_first=True)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                rows = self.model(input_ids=padded, attention_mask=mask).last_hidden_state
            for at, unit in zip(
                part, torch.nn.functional.normalize(rows.float(), dim=-1), strict=True
            ):
                tokens[at] = unit[: len(texts[at])]
        return tokens

    def adapter(self) -> Adapter:
        return Adapter(
            {
                name: Change(down.detach().numpy().copy(), (up.detach() * SCALE).numpy())
                for name, (down, up) in self.thin.items()
            }
        )


def _nearness(asked: Sequence[Any], messages: Sequence[Any]) -> Any:
    """Questions by messages: the mean over the pieces of a question of the best cosine."""
    import torch

    alike = torch.cat(list(asked)) @ torch.cat(list(messages)).T
    owner = torch.repeat_interleave(torch.tensor([len(message) for message in messages]))
    best = alike.new_full((len(alike), len(messages)), -2.0)
    best = best.scatter_reduce(1, owner.expand(len(alike), -1), alike, "amax")
    parts = torch.split(best, [len(question) for question in asked])
    return torch.stack([part.mean(dim=0) for part in parts])


def taught_by(people: Mapping[str, Sequence[GoldTalk]]) -> dict[str, Adapter]:
    """By people the adapter trained on all others; under ``EVERY`` on all of them."""
    if len(people) < 2:
        raise ValueError("Talks of two groups of people are needed: each is taught by the others")
    lessons = {number: [lesson(gold) for gold in talks] for number, talks in people.items()}
    sets = {
        without: [one for number, own in lessons.items() if number != without for one in own]
        for without in (EVERY, *lessons)
    }
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as processes:
        return dict(zip(sets, processes.map(learn, sets.values()), strict=True))
