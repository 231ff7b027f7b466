"""Writes the fingerprints of what the weights in this tree were trained on, without training.

    python -m pipelines.memory.training.texts ITEMS.jsonl… [--write]

ITEMS.jsonl are the items that were trained on, as ``export_gold --format native`` writes them. They
must hold each conversation that any of the weights names, to the letter. Training does this itself;
the command is for a change of how fingerprints are computed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pipelines.memory.conversations import key_of
from pipelines.memory.query import evidence
from pipelines.memory.retrieval import adapter, ranker
from pipelines.memory.training.query import GoldTalk, note_training, read_for_training


def named_by_weights() -> dict[Path, frozenset[str]]:
    """The keys of the conversations for which each file has weights fitted without them."""
    return {
        adapter.ADAPTERS: adapter.talks(),
        **{
            path: frozenset(json.loads(path.read_text(encoding="utf-8"))["without"])
            for path in (ranker.WEIGHTS, evidence.WEIGHTS)
        },
    }


def note_all(gold_talks: Sequence[GoldTalk], *, store: bool) -> list[str]:
    """A sentence for each file of weights."""
    by_key = {key_of(gold.messages): gold for gold in gold_talks}
    said = []
    for weights, keys in named_by_weights().items():
        if missing := keys - by_key.keys():
            raise ValueError(f"{weights.name} was trained on {len(missing)} more conversations.")
        if store:
            note_training(weights, [by_key[key] for key in sorted(keys)])
        names = ", ".join(sorted(by_key[key].name for key in keys))
        said.append(f"{weights.name}: {names}")
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description="Note what the weights were trained on.")
    parser.add_argument("items", type=Path, nargs="+", help="items.jsonl of exported gold releases")
    parser.add_argument("--write", action="store_true", help="store the fingerprints")
    asked = parser.parse_args()
    try:
        said = note_all(read_for_training(asked.items), store=asked.write)
    except ValueError as missing:
        sys.exit(str(missing))
    print("\n".join(said))


if __name__ == "__main__":
    main()
