"""How well `memory` finds the evidence of published chats, beside floors of the same size.

    .venv/bin/python benchmarks/retrieval.py CHAT.json… [--arcs CASES.json…] [--config KEY=VALUE…]

CHAT.json are chats of REALTALK or LoCoMo as published; a case list of arcs is told by the chat's
name at its end. A chat that the weights have read is answered by weights fitted without its people;
± is 1.96 standard errors over questions. Floors return as many messages as `memory` did for the
same question.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pipelines  # noqa: F401 - one thread, which must be said before numpy comes

# isort: split
import numpy as np

from labeling.conversations.formats.foreign import published_format
from labeling.conversations.published.cases import arc_labels, question_labels, read_arc_cases
from labeling.conversations.published.chats import read_chat
from pipelines.encoder import MiniLM
from pipelines.registry import build
from pipelines.types import Case, Message, Output

FLOORS = ("lexical", "random")
TOP = 10


class Asked(NamedTuple):
    chat: str
    task: str
    question: str
    evidence: frozenset[int]
    """LocalIds."""


def read(path: Path) -> tuple[Any, tuple[Message, ...]]:
    raw = path.read_bytes()
    chat = read_chat(path.name, raw, format=published_format(json.loads(raw)))
    return chat, tuple(
        Message(at, "speaker", turn.speaker, turn.content, turn.time and turn.time.isoformat())
        for at, turn in enumerate(chat.turns)
    )


def asked_of(chat: Any, arcs: Sequence[Path]) -> list[Asked]:
    labels = [("qa", label["question"], label["evidence"]) for label in
              question_labels(chat, chat.questions).labels]  # fmt: skip
    for path in arcs:
        if chat.id.lower().endswith(path.stem.removeprefix("arc_cases_")):
            cases = read_arc_cases(json.loads(path.read_text(encoding="utf-8")), faults=[])
            for label in arc_labels(chat, cases).labels:
                found = [at for phase in label["phases"] for at in phase["evidence"]]
                labels.append(("arc", label["question"], found))
    return [
        Asked(chat.id, task, question, frozenset(at + 1 for at in evidence))
        for task, question, evidence in labels
        if evidence
    ]


def figures(asked: Asked, ranked: Sequence[int], chosen: Sequence[int]) -> list[float]:
    hits = len(asked.evidence.intersection(chosen))
    places = (place for place, id in enumerate(ranked, start=1) if id in asked.evidence)
    return [
        len(asked.evidence.intersection(ranked[:TOP])) / len(asked.evidence),
        1 / next(places, float("inf")),
        hits / len(asked.evidence),
        hits / max(len(chosen), 1),
        len(chosen),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("chats", type=Path, nargs="+")
    parser.add_argument("--arcs", type=Path, nargs="*", default=[])
    parser.add_argument("--config", nargs="*", default=[], metavar="KEY=VALUE")
    given = parser.parse_args()
    pairs = (pair.split("=", 1) for pair in given.config)
    config = {key: json.loads(value) for key, value in pairs}
    encoder = MiniLM()
    encoder.encode(["one text"])  # a machine loads the weights once
    memory = build("memory", config, encoder=encoder)
    rows: dict[tuple[str, str], list[list[float]]] = {}
    indexing, asking = [], []
    for path in given.chats:
        chat, messages = read(path)
        started = time.process_time()
        memory.prepare(Case("", "", messages))
        indexing.append(time.process_time() - started)
        for asked in asked_of(chat, given.arcs):
            case = Case(asked.question, "", messages, asked.question, chat.id, asked.task)
            started = time.process_time()
            output = memory.run(case)
            asking.append(time.process_time() - started)
            keep(rows, "memory", asked, output)
            for floor in FLOORS:
                same = {"budget": max(len(output["evidence"]), 1)}
                keep(rows, floor, asked, build(floor, same).run(case))
    print("| layer | pipeline | questions | R@10 | MRR | recall | precision | ids, median |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for (task, name), found in rows.items():
        *shares, ids = np.mean(found, axis=0)
        widths = 196 * np.std(found, axis=0) / np.sqrt(len(found))
        pairs = zip(shares, widths[:-1], strict=True)
        cells = [f"{100 * share:.1f} ± {half:.1f}" for share, half in pairs]
        cells.append(f"{ids:.1f}, {np.median([row[-1] for row in found]):.0f}")
        print("|", " | ".join([task, name, str(len(found)), *cells]), "|")
    print(f"index: {np.mean(indexing):.1f} s CPU a chat, at most {max(indexing):.1f}")
    middle, slow = 1000 * np.percentile(asking, [50, 95])
    print(f"question: {middle:.0f} ms CPU, 95 % in {slow:.0f}")


def keep(rows: Any, name: str, asked: Asked, output: Output) -> None:
    row = figures(asked, output["ranked"], output["evidence"])
    rows.setdefault((asked.task, name), []).append(row)


if __name__ == "__main__":
    main()
