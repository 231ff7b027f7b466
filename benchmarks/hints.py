"""Which label hints the labels of people get, and a sample of them to read.

    python -m benchmarks.hints [FILE …] --sample 50 --seed 17

Reads labels as ``export_labels`` writes them, by default those of thirty interviews that three
people wrote before there were hints. The sample is drawn at random, so that a person can say of
each hint whether it is right.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path
from time import process_time
from typing import Any

from pipelines.requirements.validation.guide import KINDS, Note, notes

INTERVIEWS = Path(__file__).parents[1] / "fixtures" / "interviews" / "labels.jsonl"
Labels = list[dict[str, Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description="Count the hints that labels of people get.")
    parser.add_argument("files", nargs="*", type=Path, default=[INTERVIEWS])
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=17)
    options = parser.parse_args()
    answers = [labels for path in options.files for labels in read(path)]
    began = process_time()
    hinted = [(labels, notes(labels)) for labels in answers]  # type: ignore[arg-type]
    took_ms = (process_time() - began) * 1000
    count = sum(len(labels) for labels in answers)
    with_hint = sum(len({note.label for note in found}) for _, found in hinted)
    print(f"{len(answers)} answers with {count} labels: {with_hint} labels get a hint")
    kinds = Counter(note.kind for _, found in hinted for note in found)
    for kind in KINDS:
        print(f"  {kind:12} {kinds[kind]}")
    print(f"{took_ms / max(1, count):.2f} ms of processor time a label")
    lines = [line(note, labels) for labels, found in hinted for note in found]
    for text in sorted(random.Random(options.seed).sample(lines, min(options.sample, len(lines)))):
        print(text)


def read(path: Path) -> list[Labels]:
    """The requirements of each answer and each decision."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        labels
        for row in rows
        for labels in (
            *(answer["labels"].get("requirements", []) for answer in row.get("answers", [])),
            *(decision["labels"] for decision in row.get("decisions", [])),
        )
        if labels
    ]


def line(note: Note, labels: Labels) -> str:
    label = next(label for label in labels if note.label in (label.get("uid"), label.get("id")))
    return f"{note.kind}: “{note.words}” in {note.field}: {label[note.field]}"


if __name__ == "__main__":
    main()
