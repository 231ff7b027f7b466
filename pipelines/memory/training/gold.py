"""What the trainings read: the items of a gold release of the layer ``qa``."""

from __future__ import annotations

import argparse
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
    gold_talks, others = (
        read_gold(line for file in each for line in file.read_text(encoding="utf-8").split("\n"))
        for each in (files, kept_back)
    )
    try:
        refuse_test_items(
            [TrainingText(gold.name, gold.split, gold.texts) for gold in gold_talks],
            kept_back=[TrainingText(gold.name, TEST, gold.texts) for gold in others],
        )
    except TestItems as refused:
        sys.exit(str(refused))
    return [gold for gold in gold_talks if gold.questions]


def note_training(weights: Path, gold_talks: Iterable[GoldTalk]) -> None:
    """Write next to the weights what they have read."""
    talks = {key_of(gold.messages): gold.texts for gold in gold_talks}
    trained_on.write(weights, talks, leaves_out=True)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What both trainings take."""
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
    parser.add_argument("--write", action="store_true", help="store the weights")


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
