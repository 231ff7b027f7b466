"""Events as gold and systems tell them, and the scores of one sample."""

from typing import Any

from evaluation.metrics.event_options import EventOptions
from evaluation.metrics.events import Sample, score_events

IOU = EventOptions(relaxed_match_mode="span_iou")
COT = EventOptions(cot_enabled=True)
BLOCK = EventOptions(cot_enabled=True, cot_require_thought_block=True)
SCHEMA = {"质押": ["质押方", "质权方"], "解除质押": ["质押方"], "亏损": ["公司", "金额"]}


def event(kind: str, *arguments: tuple[str, Any]) -> dict[str, Any]:
    told = [{"role": role, "argument": words} for role, words in arguments]
    return {"event_type": kind, "arguments": told}


def scores(gold, predicted, options=None, **fields):
    return score_events(Sample(gold, predicted, fields.pop("texts", ()), **fields), options)


def e(*words: Any, role: str = "r", kind: str = "T") -> list[dict[str, Any]]:
    """One event with these arguments in one role."""
    return [event(kind, *((role, word) for word in words))]
