"""What the training of memory reads: the items of gold releases of the layer ``qa``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines import trained_on
from pipelines.memory.conversations import key_of
from pipelines.testing import TEST, TestItems, TrainingText, refuse_test_items
from pipelines.types import Message


@dataclass
class GoldTalk:
    """One conversation of the gold, with its questions and their evidence."""

    name: str
    messages: tuple[Message, ...]
    questions: list[tuple[str, frozenset[int]]]
    split: str = ""

    @property
    def texts(self) -> list[str]:
        return [message.content for message in self.messages]


def read(files: Iterable[Path]) -> list[GoldTalk]:
    lines = (line for file in files for line in file.read_text(encoding="utf-8").split("\n"))
    return [_gold_talk(json.loads(line)) for line in lines if line.strip()]


def read_for_training(files: Sequence[Path], *, kept_back: Sequence[Path] = ()) -> list[GoldTalk]:
    """The conversations with questions; ends the program if one is kept for testing."""
    gold_talks = read(files)
    try:
        refuse_test_items(
            [TrainingText(gold.name, gold.split, gold.texts) for gold in gold_talks],
            kept_back=[TrainingText(gold.name, TEST, gold.texts) for gold in read(kept_back)],
        )
    except TestItems as refused:
        sys.exit(str(refused))
    return [gold for gold in gold_talks if gold.questions]


def note_training(weights: Path, gold_talks: Iterable[GoldTalk]) -> None:
    """Write next to the weights what they have read."""
    talks = {key_of(gold.messages): gold.texts for gold in gold_talks}
    trained_on.write(weights, talks, leaves_out=True)


def _gold_talk(item: Mapping[str, Any]) -> GoldTalk:
    said = ("index", "role", "content", "time")
    messages = tuple(
        Message(**{name: line[name] for name in said}, speaker=line["speaker"] or line["role"])
        for line in item["conversation"]
    )
    asked = [
        (label["question"], frozenset(label["evidence"]))
        for label in item["gold"]["questions"]
        if label["evidence"]
    ]
    return GoldTalk(item["item_id"], messages, asked, item.get("split") or "")
