"""How long do the figures of ranked lists take, next to pytrec_eval?

    .venv/bin/python benchmarks/ranked_figures.py [QUERIES] [RESULTS]

Both compute recall, precision and hit rate at 1, 3, 5 and 10, and the reciprocal rank, of the same
lists in one process. Ours are called case by case, as scoring does, and compute all@k and the
chance level of every figure too. pytrec_eval gets its own kind of input, made before the clock
starts. Times are processor time, the best of five and the first, in which nothing is cached yet;
what is compared is the ratio.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import pytrec_eval

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evaluation.metrics.retrieval import CUTS, score_ranking

MESSAGES = 700  # of one conversation
MOST_RELEVANT = 4
REPEATS = 5


def main(queries: int = 10_000, results: int = 100) -> None:
    draw = random.Random(0)
    ids = range(1, MESSAGES + 1)
    expected = [set(draw.sample(ids, draw.randint(1, MOST_RELEVANT))) for _ in range(queries)]
    ranked = [draw.sample(ids, results) for _ in range(queries)]
    relevant = {str(at): {str(id_): 1 for id_ in wanted} for at, wanted in enumerate(expected)}
    run = {
        str(at): {str(id_): float(results - rank) for rank, id_ in enumerate(order)}
        for at, order in enumerate(ranked)
    }
    cuts = ",".join(map(str, CUTS))
    measures = {*(f"{kind}.{cuts}" for kind in ("recall", "P", "success")), "recip_rank"}
    evaluator = pytrec_eval.RelevanceEvaluator(relevant, measures)

    def ours() -> object:
        cases = zip(expected, ranked, strict=True)
        return [score_ranking(*case, size=MESSAGES) for case in cases]

    print(f"{queries:,} queries × {results:,} results, processor seconds")
    own, other = times(ours), times(lambda: evaluator.evaluate(run))
    for name, which in (("first", lambda each: each[0]), (f"best of {REPEATS}", min)):
        mine, trec = which(own), which(other)
        print(f"{name}: score_ranking {mine:.3f}, pytrec_eval {trec:.3f}, ratio {mine / trec:.2f}")
    theirs = evaluator.evaluate(run)
    for at, case in enumerate(zip(expected, ranked, strict=True)):
        value = score_ranking(*case)["mrr"].value
        assert value == pytest.approx(theirs[str(at)]["recip_rank"], abs=1e-9)


def times(work: Callable[[], object]) -> list[float]:
    measured = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        measured.append(time.process_time() - start)
    return measured


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
