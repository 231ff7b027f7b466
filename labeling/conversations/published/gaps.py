"""Message numbers that are missing in a file, and whether a picture is next to them.

The published ids were given before messages that were only a picture were dropped, so a number
that is missing next to a message with a picture most likely was one.
"""

from collections.abc import Iterator, Mapping, Sequence

from labeling.conversations.published.chat import Line
from labeling.conversations.published.faults import ChatFault
from labeling.conversations.rules.evidence import MessageId


def gaps_of(lines: Sequence[Line]) -> tuple[dict[MessageId, str], list[ChatFault]]:
    """The kind of each missing id, and one fault for each gap; ``lines`` as in the file."""
    missing: dict[MessageId, str] = {}
    faults: list[ChatFault] = []
    for before, after, ids in _runs(lines):
        pictured = after.pictured or (before is not None and before.pictured)
        missing |= dict.fromkeys(ids, "picture_only" if pictured else "absent")
        place = f"between {before.key} and {after.key}" if before else f"before {after.key}"
        kind = "picture_gap" if pictured else "gap"
        faults.append(ChatFault(kind, place, ", ".join(map(str, ids))))
    return missing, faults


def kind_of(absent: MessageId, gaps: Mapping[MessageId, str], ends: Mapping[int, int]) -> str:
    """Why an id that is cited names no message; ``ends`` is the last number of each part."""
    if absent in gaps:
        return gaps[absent]
    is_past = absent.part in ends and absent.number > ends[absent.part]
    return "past_end" if is_past else "absent"


def ends_of(lines: Sequence[Line]) -> dict[int, int]:
    ends: dict[int, int] = {}
    for line in lines:
        ends[line.key.part] = max(line.key.number, ends.get(line.key.part, 0))
    return ends


def _runs(lines: Sequence[Line]) -> Iterator[tuple[Line | None, Line, list[MessageId]]]:
    """Each run of missing numbers, with the messages before and after it."""
    before: Line | None = None
    for line in lines:
        same_part = before is not None and before.key.part == line.key.part
        first = before.key.number + 1 if before and same_part else 1
        ids = [MessageId(line.key.part, number) for number in range(first, line.key.number)]
        if ids:
            yield before, line, ids
        before = line
