"""Trains the weights of memory, and says how well they answer conversations that did not teach.

    .venv/bin/python -m benchmarks.train_memory ITEMS.jsonl… [--not ITEMS.jsonl…]
        [--other 1,…] [--write]

ITEMS.jsonl are the items of gold releases of the layer ``qa`` as ``export_gold --format native``
writes them; those of the split test, and copies of what ``--not`` names, are refused. Each
conversation is read and ranked by what the others taught. ``--other`` names, by their place in the
file, conversations of other people: the rest teaches for them, and they for the rest. Without
``--write`` the figures are printed and nothing is changed. The command repeats to the byte.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pipelines  # noqa: F401 - one thread, which must be said before numpy comes

# isort: split
import numpy as np

from benchmarks import train_vectors
from benchmarks.train_vectors import GoldTalk, note_training, read_for_training
from pipelines.memory.config import MemoryConfig
from pipelines.memory.conversations import key_of
from pipelines.memory.query.steps import Deps, State, chosen_of, plan, retrieve
from pipelines.memory.retrieval import ranker
from pipelines.memory.retrieval.adapter import ADAPTERS, EVERY, Adapted, Adapter
from pipelines.memory.retrieval.index import ConversationIndex
from pipelines.memory.retrieval.ranker import Floats, Ranker, standing
from pipelines.memory.talks import Talk
from pipelines.types import Encoder

NETWORKS = 3
HIDDEN = 32
EPOCHS = 6
BATCH = 16  # questions
RATE, DECAY, DROPOUT = 0.004, 0.004, 0.2
HARD = 300  # messages of a question that take part, by the fused score
SURE_OF = 80  # the best of a question teach what chance a score means
RESTRAINT = 0.1


@dataclass(frozen=True)
class Pupil:
    """A conversation that is made ready: of each question all features, and what is evidence."""

    gold: GoldTalk
    index: ConversationIndex
    lessons: list[tuple[Floats, Any, Any]]
    """Features, the messages that take part, and which messages are evidence."""


def make_ready(gold: GoldTalk, encoder: Encoder) -> Pupil:
    index = ConversationIndex(gold.messages, encoder)
    lessons = []
    for question, expected in gold.questions:
        evidence = index.evidence(question)
        right = np.isin(np.arange(len(gold.messages)), list(expected))
        hard = np.argsort(-evidence.fused, kind="stable")[:HARD]
        part = np.union1d(hard, np.flatnonzero(right))
        lessons.append((index.features(evidence), part, right))
    return Pupil(gold, index, lessons)


# --- learning -----------------------------------------------------------------------------------


def learn(pupils: Sequence[Pupil]) -> Ranker:
    """The order alone: its chances are those of :func:`assured`."""
    lessons = [(rows[part], right[part]) for pupil in pupils for rows, part, right in pupil.lessons]
    mean, spread = _scale(np.concatenate([rows for rows, _ in lessons]))
    ready = [((rows - mean) / spread, right) for rows, right in lessons]
    networks = [_network(ready, seed) for seed in range(NETWORKS)]
    hidden, bias, out, wide = (np.stack(parts) for parts in zip(*networks, strict=True))
    return Ranker(mean, spread, hidden, bias, out, wide, np.zeros(0))


def _scale(rows: Floats) -> tuple[Floats, Floats]:
    spread = rows.std(axis=0)
    spread[spread < 1e-6] = 1.0
    return rows.mean(axis=0), spread


def _network(lessons: Sequence[tuple[Floats, Any]], seed: int) -> tuple[Any, Any, Any, Any]:
    """Each message of evidence against all that are none; evidence does not compete."""
    import torch

    torch.manual_seed(seed)
    random, size = np.random.default_rng(seed), lessons[0][0].shape[1]
    ready = [
        (torch.tensor(rows, dtype=torch.float32), torch.tensor(right)) for rows, right in lessons
    ]
    first, last = torch.nn.Linear(size, HIDDEN), torch.nn.Linear(HIDDEN, 1, bias=False)
    wide = torch.zeros(size, requires_grad=True)
    weights = [first.weight, first.bias, last.weight, wide]
    optimizer = torch.optim.Adam(weights, lr=RATE)
    for _ in range(EPOCHS):
        order = random.permutation(len(ready))
        for start in range(0, len(order), BATCH):
            losses = []
            for at in order[start : start + BATCH]:
                rows, right = ready[at]
                inner = torch.nn.functional.dropout(torch.tanh(first(rows)), DROPOUT)
                scores = last(inner).squeeze(1) + rows @ wide
                wrong = scores.masked_fill(right, -torch.inf).logsumexp(0)
                losses.append(torch.nn.functional.softplus(wrong - scores[right]).mean())
            size_of = sum((weight**2).sum() for weight in weights)
            loss = torch.stack(losses).sum() / BATCH + DECAY * size_of
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    parts = (first.weight.T, first.bias, last.weight[0], wide)
    first_, bias, out, direct = (part.detach().numpy().copy() for part in parts)
    return first_, bias, out, direct


Scored = list[tuple[Floats, Any]]
"""Of the questions of a conversation, by rankers that it did not teach: :func:`standing` of the
best messages, and which of them are evidence."""


def scored(pupil: Pupil, learned: Ranker) -> Scored:
    rows = []
    for (question, _), (features, _, right) in zip(
        pupil.gold.questions, pupil.lessons, strict=True
    ):
        scores = learned.scores(features)
        best = np.argsort(-scores, kind="stable")[:SURE_OF]
        rows.append((standing(scores, question)[best], right[best]))
    return rows


def assured(learned: Ranker, unseen: Iterable[Scored]) -> Ranker:
    """With chances, which only scores of conversations that did not teach can tell."""
    from sklearn.linear_model import LogisticRegression

    tables, truths = zip(*(row for rows in unseen for row in rows), strict=True)
    table = np.concatenate(tables)
    mean, spread = _scale(table)
    model = LogisticRegression(C=RESTRAINT, max_iter=2000)
    model.fit((table - mean) / spread, np.concatenate(truths))
    weights = model.coef_[0] / spread
    return replace(learned, sure=np.append(weights, model.intercept_[0] - weights @ mean))


def ranking_by(pupils: Sequence[Pupil]) -> dict[str, Ranker]:
    """By conversation the ranker that the others taught; under ``EVERY`` that of all."""
    orders = [learn([other for other in pupils if other is not pupil]) for pupil in pupils]
    unseen = [scored(pupil, order) for pupil, order in zip(pupils, orders, strict=True)]
    without = {
        key_of(pupil.gold.messages): assured(order, unseen[:at] + unseen[at + 1 :])
        for at, (pupil, order) in enumerate(zip(pupils, orders, strict=True))
    }
    return {EVERY: assured(learn(pupils), unseen), **without}


@dataclass(frozen=True)
class Taught:
    """By conversation what the others taught, and under ``EVERY`` what all did."""

    adapters: dict[str, Adapter]
    rankers: dict[str, Ranker]
    pupils: list[Pupil]


def taught_by(gold_talks: Sequence[GoldTalk]) -> Taught:
    if len(gold_talks) < 2:
        raise ValueError("Two conversations at least are needed: each is taught by the others")
    adapters = train_vectors.taught_by(gold_talks)
    pupils = [make_ready(gold, Adapted(adapters[key_of(gold.messages)])) for gold in gold_talks]
    return Taught(adapters, ranking_by(pupils), pupils)


# --- how well it answers ------------------------------------------------------------------------


def report(pupils: Sequence[Pupil], rankers: Sequence[Ranker]) -> dict[str, float]:
    """Means over all questions, as the pipeline answers them."""
    config, rows = MemoryConfig(), []
    for pupil, learned in zip(pupils, rankers, strict=True):
        deps = Deps(Talk(pupil.gold.messages, pupil.index.with_ranker(learned)), config, None)
        for question, expected in pupil.gold.questions:
            state: State = {"question": question, "task": "qa"}
            state = {**state, **plan(state, deps)}
            state = {**state, **retrieve(state, deps)}
            ranked, chosen = list(state["ranked"]), chosen_of(state, config)
            hits = len(expected.intersection(chosen))
            places = (place for place, at in enumerate(ranked, start=1) if at in expected)
            rows.append(
                {
                    "recall@10": len(expected.intersection(ranked[:10])) / len(expected),
                    "MRR": 1.0 / next(places, float("inf")),
                    "recall": hits / len(expected),
                    "precision": hits / max(len(chosen), 1),
                    "returned": float(len(chosen)),
                }
            )
    return {name: round(float(np.mean([row[name] for row in rows])), 4) for name in rows[0]}


def by_other_people(talks: Sequence[GoldTalk], others: set[int]) -> dict[str, float]:
    """Each side answered by what the other side taught: adapters, order and chances."""
    sides = [[talk for at, talk in enumerate(talks) if (at in others) == side] for side in (0, 1)]
    tried: list[Pupil] = []
    rankers: list[Ranker] = []
    for teachers, asked in (sides, sides[::-1]):
        taught = taught_by(teachers)
        tried += [make_ready(gold, Adapted(taught.adapters[EVERY])) for gold in asked]
        rankers += [taught.rankers[EVERY]] * len(asked)
    return report(tried, rankers)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the weights of memory.")
    parser.add_argument("items", type=Path, nargs="+", help="items.jsonl of exported gold releases")
    parser.add_argument(
        "--not",
        dest="kept_back",
        type=Path,
        nargs="+",
        default=[],
        metavar="ITEMS.jsonl",
        help="items kept for testing: nothing that is the same conversation is trained on",
    )
    parser.add_argument("--other", default="", help="conversations of other people, by their place")
    parser.add_argument("--write", action="store_true", help="store the weights")
    asked = parser.parse_args()
    gold_talks = read_for_training(asked.items, kept_back=asked.kept_back)
    taught = taught_by(gold_talks)
    left_out = [taught.rankers[key_of(gold.messages)] for gold in gold_talks]
    found = {"left out": report(taught.pupils, left_out)}
    if asked.other:
        others = {int(place) - 1 for place in asked.other.split(",")}
        found["other people"] = by_other_people(gold_talks, others)
    print(json.dumps(found, indent=1))
    if asked.write:
        train_vectors.write(taught.adapters, ADAPTERS)
        write(taught.rankers, ranker.WEIGHTS)
        for weights in (ADAPTERS, ranker.WEIGHTS):
            note_training(weights, gold_talks)


def write(rankers: Mapping[str, Ranker], path: Path) -> None:
    """``rankers`` by conversation; under ``EVERY`` the one taught by all of them."""
    from safetensors.numpy import save_file

    parts = {
        f"{talk}/{name}": np.ascontiguousarray(part, dtype=np.float32)
        for talk, learned in rankers.items()
        for name, part in asdict(learned).items()
    }
    save_file(parts, path)


if __name__ == "__main__":
    main()
