"""How long agreement takes, next to scikit-learn's κ and krippendorff's α of the same labels.

    .venv/bin/python benchmarks/agreement.py [ANNOTATORS] [UNITS]

First κ of 100 pairs of lists of 10,000 labels: alone, and with all that a page shows of a pair (its
interval and those of AC1 and positive F1, over 100 conversations, and the chance that the true κ
passes); scikit-learn computes κ alone. Then everything of one large round; krippendorff computes α
alone. Everything runs in this one process, and times are its processor time.
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
PAIRS, ITEMS, CONVERSATIONS = 100, 10_000, 100


def main(annotators: int, units: int) -> None:
    pairs_of_lists()
    one_round(annotators, units)


def pairs_of_lists() -> None:
    from sklearn.metrics import cohen_kappa_score

    from labeling.domain.agreement.agreement import cohen_kappa, pair_agreement

    lists = [noisy_labels(2, ITEMS, seed).tolist() for seed in range(PAIRS)]
    parts = np.array_split(np.arange(ITEMS), CONVERSATIONS)
    by_conversation = [
        [{f"c{k}": own[part[0] : part[-1] + 1] for k, part in enumerate(parts)} for own in pair]
        for pair in lists
    ]
    theirs, expected = timed(lambda: [cohen_kappa_score(a, b) for a, b in lists])
    alone, kappas = timed(lambda: [cohen_kappa(a, b) for a, b in lists])
    whole, pairs = timed(lambda: [pair_agreement("a", "b", a, b) for a, b in by_conversation])
    print(f"κ of {PAIRS} pairs of lists of {ITEMS} labels")
    report("scikit-learn", theirs)
    report("Assay", alone)
    report("Assay, all figures with intervals", whole)
    print(f"ratio to scikit-learn: {alone / theirs:.2f}, with intervals {whole / theirs:.2f}")
    differences = [
        max(abs(kappa - score), abs(pair.kappa - score))
        for kappa, pair, score in zip(kappas, pairs, expected, strict=True)
    ]
    print(f"largest difference: {max(differences):.1e}\n")


def one_round(annotators: int, units: int) -> None:
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

    everything, ours = timed(lambda: agreement(ratings))
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
    differences = [abs(pair.kappa - kappa) for pair, kappa in zip(ours.pairs, kappas, strict=True)]
    print(f"largest difference: α {abs(alpha - theirs):.1e}, κ {max(differences):.1e}")


def noisy_labels(annotators: int, units: int, seed: int = 0) -> np.ndarray:
    """Everybody sees the same truth, and errs in one unit of ten."""
    random = np.random.default_rng(seed)
    truth = random.random(units) < 0.3
    errs = random.random((annotators, units)) < 0.1
    return (truth ^ errs).astype(np.int64)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """The best of three: what else the machine does only ever adds."""
    best, result = float("inf"), None
    for _ in range(3):
        started = time.process_time()
        result = work()
        best = min(best, time.process_time() - started)
    return best, result


def report(what: str, seconds: float) -> None:
    print(f"{what}: {seconds:.2f} s")


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:3]]
    main(*numbers, *(10, 100_000)[len(numbers) :])
