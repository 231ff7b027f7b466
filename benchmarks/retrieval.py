"""How well, and how fast, each way of ranking finds the messages that answer a question.

    .venv/bin/python benchmarks/retrieval.py ITEMS.jsonl --cache FOLDER [--other 5,6,7]

ITEMS.jsonl are the items of a gold release of the layer qa, as export_gold writes them. What is
learned is learned without the conversation that it is tried on. ``--other`` names, by their place
in the file, conversations of other people: the rest teaches for them, and they for the rest.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pipelines  # noqa: F401 - one thread, which must be said before numpy comes

# isort: split
import numpy as np

from evaluation.metrics.comparison import Comparison, compare
from evaluation.metrics.metric import Share
from evaluation.metrics.registry import METRICS
from evaluation.metrics.retrieval import score_ranking
from pipelines.encoder import MiniLM
from pipelines.memory.conversations import key_of
from pipelines.memory.retrieval.adapter import EVERY, Adapted
from pipelines.memory.retrieval.index import METHODS, Ranking
from pipelines.memory.training import adapters, ranking
from pipelines.memory.training.query import Folder, GoldTalk, read_for_training
from pipelines.memory.training.ranking import Pupil
from pipelines.registry import build
from pipelines.types import Case, Encoder

FIGURES = (
    "recall_at_1", "recall_at_3", "recall_at_5", "recall_at_10", "recall_at_20",
    "precision_at_10", "hit_rate_at_10", "mrr",
)  # fmt: skip
SIZES = {"1": (1, 1), "2": (2, 2), "3 or more": (3, 10**9)}
BUDGET = 8
Row = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("items", type=Path, nargs="+")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--other", default="")
    asked = parser.parse_args()
    encoder, store = MiniLM(), Folder(asked.cache)
    pupils = [ranking.make_ready(gold, encoder, store) for gold in read_for_training(asked.items)]
    rows = {method: every(pupils, by_method(method)) for method in METHODS if method != "learned"}
    results = ranking.held_out(pupils, ranking.rankers_without(pupils))
    rows["learned"] = every(pupils, lambda pupil, at: results[pupil.gold.name][at].indexes)
    rows |= {name: every(pupils, by_floor(name)) for name in ("random", "everything")}
    show_rankings(pupils, rows)
    show_budget(pupils, rows)
    if asked.other:
        others = {int(place) - 1 for place in asked.other.split(",")}
        show_crossed([pupil.gold for pupil in pupils], others, store)
    show_speed(pupils)


def by_method(method: str) -> Callable[[Pupil, int], Sequence[int]]:
    return lambda pupil, at: pupil.index.rank_by(method, pupil.gold.questions[at][0]).indexes


def by_floor(name: str) -> Callable[[Pupil, int], Sequence[int]]:
    pipeline = build(name, {})

    def rank(pupil: Pupil, at: int) -> list[int]:
        gold, question = pupil.gold, pupil.gold.questions[at][0]
        case = Case(f"{gold.name}:{at}", "", gold.messages, question, gold.name, "qa")
        return [number - 1 for number in pipeline.run(case)["ranked"]]

    return rank


def every(pupils: Sequence[Pupil], rank: Callable[[Pupil, int], Sequence[int]]) -> list[Row]:
    return [
        scored(list(rank(pupil, at)), expected)
        for pupil in pupils
        for at, (_, expected) in enumerate(pupil.gold.questions)
    ]


def scored(order: list[int], expected: frozenset[int]) -> Row:
    row = {name: value.value or 0.0 for name, value in score_ranking(expected, order).items()}
    hits = len(expected & set(order[:BUDGET]))
    row["recall_at_20"] = len(expected & set(order[:20])) / len(expected)
    return row | {"budget_recall": hits / len(expected), "budget_precision": hits / BUDGET}


def show_rankings(pupils: Sequence[Pupil], rows: dict[str, list[Row]]) -> None:
    owners = [pupil.gold.name for pupil in pupils for _ in pupil.gold.questions]
    sizes = [len(expected) for pupil in pupils for _, expected in pupil.gold.questions]
    print(f"{len(owners)} questions of {len(pupils)} conversations; in %, means over questions")
    print("| method |", " | ".join(FIGURES), "|", " | ".join(SIZES), "| p against lexical |")
    print("| --- |" + " --- |" * (len(FIGURES) + len(SIZES) + 1))
    for name, own_rows in rows.items():
        cells = [percent(own_rows, figure) for figure in FIGURES]
        for least, most in SIZES.values():
            part = [row for row, size in zip(own_rows, sizes, strict=True) if least <= size <= most]
            cells.append(percent(part, "recall_at_10"))
        test = paired(rows["lexical"], own_rows, owners)
        p = "" if name == "lexical" or test.p_value is None else f"{test.p_value:.3f}"
        print(f"| {name} |", " | ".join(cells), "|", p, "|")


def paired(before: Sequence[Row], after: Sequence[Row], owners: Sequence[str]) -> Comparison:
    metric = METRICS["recall_at_10"]
    shares = [[Share(row[metric.id], 1.0) for row in rows] for rows in (before, after)]
    return compare(*shares, clusters=owners, metric=metric)


def percent(rows: Sequence[Row], figure: str) -> str:
    return f"{100 * np.mean([row[figure] for row in rows]):.1f}" if rows else "–"


def show_budget(pupils: Sequence[Pupil], rows: dict[str, list[Row]]) -> None:
    print(f"\nthe first {BUDGET} as the answer: exact recall and precision")
    for name, own_rows in rows.items():
        cells = [percent(own_rows, figure) for figure in ("budget_recall", "budget_precision")]
        print(f"| {name} |", " | ".join(cells), "|")
    every_one = [
        (1.0, len(expected) / len(pupil.gold.messages))
        for pupil in pupils
        for _, expected in pupil.gold.questions
    ]
    print(f"| every message | 100.0 | {100 * np.mean([figures[1] for figures in every_one]):.2f} |")


def show_crossed(gold_talks: Sequence[GoldTalk], others: set[int], store: Folder) -> None:
    sides = [
        [gold for at, gold in enumerate(gold_talks) if (at in others) is side]
        for side in (False, True)
    ]
    print("\ntaught by one side, tried on the other")
    rows_of: dict[str, list[Row]] = {}
    for name, encoders in (("plain MiniLM", plain), ("adapted", adapted)):
        together: list[Row] = []
        for teachers, tried in (sides, sides[::-1]):
            pupils, rankings = crossed(teachers, tried, encoders(teachers, store), store)
            rows = every(pupils, lambda pupil, at, of=rankings: of[pupil.gold.name][at].indexes)
            together += rows
            show_row(f"{name}: {', '.join(gold.name for gold in tried)}", rows)
        show_row(f"{name}: both", together)
        rows_of[name] = together
    owners = [gold.name for side in sides[::-1] for gold in side for _ in gold.questions]
    test = paired(*rows_of.values(), owners)
    print(f"recall@10, adapted less plain, for new conversations: {test}")


def show_row(name: str, rows: Sequence[Row]) -> None:
    print(f"| {name} |", " | ".join(percent(rows, figure) for figure in FIGURES), "|")


Encoders = Callable[[str], Encoder]
"""By the key of a teaching conversation, or ``EVERY`` for the conversations tried."""


class Plain(MiniLM):
    """As it is packaged: an index adapts ``MiniLM`` itself by the shipped adapters."""


def plain(teachers: Sequence[GoldTalk], store: Folder) -> Encoders:
    encoder = Plain()
    return lambda key: encoder


def adapted(teachers: Sequence[GoldTalk], store: Folder) -> Encoders:
    """Taught by the teachers alone; the vectors of each of them by the others."""
    learned = adapters.taught_by(teachers, MiniLM(), store)
    return lambda key: Adapted(learned[key])


def crossed(
    teachers: Sequence[GoldTalk], tried: Sequence[GoldTalk], encoders: Encoders, store: Folder
) -> tuple[list[Pupil], dict[str, list[Ranking]]]:
    """Weights of the teachers alone, on vectors that are new to them, too."""
    ready = [ranking.make_ready(gold, encoders(key_of(gold.messages)), store) for gold in teachers]
    ranker = ranking.taught_by(ready)
    pupils = [ranking.make_ready(gold, encoders(EVERY), store) for gold in tried]
    return pupils, {pupil.gold.name: pupil.ranked_by(ranker) for pupil in pupils}


def show_speed(pupils: Sequence[Pupil]) -> None:
    longest = max(pupils, key=lambda pupil: len(pupil.gold.messages))
    index, seconds = longest.index, []
    for question, _ in longest.gold.questions:
        started = time.process_time()
        index.rank(question)
        seconds.append(time.process_time() - started)
    middle, slow = np.percentile(seconds, [50, 95]) * 1000
    print(
        f"\n{len(longest.gold.messages)} messages: {middle:.0f} ms a question, 95 % in {slow:.0f}"
    )


if __name__ == "__main__":
    main()
