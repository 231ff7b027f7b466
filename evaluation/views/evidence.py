"""One question or arc laid open: what was expected, what was returned, where the rest was lost."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext

from evaluation import adapters
from evaluation.layers import Example
from evaluation.layers.memory import Memory
from evaluation.models import CaseRun
from labeling.gold.rules.content import GoldMessage
from labeling.translation import lazy as _

FATES = {
    "found": (_("Found"), _("returned in the answer")),
    "not_selected": (_("Not selected"), _("ranked, but left out of the answer")),
    "lost_in_reranking": (_("Lost in re-ranking"), _("a candidate that the ranking dropped")),
    "never_retrieved": (_("Never retrieved"), _("no candidate at any point")),
}

CONTEXT = 2  # messages shown on either side of an expected or returned one


def evidence_of(case: CaseRun, layer: Memory) -> dict[str, Any]:
    """What the page of such a case shows beside its units."""
    example = adapters.to_example(case, layer)
    expected, returned = layer.expected_ids(example), layer.returned_ids(example)
    return {
        "label": example.gold[0],
        "unscorable": layer.unscorable(example),
        "phases": _phases(layer, example),
        "answer": (example.output or {}).get("answer"),
        "messages": list(excerpt(example.messages, expected, returned, first=1, around=CONTEXT)),
    }


def why_lost(layer: Memory, example: Example) -> dict[int, str]:
    """Where each expected message was lost that was not returned, and its last rank."""
    ranks, returned = layer.ranks(example), layer.returned_ids(example)
    return {
        local_id: str(FATES[fate][0])
        + (f" ({gettext('rank')} {rank})" if (rank := ranks[local_id].last) else "")
        for local_id, fate in layer.fates(example).items()
        if local_id not in returned
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
