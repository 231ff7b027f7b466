"""How long the agreement of many annotators takes, beside krippendorff's α on the same labels.

    .venv/bin/python benchmarks/agreement.py [ANNOTATORS] [UNITS]

Both get the labels in memory. Ours are all figures of the page (κ of every pair with its interval
from 1,000 resamples of conversations, AC1, Fleiss' κ, α); krippendorff's is α alone, and then κ
of every pair by scikit-learn, without intervals.
"""

import sys
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

UNITS_PER_CONVERSATION = 20


def main(annotators: int, units: int) -> None:
    import krippendorff
    from sklearn.metrics import cohen_kappa_score

    from labeling.domain.agreement.agreement import agreement
    from labeling.domain.agreement.kappa import krippendorff_alpha

    labels = noisy_labels(annotators, units)
    conversations = np.array_split(np.arange(units), max(1, units // UNITS_PER_CONVERSATION))
    ratings = {
        f"person-{number}": {f"c{k}": row[part].tolist() for k, part in enumerate(conversations)}
        for number, row in enumerate(labels)
    }
    counts = np.stack([(labels == label).sum(axis=0) for label in (0, 1)], axis=1)
    print(f"{annotators} annotators, {units} units, {len(conversations)} conversations")

    everything, found = timed(lambda: agreement(ratings))
    own_alpha, alpha = timed(lambda: krippendorff_alpha(counts))
    other_alpha, theirs = timed(
        lambda: krippendorff.alpha(reliability_data=labels, level_of_measurement="nominal")
    )
    other_kappas, kappas = timed(
        lambda: [cohen_kappa_score(a, b) for a, b in combinations(labels, 2)]
    )
    report("all figures with intervals, Assay", everything)
    report("α alone, Assay", own_alpha)
    report("α alone, krippendorff", other_alpha)
    report("κ of every pair without intervals, scikit-learn", other_kappas)
    print(f"α: krippendorff takes {other_alpha / own_alpha:.1f} times as long as Assay")
    print(f"all figures of Assay take {everything / other_alpha:.2f} times krippendorff's α alone")
    differences = [abs(pair.kappa - kappa) for pair, kappa in zip(found.pairs, kappas, strict=True)]
    print(f"largest difference: α {abs(alpha - theirs):.1e}, κ {max(differences):.1e}")


def noisy_labels(annotators: int, units: int) -> np.ndarray:
    """Everybody sees the same truth, and errs in one unit of ten."""
    random = np.random.default_rng(0)
    truth = random.random(units) < 0.3
    errs = random.random((annotators, units)) < 0.1
    return (truth ^ errs).astype(np.int64)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """The best of three: what else the machine does only ever adds."""
    best, result = float("inf"), None
    for _ in range(3):
        started = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - started)
    return best, result


def report(what: str, seconds: float) -> None:
    print(f"{what}: {seconds:.2f} s")


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:3]]
    main(*given, *(10, 100_000)[len(given) :])
