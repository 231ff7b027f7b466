"""One question or arc laid open: what was expected, what was returned, where the rest was lost."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext

from evaluation import adapters
from evaluation.layers import Example
from evaluation.layers.memory import Memory
from evaluation.metrics.evidence import FUZZY_DISTANCE
from evaluation.models import CaseRun
from evaluation.templatetags.present import steps_of
from labeling.gold.rules.content import GoldMessage
from labeling.translation import lazy as _

FATES = {
    "found": (_("Found"), _("returned in the answer")),
    "not_selected": (_("Not selected"), _("ranked, but left out of the answer")),
    "lost_in_reranking": (_("Lost in re-ranking"), _("a candidate that the ranking dropped")),
    "never_retrieved": (_("Never retrieved"), _("no candidate at any point")),
}

CHECKPOINTS = {
    "candidates": _("Candidate generation"),
    "reranked": _("Re-ranking"),
    "selected": _("Final selection"),
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
            _expected(local_id, example, fates.get(local_id), returned) | {"rank": ranks[local_id]}
            for local_id in sorted(expected)
        ],
        "returned": [
            _message(local_id, example) | {"right": local_id in expected}
            for local_id in dict.fromkeys(returned)
        ],
        "phases": _phases(layer, example),
        "answer": (example.output or {}).get("answer"),
        "checkpoints": _checkpoints(example, layer),
        "steps": steps_of(example.output),
        "messages": list(
            excerpt(example.messages, expected, set(returned), first=1, around=CONTEXT)
        ),
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


def _checkpoints(example: Example, layer: Memory) -> list[dict[str, Any]]:
    expected = set(layer.expected_ids(example))
    return [
        {
            "title": CHECKPOINTS[name],
            "held": len(ids),
            "of_all": len(example.messages),
            "found": len(expected.intersection(ids)),
            "of": len(expected),
        }
        for name, ids in layer.checkpoints(example).items()
    ]


class ShownMessage(NamedTuple):
    """``skipped`` messages before it are left out; without a ``number`` they were the last ones."""

    number: int | None
    speaker: str = ""
    text: str = ""
    time: Any = None
    expected: bool = False
    returned: bool = False
    skipped: int = 0


def excerpt(
    messages: Sequence[GoldMessage],
    expected: Collection[int],
    returned: Collection[int],
    *,
    first: int,
    around: int,
    whole: int = 0,
    most: int | None = None,
) -> Iterator[ShownMessage]:
    """What is cited and its neighbors, or all of a conversation of no more than ``whole``
    messages; the first has the number ``first``."""
    cited = {number - first for number in (*expected, *returned)}
    near = [
        at
        for at in range(len(messages))
        if any(at + off in cited for off in range(-around, around + 1))
    ]
    if len(messages) <= whole:
        near = list(range(len(messages)))
    last = -1
    for at in (near or list(range(whole)))[:most]:
        message = messages[at]
        yield ShownMessage(
            number=at + first,
            speaker=message["speaker"] or message["role"],
            text=message["content"],
            time=parse_datetime(message["time"] or ""),
            expected=at + first in expected,
            returned=at + first in returned,
            skipped=at - last - 1,
        )
        last = at
    if 0 <= last < len(messages) - 1:
        yield ShownMessage(None, skipped=len(messages) - last - 1)
