"""How long a long chat takes to index, and then a question, and how much memory; then two workers.

    .venv/bin/python benchmarks/memory.py FILE      # a REALTALK chat, as published
    ASSAY_CHAT=FILE .venv/bin/python benchmarks/memory.py

Nothing is cached before. Times are those of the processor, whatever else runs. The encoder's
weights are loaded first and timed apart, because a machine loads them once; the index is what
follows until the first question, with the layers that somebody may ask for and without. At last
two processes encode the first messages, and both are added up as PSS, which counts a shared page
once.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def main(path: Path) -> None:
    from pipelines.encoder import MiniLM

    messages, encoder = read(path), MiniLM()
    loading = timed(lambda: encoder.encode(["one text"]))
    before = peak_mb()
    print(f"{path.name}: {len(messages)} messages; encoder loaded in {loading:.1f} s, {before} MB")
    ask(path, messages, encoder)
    texts = [message.content for message in messages[:100]]
    print(f"2 children of a worker: {pss_of_two(texts)} MB PSS in all")


def ask(path: Path, messages: list[Any], encoder: Any) -> None:
    """Every question of the chat through the whole pipeline, its vectors cached by none."""
    from pipelines.memory.config import MemoryConfig
    from pipelines.memory.pipeline import Memory
    from pipelines.memory.talks import Talks
    from pipelines.types import Case

    asked = json.loads(path.read_text(encoding="utf-8"))["qa"]
    cases = [
        Case(f"{at}", "chat", tuple(messages), question=label["question"], task="qa")
        for at, label in enumerate(asked)
    ]
    for layers in (True, False):
        talks = Talks(encoder, config=MemoryConfig(layers=layers))
        built = timed(lambda talks=talks: talks(cases[0]))
        print(f"index    {built:7.2f} s {'with' if layers else 'without'} layers; {peak_mb()} MB")
    for mode in ("oneshot", "agent"):
        pipeline = Memory(MemoryConfig(mode=mode), open_talk=talks, model=None)
        pipeline.run(cases[0])  # modules are loaded once
        seconds = sorted(timed(partial(pipeline.run, case)) for case in cases)
        median, late = seconds[len(seconds) // 2], seconds[int(len(seconds) * 0.95)]
        print(
            f"{mode:8} {len(cases)} questions, {median * 1000:.0f} ms each (median), "
            f"{sum(seconds) / len(seconds) * 1000:.0f} ms (mean), "
            f"95 % at most {late * 1000:.0f} ms; peak {peak_mb()} MB"
        )


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


def timed(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def pss_of_two(texts: list[str]) -> int:
    """Two children of a worker that have encoded, while both are there."""
    context = get_context("spawn")
    ready, go_on = context.Queue(), context.Event()
    workers = [context.Process(target=work, args=(texts, ready, go_on)) for _ in range(2)]
    for worker in workers:
        worker.start()
    total = sum(pss_kb(ready.get(timeout=300)) for _ in workers) // 1024
    go_on.set()
    for worker in workers:
        worker.join()
    return total


def work(texts: list[str], ready: Any, go_on: Any) -> None:
    from pipelines.encoder import MiniLM

    MiniLM().encode(texts)
    ready.put(os.getpid())
    go_on.wait()


def pss_kb(process: int) -> int:
    lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("ASSAY_CHAT", "")
    if not Path(path).is_file():
        sys.exit("Name a chat file of REALTALK (or set ASSAY_CHAT): nothing is measured.")
    main(Path(path))
