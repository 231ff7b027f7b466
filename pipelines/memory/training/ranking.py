"""Trains ``retrieval/ranker.safetensors``, and says how well it answers unseen conversations.

    python -m pipelines.memory.training.ranking ITEMS.jsonl… --cache FOLDER
        [--not ITEMS.jsonl…] [--other NAME,…] [--write]

ITEMS.jsonl are the items of a gold release of the layer ``qa`` as ``export_gold --format native``
writes them; those of the split test, and copies of what ``--not`` names, are refused. Each
conversation is ranked by what the others taught. ``--other`` names, by their place in the file,
conversations of other people: the rest teaches for them, and they for the rest, vectors and all.
Without ``--write`` the figures are printed and nothing is changed. The command repeats to the byte.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.encoder import MiniLM
from pipelines.memory.config import MemoryConfig
from pipelines.memory.conversations import key_of
from pipelines.memory.query.steps import Deps, State, chosen_of, plan, retrieve
from pipelines.memory.query.talk import Talk
from pipelines.memory.retrieval import ranker
from pipelines.memory.retrieval.adapter import EVERY, Adapted
from pipelines.memory.retrieval.index import ConversationIndex
from pipelines.memory.retrieval.ranker import Floats, Ranker, standing
from pipelines.memory.training import adapters
from pipelines.memory.training.gold import (
    Folder,
    GoldTalk,
    add_arguments,
    note_training,
    read_for_training,
)
from pipelines.types import Encoder, Store

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


def make_ready(
    gold: GoldTalk, encoder: Encoder, store: Store | None, *, adapted: bool = True
) -> Pupil:
    index = ConversationIndex.build(gold.messages, encoder=encoder, store=store, adapted=adapted)
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


@dataclass(frozen=True)
class Taught:
    every: Ranker
    without: list[Ranker]
    """For each conversation the ranker that it did not teach."""


def taught_by(pupils: Sequence[Pupil]) -> Taught:
    if len(pupils) < 2:
        raise ValueError("A ranking needs two conversations at least: each is taught by the others")
    orders = [learn([other for other in pupils if other is not pupil]) for pupil in pupils]
    unseen = [scored(pupil, order) for pupil, order in zip(pupils, orders, strict=True)]
    without = [
        assured(order, [rows for other, rows in enumerate(unseen) if other != at])
        for at, order in enumerate(orders)
    ]
    return Taught(assured(learn(pupils), unseen), without)


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


def by_other_people(talks: Sequence[GoldTalk], others: set[int], store: Store) -> dict[str, float]:
    """Each side answered by what the other side taught: adapters, order and chances."""
    sides = [[talk for at, talk in enumerate(talks) if (at in others) == side] for side in (0, 1)]
    tried: list[Pupil] = []
    rankers: list[Ranker] = []
    for teachers, asked in (sides, sides[::-1]):
        learned = adapters.taught_by(teachers, MiniLM(), store)
        ready = [
            make_ready(gold, Adapted(learned[key_of(gold.messages)]), store, adapted=False)
            for gold in teachers
        ]
        every, encoder = taught_by(ready).every, Adapted(learned[EVERY])
        tried += [make_ready(gold, encoder, store, adapted=False) for gold in asked]
        rankers += [every] * len(asked)
    return report(tried, rankers)


def write(pupils: Sequence[Pupil], taught: Taught, path: Path = ranker.WEIGHTS) -> None:
    """The weights taught by all, and for each conversation those that never saw it."""
    keys = (key_of(pupil.gold.messages) for pupil in pupils)
    without = dict(zip(keys, taught.without, strict=True))
    ranker.write({ranker.EVERY: taught.every, **without}, path)
    note_training(path, [pupil.gold for pupil in pupils])


def main() -> None:
    parser = argparse.ArgumentParser(description="Train how messages are ranked for a question.")
    add_arguments(parser)
    parser.add_argument("--other", default="", help="conversations of other people, by their place")
    asked = parser.parse_args()
    gold_talks = read_for_training(asked.items, kept_back=asked.kept_back)
    store = Folder(asked.cache)
    pupils = [make_ready(gold, MiniLM(), store) for gold in gold_talks]
    taught = taught_by(pupils)
    found = {"left out": report(pupils, taught.without)}
    if asked.other:
        others = {int(place) - 1 for place in asked.other.split(",")}
        found["other people"] = by_other_people(gold_talks, others, store)
    print(json.dumps(found, indent=1))
    if asked.write:
        write(pupils, taught)


if __name__ == "__main__":
    main()
