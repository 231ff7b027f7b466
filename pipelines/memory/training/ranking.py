"""Trains ``retrieval/weights.json``, and says how well it ranks unseen conversations.

    python -m pipelines.memory.training.ranking ITEMS.jsonl… --cache FOLDER
        [--not ITEMS.jsonl…] [--report FILE] [--write]

ITEMS.jsonl are the items of a gold release of the layer ``qa`` as ``export_gold --format native``
writes them; those of the split test, and copies of what ``--not`` names, are refused.
Without ``--write`` the figures are printed and nothing is changed. The command
repeats to the byte.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.encoder import MiniLM
from pipelines.memory.conversations import key_of
from pipelines.memory.query.talk import Talk
from pipelines.memory.retrieval.index import ConversationIndex, Ranking
from pipelines.memory.retrieval.ranker import WEIGHTS, Ranker, StoredFeature, StoredRanker
from pipelines.memory.training.query import (
    Folder,
    GoldTalk,
    Taught,
    add_arguments,
    figures,
    fit_ranker,
    note_training,
    read_for_training,
    taught,
)
from pipelines.types import Encoder, Store

DECIMALS = 6
TOP = 10
Answered = tuple[list[int], list[int], frozenset[int]]
RANKING_FIGURES = ("MRR", "recall@1", "recall@3", "recall@5", "recall@10", "recall@20")


@dataclass(frozen=True)
class Pupil:
    """A conversation that is made ready, and what it teaches."""

    gold: GoldTalk
    index: ConversationIndex
    taught: Taught

    def ranked_by(self, ranker: Ranker) -> list[Ranking]:
        """Its questions, answered by a ranker that was taught by others."""
        index = self.index.with_ranker(ranker)
        return [index.rank(question) for question, _ in self.gold.questions]


def make_ready(gold: GoldTalk, encoder: Encoder, store: Store) -> Pupil:
    index = ConversationIndex.build(gold.messages, encoder=encoder, store=store)
    return Pupil(gold, index, taught(gold, Talk(gold.messages, index)))


def taught_by(pupils: Sequence[Pupil]) -> Ranker:
    """A ranker exactly as it would be read from its file."""
    return Ranker.of(as_json(fit_ranker([pupil.taught for pupil in pupils])))


def rankers_without(pupils: Sequence[Pupil]) -> list[Ranker]:
    """For each conversation the ranker that was taught by all the others."""
    return [taught_by([other for other in pupils if other is not pupil]) for pupil in pupils]


def held_out(pupils: Sequence[Pupil], rankers: Sequence[Ranker]) -> dict[str, list[Ranking]]:
    """Rankings by conversation, each by its own ranker."""
    pairs = zip(pupils, rankers, strict=True)
    return {pupil.gold.name: pupil.ranked_by(ranker) for pupil, ranker in pairs}


def report(
    pupils: Sequence[Pupil], rankings: Mapping[str, Sequence[Ranking]]
) -> dict[str, dict[str, float]]:
    """Figures over all questions, and for each conversation."""
    answered: dict[str, list[Answered]] = {
        pupil.gold.name: [
            (list(ranking.indexes[:TOP]), list(ranking.indexes), expected)
            for ranking, (_, expected) in zip(
                rankings[pupil.gold.name], pupil.gold.questions, strict=True
            )
        ]
        for pupil in pupils
    }
    everything = [row for rows in answered.values() for row in rows]
    return {
        name: _ranking_figures(figures(rows)) | {"questions": len(rows)}
        for name, rows in {"all": everything, **answered}.items()
    }


def _ranking_figures(means: Mapping[str, float]) -> dict[str, float]:
    return {name: round(means[name], 4) for name in RANKING_FIGURES}


def as_json(ranker: Ranker) -> StoredRanker:
    columns = zip(ranker.names, ranker.mean, ranker.spread, ranker.weights, strict=True)
    rows: list[StoredFeature] = [
        {
            "name": name,
            "mean": round(float(mean), DECIMALS),
            "spread": round(float(spread), DECIMALS),
            "weight": round(float(weight), DECIMALS),
        }
        for name, mean, spread, weight in columns
    ]
    return {"features": rows, "always": round(ranker.always, DECIMALS)}


def write_weights(pupils: Sequence[Pupil], rankers: Sequence[Ranker], path: Path = WEIGHTS) -> None:
    """The weights taught by all, and for each conversation those that never saw it."""
    without = {
        key_of(pupil.gold.messages): as_json(ranker)
        for pupil, ranker in zip(pupils, rankers, strict=True)
    }
    stored = {**as_json(taught_by(pupils)), "without": without}
    path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    note_training(path, [pupil.gold for pupil in pupils])


def main() -> None:
    parser = argparse.ArgumentParser(description="Train how messages are ranked for a question.")
    add_arguments(parser)
    parser.add_argument("--report", type=Path, help="file for the figures; printed anyway")
    parser.add_argument("--write", action="store_true", help="store the weights")
    asked = parser.parse_args()
    gold_talks = read_for_training(asked.items, kept_back=asked.kept_back)
    encoder = MiniLM()
    pupils = [make_ready(gold, encoder, Folder(asked.cache)) for gold in gold_talks]
    rankers = rankers_without(pupils)
    figures_found = json.dumps(report(pupils, held_out(pupils, rankers)), indent=1)
    print(figures_found)
    if asked.report:
        asked.report.write_text(figures_found + "\n", encoding="utf-8")
    if asked.write:
        write_weights(pupils, rankers)


if __name__ == "__main__":
    main()
