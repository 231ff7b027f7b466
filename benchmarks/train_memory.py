"""Trains the weights of memory, and says how well they answer people who did not teach.

    .venv/bin/python -m benchmarks.train_memory ITEMS.jsonl… [--order ITEMS.jsonl…]
        [--not ITEMS.jsonl…] [--write]

ITEMS.jsonl are the items of gold releases of the layer ``qa`` as ``export_gold --format native``
writes them; those of the split test, and copies of what ``--not`` names, are refused. Those after
``--order`` teach the order alone, and no vectors. Each conversation is read and ranked by what
conversations of other people taught. Without ``--write`` the figures are printed and nothing is
changed. The command repeats to the byte.
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
from benchmarks.train_vectors import GoldTalk, by_people, note_training, read_for_training
from pipelines.memory.config import MemoryConfig
from pipelines.memory.query.steps import Deps, State, chosen_of, plan, retrieve
from pipelines.memory.retrieval import ranker
from pipelines.memory.retrieval.adapter import ADAPTERS, EVERY, Adapted
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
    people: str
    index: ConversationIndex
    lessons: list[tuple[Floats, Any, Any]]
    """Features, the messages that take part, and which messages are evidence."""


def make_ready(gold: GoldTalk, people: str, encoder: Encoder) -> Pupil:
    index = ConversationIndex(gold.messages, encoder)
    lessons = []
    for question, expected in gold.questions:
        evidence = index.evidence(question)
        right = np.isin(np.arange(len(gold.messages)), list(expected))
        hard = np.argsort(-evidence.fused, kind="stable")[:HARD]
        part = np.union1d(hard, np.flatnonzero(right))
        lessons.append((index.features(evidence), part, right))
    return Pupil(gold, people, index, lessons)


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
    """By people the ranker that the others taught; under ``EVERY`` that of all."""
    people = dict.fromkeys(pupil.people for pupil in pupils)
    orders = {one: learn([pupil for pupil in pupils if pupil.people != one]) for one in people}
    unseen = [(pupil.people, scored(pupil, orders[pupil.people])) for pupil in pupils]
    without = {
        one: assured(order, [scores for other, scores in unseen if other != one])
        for one, order in orders.items()
    }
    return {EVERY: assured(learn(pupils), [scores for _, scores in unseen]), **without}


# --- how well it answers ------------------------------------------------------------------------


def report(pupils: Iterable[Pupil], rankers: Mapping[str, Ranker]) -> dict[str, float]:
    """Means over all questions, as the pipeline answers them by what other people taught."""
    config, rows = MemoryConfig(), []
    for pupil in pupils:
        index = pupil.index.with_ranker(rankers[pupil.people])
        deps = Deps(Talk(pupil.gold.messages, index), config, None)
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
    parser.add_argument(
        "--order",
        type=Path,
        nargs="+",
        default=[],
        metavar="ITEMS.jsonl",
        help="items that teach the order, and no vectors",
    )
    parser.add_argument("--write", action="store_true", help="store the weights")
    asked = parser.parse_args()
    both = [read_for_training(f, kept_back=asked.kept_back) for f in (asked.items, asked.order)]
    people = by_people([*both[0], *both[1]])
    kept = {number: [gold for gold in talks if gold in both[0]] for number, talks in people.items()}
    readers = {number: talks for number, talks in kept.items() if talks}
    adapters = train_vectors.taught_by(readers)
    pupils = [
        make_ready(gold, number, Adapted(adapters.get(number, adapters[EVERY])))
        for number, talks in people.items()
        for gold in talks
    ]
    rankers = ranking_by(pupils)
    for name, part in zip(("items", "order"), both, strict=True):
        if part:
            figures = report([pupil for pupil in pupils if pupil.gold in part], rankers)
            print(json.dumps({name: figures}, indent=1))
    if asked.write:
        train_vectors.write(adapters, ADAPTERS)
        write(rankers, ranker.WEIGHTS)
        note_training(ADAPTERS, readers)
        note_training(ranker.WEIGHTS, people)


def write(rankers: Mapping[str, Ranker], path: Path) -> None:
    """``rankers`` by the people they are without; under ``EVERY`` the one taught by all."""
    from safetensors.numpy import save_file

    parts = {
        f"{without}/{name}": np.ascontiguousarray(part, dtype=np.float32)
        for without, learned in rankers.items()
        for name, part in asdict(learned).items()
    }
    save_file(parts, path)


if __name__ == "__main__":
    main()
