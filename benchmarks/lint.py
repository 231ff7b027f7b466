"""What lint finds in files of conversations: personal data, and conversations that are alike.

    python -m benchmarks.lint FILE …

Reads conversations as lines of JSON, or published chats, and stores nothing. Each place is printed,
so that a person can say whether it is right; the text itself stays in its file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from labeling.domain.chats import format_of, read_chat
from labeling.domain.fingerprints import fingerprint, is_same, overlap
from pipelines.requirements.validation.pii import pieces, validated_pieces


class Talk(NamedTuple):
    name: str
    texts: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description="Count what lint finds in files.")
    parser.add_argument("files", nargs="+", type=Path)
    talks = [talk for path in parser.parse_args().files for talk in read(path)]
    print(f"{len(talks)} conversations, {sum(len(talk.texts) for talk in talks)} texts")
    personal(talks)
    alike(talks)


def read(path: Path) -> Iterator[Talk]:
    raw = path.read_bytes()
    if path.suffix == ".jsonl":
        for row in map(json.loads, raw.decode().splitlines()):
            yield Talk(str(row["id"]), [str(message["content"]) for message in row["messages"]])
        return
    document: Any = json.loads(raw)
    chat = read_chat(path.name, raw, format=format_of(document))
    yield Talk(chat.id, [turn.content for turn in chat.turns])


def personal(talks: list[Talk]) -> None:
    places = [
        (talk.name, number, piece)
        for talk in talks
        for number, text in enumerate(talk.texts, start=1)
        for piece in validated_pieces(text)
    ]
    unchecked = sum(len(pieces(text)) for talk in talks for text in talk.texts)
    print(f"personal data: {len(places)} ({unchecked} with names, addresses and bare numbers)")
    for name, number, piece in places[:50]:
        print(f"  {name} message {number}, characters {piece.start}–{piece.end}: {piece.kind}")


def alike(talks: list[Talk]) -> None:
    prints = [(talk.name, fingerprint(talk.texts)) for talk in talks]
    pairs = [
        (name, other, overlap(one, two).share)
        for (name, one), (other, two) in combinations(prints, 2)
        if is_same(one, two)
    ]
    print(f"near-duplicates: {len(pairs)} of {len(talks) * (len(talks) - 1) // 2} pairs")
    for name, other, share in pairs[:50]:
        print(f"  {name} and {other}: {share:.0%} of the smaller")


if __name__ == "__main__":
    main()
