"""Scores 1,000 samples of 10 requirements and says where the time goes, and how much memory.

    .venv/bin/python benchmarks/requirements.py [--samples 1000] [--requirements 10]

All texts are encoded in one batch, then everything else is computed; the second run finds the
vectors in a database of its own, as a run in the product does.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

THINGS = ("order", "parcel", "invoice", "patient", "voucher", "route", "ticket", "report")
VERBS = ("search", "cancel", "export", "archive", "share", "approve", "print", "translate")
MANNERS = ("by number", "by date", "on a phone", "within a day", "without a call", "in bulk")
TYPES = ("functional", "non-functional", "security", "data", "interface", "constraint")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--requirements", type=int, default=10)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        _set_up(folder)
        examples = _examples(given.samples, given.requirements)
        texts = sum(len(gold) + len(found) for gold, found in examples)
        print(f"{given.samples:,} samples, {texts:,} requirements, load {os.getloadavg()[0]:.1f}")
        _load()
        for name in ("first run", "second run, vectors stored"):
            _measure(name, examples)


def _set_up(folder: str) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    os.environ["ASSAY_DATA_DIR"] = folder
    os.environ["DATABASE_URL"] = f"sqlite:///{folder}/benchmark.sqlite3"
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def _load() -> None:
    """Loading the encoder is no part of a run: a worker does it once."""
    from labeling.services import vectors

    started = time.perf_counter()
    vectors.load_minilm().encode(["warm"])
    print(f"encoder loaded in {time.perf_counter() - started:.1f} s, {_memory_mb():.0f} MB")


class Counted:
    """The encoder, with how often it was called and how long it took."""

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder
        self.id = encoder.id
        self.calls, self.texts, self.seconds = 0, 0, 0.0

    def encode(self, texts: Any) -> Any:
        started = time.perf_counter()
        rows = self._encoder.encode(texts)
        self.calls, self.texts = self.calls + 1, self.texts + len(texts)
        self.seconds += time.perf_counter() - started
        return rows


def _measure(name: str, examples: list[tuple[list[Any], list[Any]]]) -> None:
    from labeling.domain.similarity import Ruler, load_minilm
    from labeling.services.vectors import StoredVectors

    encoder = Counted(load_minilm())
    started = time.perf_counter()
    f1 = _score(Ruler(encoder, cache=StoredVectors()), examples)
    seconds = time.perf_counter() - started
    rest = seconds - encoder.seconds
    print(
        f"{name}: {seconds:.1f} s = {encoder.seconds:.1f} s encoding ({encoder.texts:,} texts in "
        f"{encoder.calls} calls) + {rest:.1f} s for the rest; requirement_f1 {f1:.3f}; "
        f"memory at most {_memory_mb():.0f} MB"
    )


def _score(ruler: Any, pairs: list[tuple[list[Any], list[Any]]]) -> float | None:
    """As a run is scored: texts primed at once, each case, then aggregates with intervals."""
    from evaluation.layers import Context, Example, Scored, gold_layer
    from evaluation.metrics.registry import metrics_for
    from evaluation.metrics.summary import summarize

    layer = gold_layer("extraction")
    context = Context(ruler, {"matching": {"threshold": 0.85, "synonyms": []}}, 0)
    content = {"domain": "shop", "difficulty": "easy", "conversation": []}
    examples = [Example(content, gold, {"requirements": found}) for gold, found in pairs]
    ruler.prime(text for example in examples for text in layer.texts(example))
    scored = [
        Scored(example, layer.score(example, context), False, at)
        for at, example in enumerate(examples)
    ]
    layer.pooled(scored, context)
    layer.details(scored, context)
    common: dict[str, Any] = {"clusters": range(len(scored)), "failed": [False] * len(scored)}
    means = {
        metric.id: summarize(
            [one.values[metric.id].value for one in scored], seed=0, worst=metric.worst, **common
        ).mean
        for metric in metrics_for("extraction")
        if metric.per_case
    }
    return means["requirement_f1"]


def _examples(samples: int, requirements: int) -> list[tuple[list[Any], list[Any]]]:
    """Gold whose texts are all different, and predictions that reword a third and miss a tenth."""
    draw = random.Random(7)
    found = []
    for sample in range(samples):
        gold = [_requirement(draw, sample, number) for number in range(requirements)]
        predicted = [_predicted(draw, one) for one in gold if draw.random() > 0.1]
        found.append((gold, predicted))
    return found


def _requirement(draw: random.Random, sample: int, number: int) -> dict[str, Any]:
    thing, verb, manner = draw.choice(THINGS), draw.choice(VERBS), draw.choice(MANNERS)
    area = f"area {sample}-{number}"
    return {
        "uid": area,
        "title": f"{thing.title()} {verb} in {area}",
        "type": draw.choice(TYPES),
        "actor": "user",
        "action": f"{verb} every {thing} {manner}",
        "acceptance_criteria": [f"The {thing} of {area} is shown", f"{verb} of {area} works"],
        "priority": "must",
        "source_messages": [number],
        "confidence": draw.random(),
    }


def _predicted(draw: random.Random, one: dict[str, Any]) -> dict[str, Any]:
    if draw.random() > 1 / 3:
        return one
    return one | {
        "title": f"The possibility to {one['title'].lower()}",
        "acceptance_criteria": [f"{text} at once" for text in one["acceptance_criteria"]],
    }


def _memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
