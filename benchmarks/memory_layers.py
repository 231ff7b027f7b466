"""How long the layers of a long chat take to build, and how much memory.

    .venv/bin/python benchmarks/memory_layers.py FILE      # a REALTALK chat, as published
    ASSAY_CHAT=FILE .venv/bin/python benchmarks/memory_layers.py

Nothing is cached before. The encoder's weights are loaded first and timed apart, because a worker
loads them once; its memory is told apart too.
"""

import json
import os
import resource
import sys
import time
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def main(path: Path) -> None:
    from pipelines.encoder import MiniLM
    from pipelines.memory.layers.build import KeptInMemory, build_layers
    from pipelines.memory.layers.config import LayersConfig

    messages = read(path)
    encoder = MiniLM()
    loading = timed(lambda: encoder.encode(["one text"]))
    before = peak_mb()
    print(f"{path.name}: {len(messages)} messages; encoder loaded in {loading:.1f} s, {before} MB")
    rows = Timed()
    total = timed(lambda: build_layers(messages, encoder=encoder, rows=rows, config=LayersConfig()))
    for kind, seconds in rows.seconds.items():
        size = len(json.dumps(rows.payloads[kind])) / 1024
        print(f"{kind:8} {seconds:7.2f} s  {size:6.0f} kB of JSON")
    print(f"all      {total:7.2f} s; peak {peak_mb()} MB, {peak_mb() - before} MB more than before")
    kept = KeptInMemory()
    kept.payloads = rows.payloads
    again = timed(lambda: build_layers(messages, encoder=encoder, rows=kept, config=LayersConfig()))
    print(f"again    {again * 1000:7.1f} ms, from what was kept")
    counts = {"topics": "nodes", "signals": "anchors", "threads": "threads"}
    print({name: len(rows.payloads[kind][name]) for kind, name in counts.items()})


class Timed:
    """Rows that remember how long each layer took."""

    def __init__(self) -> None:
        self.payloads: dict[str, dict[str, Any]] = {}
        self.seconds: dict[str, float] = {}

    def get(self, kind: str) -> dict[str, Any] | None:
        return self.payloads.get(kind)

    def put(self, kind: str, payload: dict[str, Any], *, seconds: float) -> None:
        self.payloads[kind], self.seconds[kind] = payload, seconds


def read(path: Path) -> list[Any]:
    """Its messages with their times; the product's importer does more, which is not timed here."""
    from pipelines.types import Message

    chat = json.loads(path.read_text(encoding="utf-8"))
    rows = []
    for number in count(1):
        if f"session_{number}" not in chat:
            break
        rows += chat[f"session_{number}"]
    times = [
        datetime.strptime(f"{row['date_time']} +0000", "%d.%m.%Y, %H:%M:%S %z") for row in rows
    ]
    return [
        Message(at, "speaker", row["speaker"], row["clean_text"], time.isoformat())
        for at, (row, time) in enumerate(zip(rows, times, strict=True))
    ]


def timed(work: Any) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("ASSAY_CHAT", "")
    if not Path(given).is_file():
        sys.exit("Name a chat file of REALTALK (or set ASSAY_CHAT): nothing is measured.")
    main(Path(given))
