"""One question or arc laid open: what was expected, what was returned, where the rest was lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext

from evaluation import adapters
from evaluation.layers import Example
from evaluation.layers.memory import Memory
from evaluation.metrics.evidence import FUZZY_DISTANCE
from evaluation.metrics.trace import Rank
from evaluation.models import CaseRun, StageTrace
from evaluation.templatetags.present import steps_of
from labeling.translation import lazy as _

FATES = {
    "found": (_("Found"), _("returned in the answer")),
    "not_selected": (_("Not selected"), _("ranked, but left out of the answer")),
    "lost_in_reranking": (_("Lost in re-ranking"), _("a candidate that the ranking dropped")),
    "never_retrieved": (_("Never retrieved"), _("no candidate at any point")),
}

CONTEXT = 2  # messages shown on either side of an expected or returned one


def evidence_of(case: CaseRun, layer: Memory) -> dict[str, Any]:
    """All that the page of such a case shows next to scores and provenance."""
    example = adapters.to_example(case, layer)
    expected, returned = set(layer.expected_ids(example)), layer.returned_ids(example)
    fates, ranks = layer.fates(example), layer.ranks(example)
    return {
        "label": example.gold[0],
        "unscorable": layer.unscorable(example),
        "expected": [
            _expected(local_id, example, fates.get(local_id), returned)
            | {"rank": _rank(ranks[local_id])}
            for local_id in sorted(expected)
        ],
        "returned": [
            _returned(local_id, example, expected) for local_id in dict.fromkeys(returned)
        ],
        "phases": _phases(layer, example),
        "answer": (example.output or {}).get("answer"),
        "checkpoints": _checkpoints(case, len(expected)),
        "steps": steps_of(example.output),
        "messages": _excerpt(example, expected, set(returned)),
    }


def _expected(
    local_id: int, example: Example, fate: str | None, returned: Sequence[int]
) -> dict[str, Any]:
    fate = fate or ("found" if local_id in returned else "")
    near = min((abs(returned_id - local_id) for returned_id in returned), default=None)
    return {
        **_message(local_id, example),
        "fate": fate,
        "title": FATES[fate][0] if fate else gettext("Not returned"),
        "near": near if near and near <= FUZZY_DISTANCE else None,
    }


def _rank(rank: Rank) -> dict[str, int | None]:
    """After the last checkpoint that ranks, and before it where re-ranking moved the message."""
    moved = rank.reranked is not None and rank.reranked != rank.candidate
    return {"last": rank.last, "before": rank.candidate if moved else None}


def _returned(local_id: int, example: Example, expected: set[int]) -> dict[str, Any]:
    return {**_message(local_id, example), "right": local_id in expected}


def _message(local_id: int, example: Example) -> dict[str, Any]:
    """A message by its localId; an id that no message has is shown as such."""
    if not 1 <= local_id <= len(example.messages):
        return {"id": local_id, "exists": False}
    message = example.messages[local_id - 1]
    return {
        "id": local_id,
        "exists": True,
        "speaker": message["speaker"] or message["role"],
        "content": message["content"],
        "time": parse_datetime(message["time"] or ""),
    }


def _phases(layer: Memory, example: Example) -> dict[str, Any] | None:
    """Expected and returned phases of an arc side by side; None for a question."""
    if not layer.has_phases:
        return None
    returned = set(layer.returned_ids(example))
    gold = example.gold[0]["phases"]
    return {
        "expected": [
            {**phase, "ids": ids, "found": sorted(returned & set(ids))}
            for phase, ids in zip(gold, layer.expected_phases(example), strict=True)
        ],
        "returned": layer.predicted(example.output),
    }


def _checkpoints(case: CaseRun, n_expected: int) -> list[dict[str, Any]]:
    traces: Iterable[StageTrace] = case.traces.defer("ids", "scores")
    return [{"trace": trace, "found": len(trace.present), "of": n_expected} for trace in traces]


def _excerpt(example: Example, expected: set[int], returned: set[int]) -> list[dict[str, Any]]:
    """The messages around what matters; a run of left-out messages is one entry with a count."""
    size = len(example.messages)
    wanted = sorted(
        {
            near
            for local_id in expected | returned
            for near in range(local_id - CONTEXT, local_id + CONTEXT + 1)
            if 1 <= near <= size
        }
    )
    rows: list[dict[str, Any]] = []
    last = 0
    for local_id in wanted:
        if local_id > last + 1:
            rows.append({"skipped": local_id - last - 1})
        rows.append(_marked(local_id, example, expected, returned))
        last = local_id
    return [*rows, {"skipped": size - last}] if wanted and last < size else rows


def _marked(
    local_id: int, example: Example, expected: set[int], returned: set[int]
) -> dict[str, Any]:
    marks = {"expected": local_id in expected, "returned": local_id in returned}
    return _message(local_id, example) | marks
