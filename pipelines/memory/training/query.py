"""Trains ``query/weights.json``, and says how good the answers to an unseen conversation are.

    python -m pipelines.memory.training.query ITEMS.jsonl… --cache FOLDER [--not ITEMS.jsonl…]
        [--write]

ITEMS.jsonl are the items of a gold release of the layer ``qa`` as ``export_gold --format native``
writes them; those of the split test, and copies of what ``--not`` names, are refused. Everything
learned, the ranking of the index too, is learned without the conversation that it is tried on.
Without ``--write`` the figures are printed and nothing is changed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pipelines import trained_on
from pipelines.encoder import MiniLM
from pipelines.memory.agent.exploring import explore
from pipelines.memory.agent.nodes import after_retriever
from pipelines.memory.config import MemoryConfig
from pipelines.memory.conversations import key_of
from pipelines.memory.query import evidence
from pipelines.memory.query.candidates import Search, search_all
from pipelines.memory.query.evidence import FEATURES, Matrix, StoredWeights, Weights
from pipelines.memory.query.mind import LocalMind, Plan, Verdict
from pipelines.memory.query.talk import Talk
from pipelines.memory.retrieval.index import ConversationIndex
from pipelines.memory.retrieval.ranker import Ranker
from pipelines.memory.talks import Talks
from pipelines.testing import TEST, TestItems, TrainingText, refuse_test_items
from pipelines.types import Case, Encoder, Message

LEARNED_FROM = 80  # the best candidates of a question; the others are never chosen
STRENGTH = 0.1  # of the fit, inverse regularisation
RANKER_STRENGTH = 0.02
HARD = 200  # messages of a question that are all used; of the others one in THINNED
THINNED = 10.0
CUTS = (1, 3, 5, 10, 20)


@dataclass
class GoldQuestion:
    """A question with its search results."""

    question: str
    expected: frozenset[int]
    plan: Plan
    first: list[Search]
    explored: list[Search] = field(default_factory=list)


@dataclass
class GoldTalk:
    """One conversation of the gold."""

    name: str
    messages: tuple[Message, ...]
    questions: list[tuple[str, frozenset[int]]]
    split: str = ""

    @property
    def texts(self) -> list[str]:
        return [message.content for message in self.messages]


class Folder:
    """A store of files, for vectors that take minutes to compute."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, key: str) -> bytes | None:
        path = self._folder / key
        return path.read_bytes() if path.exists() else None

    def put(self, key: str, value: bytes) -> None:
        (self._folder / key).write_bytes(value)


def read_gold(lines: Iterable[str]) -> list[GoldTalk]:
    return [_gold_talk(json.loads(line)) for line in lines if line.strip()]


def read_for_training(files: Sequence[Path], *, kept_back: Sequence[Path] = ()) -> list[GoldTalk]:
    """The conversations with questions; ends the program if one is kept for testing."""
    gold_talks, lines = _lines(files), _lines(kept_back)
    try:
        refuse_test_items(map(_text_of, gold_talks), kept_back=map(_kept_back, lines))
    except TestItems as refused:
        sys.exit(str(refused))
    return [gold for gold in gold_talks if gold.questions]


def _lines(files: Sequence[Path]) -> list[GoldTalk]:
    lines = [line for file in files for line in file.read_text(encoding="utf-8").split("\n")]
    return read_gold(lines)


def _text_of(gold: GoldTalk) -> TrainingText:
    return TrainingText(gold.name, gold.split, gold.texts)


def _kept_back(gold: GoldTalk) -> TrainingText:
    return TrainingText(gold.name, TEST, gold.texts)


def note_training(weights: Path, gold_talks: Iterable[GoldTalk]) -> None:
    """Write next to the weights what they have read."""
    talks = {key_of(gold.messages): gold.texts for gold in gold_talks}
    trained_on.write(weights, talks, leaves_out=True)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What all three trainings take."""
    parser.add_argument("items", type=Path, nargs="+", help="items.jsonl of exported gold releases")
    parser.add_argument("--cache", type=Path, required=True, help="folder for computed vectors")
    parser.add_argument(
        "--not",
        dest="kept_back",
        type=Path,
        nargs="+",
        default=[],
        metavar="ITEMS.jsonl",
        help="items kept for testing: nothing that is the same conversation is trained on",
    )


def _gold_talk(item: Mapping[str, Any]) -> GoldTalk:
    messages = tuple(
        Message(
            index=line["index"],
            role=line["role"],
            speaker=line["speaker"] or line["role"],
            content=line["content"],
            time=line["time"],
        )
        for line in item["conversation"]
    )
    asked = [
        (label["question"], frozenset(label["evidence"]))
        for label in item["gold"]["questions"]
        if label["evidence"]
    ]
    return GoldTalk(item["item_id"], messages, asked, item.get("split") or "")


# --- searching ----------------------------------------------------------------------------------


def look(gold: GoldTalk, talk: Talk, config: MemoryConfig) -> list[GoldQuestion]:
    """The first look at every question, as retriever and oneshot take it."""
    mind, limit = LocalMind(config), config.candidate_limit
    looked_at = []
    for question, expected in gold.questions:
        plan = mind.plan(question, talk, task="qa")
        asked = [(question, "asked"), *((part.text, part.why) for part in plan.sub_questions)]
        looked_at.append(
            GoldQuestion(question, expected, plan, search_all(talk, asked, limit=limit))
        )
    return looked_at


def look_again(asked: GoldQuestion, talk: Talk, weights: Weights, config: MemoryConfig) -> None:
    """What the explorer adds in its two looks."""
    verdict = _verdict(asked.first, asked, talk, weights)
    searches = list(asked.first)
    for number in (1, 2):
        searches += explore(
            asked.question, talk, verdict, searches, look=number, limit=config.candidate_limit
        )
    asked.explored = searches


def _verdict(
    searches: Sequence[Search], asked: GoldQuestion, talk: Talk, weights: Weights
) -> Verdict:
    chances = evidence.weigh(talk, asked.plan.intent, searches, weights)
    return Verdict(chances, (), sufficient=True)


# --- learning -----------------------------------------------------------------------------------


def fit(examples: Iterable[tuple[GoldQuestion, Talk]], *, explored: bool) -> Weights:
    from sklearn.linear_model import LogisticRegression

    tables, truths = [], []
    for asked, talk in examples:
        positions, rows = _rows(asked, talk, explored=explored)
        tables.append(rows)
        truths.append(np.array([position in asked.expected for position in positions]))
    table, truth = np.concatenate(tables), np.concatenate(truths)
    mean, scale = table.mean(axis=0), table.std(axis=0)
    scale[scale < 1e-6] = 1.0
    model = LogisticRegression(C=STRENGTH, max_iter=1000).fit((table - mean) / scale, truth)
    return Weights(mean, scale, model.coef_[0], float(model.intercept_[0]))


def _rows(asked: GoldQuestion, talk: Talk, *, explored: bool) -> tuple[list[int], Matrix]:
    """The best candidates alone: the rest would only teach that most messages aren't evidence."""
    searches = asked.explored if explored else asked.first
    positions, rows = evidence.features(talk, asked.plan.intent, searches)
    best = np.argsort(-rows[:, FEATURES.index("asked")], kind="stable")[:LEARNED_FROM]
    return [positions[at] for at in best], rows[best]


# --- the ranking of the index, learned without one conversation ---------------------------------


@dataclass(frozen=True)
class Taught:
    """Features of the index for all questions of a conversation; easy negatives are thinned out."""

    names: tuple[str, ...]
    rows: Matrix
    right: Matrix
    counts: Matrix
    """How many rows each one represents."""


def taught(gold: GoldTalk, talk: Talk) -> Taught:
    index, random = _index(talk), np.random.default_rng(len(gold.messages))
    parts: list[tuple[Matrix, Matrix, Matrix]] = []
    names: tuple[str, ...] = ()
    for question, expected in gold.questions:
        columns = index.columns(index.evidence(question))
        names = tuple(columns)
        right = np.isin(np.arange(len(gold.messages)), list(expected))
        hard = right | (np.argsort(np.argsort(-columns["fused"])) < HARD)
        kept = hard | (random.random(len(right)) < 1 / THINNED)
        rows = np.column_stack(list(columns.values()))
        counts = np.where(hard, 1.0, THINNED)
        parts.append((rows[kept], right[kept].astype(float), counts[kept]))
    return Taught(names, *(np.concatenate(column) for column in zip(*parts, strict=True)))


def fit_ranker(conversations: Sequence[Taught]) -> Ranker:
    from sklearn.linear_model import LogisticRegression

    rows = np.concatenate([conversation.rows for conversation in conversations])
    right = np.concatenate([conversation.right for conversation in conversations])
    counts = np.concatenate([conversation.counts for conversation in conversations])
    mean = np.average(rows, axis=0, weights=counts)
    spread = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=counts))
    spread[spread < 1e-6] = 1.0
    model = LogisticRegression(C=RANKER_STRENGTH, max_iter=500)
    model.fit((rows - mean) / spread, right, sample_weight=counts)
    names = conversations[0].names
    return Ranker(names, mean, spread, model.coef_[0], float(model.intercept_[0]))


def _with_ranker(talk: Talk, ranker: Ranker) -> Talk:
    return replace(talk, index=_index(talk).with_ranker(ranker))


def _index(talk: Talk) -> ConversationIndex:
    if not isinstance(talk.index, ConversationIndex):
        raise TypeError("A conversation without messages teaches nothing; leave it out.")
    return talk.index


# --- how well it answers ------------------------------------------------------------------------


def answers(
    asked: GoldQuestion, talk: Talk, first: Weights, explored: Weights, config: MemoryConfig
) -> dict[str, tuple[list[int], list[int]]]:
    """By mode: what was chosen, and the ranking it was chosen from."""
    mind = LocalMind(config)
    once = _verdict(asked.first[:1], asked, talk, first)
    again = _verdict(asked.first, asked, talk, first)
    fast = after_retriever({"plan": asked.plan, "searches": asked.first}) == "generator"
    if not fast and mind.misses(talk, asked.plan, asked.first, again.chances):
        again = _verdict(asked.explored, asked, talk, explored)
    return {
        "oneshot": (mind.chosen(asked.plan.intent, once), once.ranked),
        "agent": (mind.chosen(asked.plan.intent, again), again.ranked),
    }


def figures(results: Sequence[tuple[list[int], list[int], frozenset[int]]]) -> dict[str, float]:
    """Means over questions: of the answer recall, precision, length; of the ranking recall."""
    hits = [len(set(chosen) & expected) for chosen, _, expected in results]
    sizes = [len(chosen) for chosen, _, _ in results]
    table: dict[str, list[float]] = {
        "recall": [
            hit / len(expected) for hit, (_, _, expected) in zip(hits, results, strict=True)
        ],
        "precision": [hit / size for hit, size in zip(hits, sizes, strict=True) if size],
        "returned": [float(size) for size in sizes],
        "MRR": [_reciprocal(ranked, expected) for _, ranked, expected in results],
    }
    for cut in CUTS:
        table[f"recall@{cut}"] = [
            len(set(ranked[:cut]) & expected) / len(expected) for _, ranked, expected in results
        ]
    return {name: float(np.mean(values)) for name, values in table.items()}


def _reciprocal(ranked: Sequence[int], expected: frozenset[int]) -> float:
    places = (place for place, at in enumerate(ranked, start=1) if at in expected)
    return 1.0 / next(places, float("inf"))


# --- all of it ----------------------------------------------------------------------------------

Seen = dict[str, tuple[Talk, list[GoldQuestion]]]
"""By conversation: its talk, and its questions with what a ranking found that never saw it."""


def see(
    gold_talks: Sequence[GoldTalk], encoder: Encoder, cache: Path, config: MemoryConfig
) -> Seen:
    talks = Talks(encoder, store=Folder(cache))
    opened = {gold.name: talks(Case(gold.name, "", gold.messages)) for gold in gold_talks}
    learned_from = {gold.name: taught(gold, opened[gold.name]) for gold in gold_talks}
    seen: Seen = {}
    for gold in gold_talks:
        others = [lesson for name, lesson in learned_from.items() if name != gold.name]
        talk = _with_ranker(opened[gold.name], fit_ranker(others))
        seen[gold.name] = (talk, look(gold, talk, config))
    for name, (talk, questions) in seen.items():
        first = fit(examples(seen, without=name), explored=False)
        for asked in questions:
            look_again(asked, talk, first, config)
    return seen


def examples(seen: Seen, *, without: str = "") -> list[tuple[GoldQuestion, Talk]]:
    return [
        (asked, talk)
        for name, (talk, questions) in seen.items()
        if name != without
        for asked in questions
    ]


def held_out(seen: Seen, config: MemoryConfig) -> dict[str, dict[str, float]]:
    """Figures of both modes, each conversation answered with weights learned on the others."""
    results: dict[str, list[tuple[list[int], list[int], frozenset[int]]]] = {}
    for name, (talk, questions) in seen.items():
        others = examples(seen, without=name)
        first, explored = fit(others, explored=False), fit(others, explored=True)
        for asked in questions:
            for mode, (chosen, ranked) in answers(asked, talk, first, explored, config).items():
                results.setdefault(mode, []).append((chosen, ranked, asked.expected))
    return {mode: figures(answers) for mode, answers in results.items()}


def as_json(weights: Weights) -> StoredWeights:
    return {
        "features": list(FEATURES),
        "mean": _rounded(weights.mean),
        "scale": _rounded(weights.scale),
        "weights": _rounded(weights.weights),
        "bias": round(weights.bias, 5),
    }


def _rounded(column: Matrix) -> list[float]:
    return [round(float(value), 5) for value in column]


def stored(seen: Seen, *, without: str = "") -> dict[str, StoredWeights]:
    taught_by = examples(seen, without=without)
    return {
        "first": as_json(fit(taught_by, explored=False)),
        "explored": as_json(fit(taught_by, explored=True)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Train how the memory pipeline weighs evidence.")
    add_arguments(parser)
    parser.add_argument("--write", action="store_true", help="store the weights")
    asked = parser.parse_args()
    gold_talks = read_for_training(asked.items, kept_back=asked.kept_back)
    config = MemoryConfig()
    seen = see(gold_talks, MiniLM(), asked.cache, config)
    print(json.dumps(held_out(seen, config), indent=1))
    if asked.write:
        without = {
            key_of(talk.messages): stored(seen, without=name) for name, (talk, _) in seen.items()
        }
        weights = {**stored(seen), "without": without}
        evidence.WEIGHTS.write_text(json.dumps(weights, indent=1) + "\n", encoding="utf-8")
        note_training(evidence.WEIGHTS, gold_talks)


if __name__ == "__main__":
    main()
