"""Scores 20,000 samples of events and says how long that took, and how much memory.

    .venv/bin/python benchmarks/events.py [--samples 20000] [--mode span_iou]

Every sample has a raw reply, some of which need repair or cannot be parsed; thoughts are checked.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evaluation.metrics.event_options import EventOptions
from evaluation.metrics.events import Sample, score_events
from evaluation.metrics.parsing import parse_reply
from evaluation.metrics.registry import metrics_for
from evaluation.metrics.summary import summarize, summarize_shares

TYPES = ("质押", "解除质押", "股东减持", "企业收购", "高管变动", "Sale", "Appointment")
SCHEMA = {kind: [f"{kind}{number}方" for number in range(7)] for kind in TYPES}
WORDS = ("中信证券", "张三丰", "上海", "公司", "Acme", "Ltd", "2020年", "500万股", "（中国）")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--mode", default="include_or_char_overlap")
    given = parser.parse_args()
    options = EventOptions(relaxed_match_mode=given.mode, cot_enabled=True)
    draw = random.Random(7)
    samples = [_sample(draw) for _ in range(given.samples)]

    before = _memory_mb()
    started = time.perf_counter()
    values = [_scored(*sample, options=options) for sample in samples]
    scored = time.perf_counter()
    means = {metric.id: _mean(metric, values) for metric in metrics_for("events")}
    ended = time.perf_counter()
    print(f"{given.samples:,} samples, {given.mode}")
    print(f"parsed and scored in {scored - started:.1f} s, summed up in {ended - scored:.1f} s")
    print(f"memory at most {_memory_mb():.0f} MB, {_memory_mb() - before:.0f} MB more than before")
    print(", ".join(f"{name} {means[name]:.3f}" for name in ("strict_f1", "relaxed_f1", "type_f1")))


def _scored(gold: list[Any], raw: str, text: str, *, options: EventOptions) -> dict[str, Any]:
    reply = parse_reply(raw)
    return score_events(Sample(gold, reply.events, [text], reply, SCHEMA), options)


def _mean(metric: Any, values: list[dict[str, Any]]) -> float | None:
    found = [value[metric.id] for value in values]
    common: dict[str, Any] = {
        "clusters": range(len(found)),
        "failed": [False] * len(found),
        "seed": 0,
        "worst": metric.worst,
    }
    numbers = [value.value for value in found]
    if metric.scope == "micro":
        return summarize_shares([value.share for value in found], numbers, **common).mean
    return summarize(numbers, **common).mean


def _sample(draw: random.Random) -> tuple[list[dict[str, Any]], str, str]:
    """About four events of five arguments each, and a reply that is right in two of three."""
    gold = [_event(draw) for _ in range(draw.randrange(1, 8))]
    text = "，".join(one["argument"] for event in gold for one in event["arguments"]) * 3
    predicted = [_event(draw) if draw.random() < 1 / 3 else event for event in gold]
    thought = "\n".join(
        f"{number}. {one['role']} = “{one['argument']}”"
        for number, one in enumerate(predicted[0]["arguments"], start=1)
    )
    raw = f"<thought>{predicted[0]['event_type']}\n{thought}</thought>\n"
    raw += json.dumps(predicted, ensure_ascii=False)
    chance = draw.random()
    if chance < 0.1:
        raw = raw[: -draw.randrange(1, 40)]
    elif chance < 0.15:
        raw = thought
    return gold, raw, text


def _event(draw: random.Random) -> dict[str, Any]:
    kind = draw.choice(TYPES)
    arguments = [
        {"role": draw.choice(SCHEMA[kind]), "argument": "".join(draw.choices(WORDS, k=3))}
        for _ in range(draw.randrange(2, 9))
    ]
    return {"event_type": kind, "trigger": kind, "arguments": arguments}


def _memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
