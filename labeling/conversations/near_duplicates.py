"""Which conversations are the same as another one, whatever they are called.

The lowest values of every fingerprint are indexed, so a search takes some milliseconds however many
conversations are stored. It looks in all projects: whether a conversation may be trained on does
not depend on where somebody has put it. It names at most ``MOST`` others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from django.db import connection

from labeling.domain.batches import batches
from labeling.domain.fingerprints import Fingerprint, is_same, overlap
from labeling.models import ConversationFingerprint

MOST = 32
COMMON = 200
"""A value that more conversations have is a phrase of many people; only some are looked at."""
VALUES = 5000  # a query; SQLite takes a limited number of parameters
CONVERSATIONS = 500  # whose fingerprints are in memory at once

_HOLDERS = """
SELECT value, conversation_id FROM (
  SELECT value, conversation_id, ROW_NUMBER()
         OVER (PARTITION BY value ORDER BY conversation_id) AS number
  FROM labeling_fingerprintkey WHERE value IN ({values})
) AS holders WHERE number <= {common}
"""


class NearDuplicate(NamedTuple):
    """``share`` is of the smaller of the two conversations."""

    conversation: int
    share: float


def of_conversations(conversations: Iterable[int]) -> Iterator[tuple[int, list[NearDuplicate]]]:
    """Of each stored conversation, the others that it is the same as; most alike first."""
    for batch in batches(conversations, CONVERSATIONS):
        sketches = _sketches(batch)
        yield from zip(sketches, find(list(sketches.values()), without=list(sketches)), strict=True)


def find(
    prints: Sequence[Fingerprint], *, without: Sequence[int] = ()
) -> list[list[NearDuplicate]]:
    """Of each fingerprint, the stored conversations that it is the same as; most alike first.

    ``without`` leaves one conversation out for each.
    """
    asked: list[list[int]] = [sketch.asked.tolist() for sketch in prints]
    holders = _holders({value for values in asked for value in values})
    candidates = []
    for position, values in enumerate(asked):
        shared = Counter(pk for value in values for pk in holders.get(value, ()))
        if without:
            shared.pop(without[position], None)
        candidates.append([pk for pk, _ in shared.most_common(MOST)])
    stored = _sketches({pk for pks in candidates for pk in pks})
    return [
        _matches(sketch, [(pk, stored[pk]) for pk in pks if pk in stored])
        for sketch, pks in zip(prints, candidates, strict=True)
    ]


class Unstored:
    """Conversations on their way in, found in the same way; each by the number it was added as."""

    def __init__(self) -> None:
        self._sketches: dict[int, Fingerprint] = {}
        self._holders: dict[int, list[int]] = defaultdict(list)

    def add(self, number: int, sketch: Fingerprint) -> None:
        self._sketches[number] = sketch
        for value in sketch.keys.tolist():
            if len(self._holders[value]) < COMMON:
                self._holders[value].append(number)

    def find(self, sketch: Fingerprint) -> list[int]:
        """What it is the same as, in the order in which it was added."""
        values = sketch.asked.tolist()
        shared = Counter(number for value in values for number in self._holders.get(value, ()))
        most = sorted(shared, key=lambda number: (-shared[number], number))[:MOST]
        return [number for number in sorted(most) if is_same(sketch, self._sketches[number])]


def store(prints: Collection[tuple[int, Fingerprint]]) -> None:
    """The fingerprints of conversations, in the transaction that stores them."""
    keys = [(value, pk) for pk, sketch in prints for value in sketch.keys.tolist()]
    with connection.cursor() as cursor:  # as objects they would take longer than all the rest
        cursor.executemany(
            "INSERT INTO labeling_conversationfingerprint (conversation_id, sketch)"
            " VALUES (%s, %s)",
            [(pk, bytes(sketch)) for pk, sketch in prints],
        )
        cursor.executemany(
            "INSERT INTO labeling_fingerprintkey (value, conversation_id) VALUES (%s, %s)", keys
        )


def _matches(
    sketch: Fingerprint, candidates: Iterable[tuple[int, Fingerprint]]
) -> list[NearDuplicate]:
    same = [
        NearDuplicate(pk, overlap(sketch, other).share)
        for pk, other in candidates
        if is_same(sketch, other)
    ]
    return sorted(same, key=lambda match: (-match.share, match.conversation))


def _holders(values: Collection[int]) -> dict[int, list[int]]:
    """The conversations that have each value among their keys; of a common value only some."""
    holders = defaultdict(list)
    for part in batches(values, VALUES):
        written = ",".join(map(str, part))  # as parameters they would take longer than the search
        with connection.cursor() as cursor:
            cursor.execute(_HOLDERS.format(values=written, common=COMMON))
            for value, conversation in cursor.fetchall():
                holders[value].append(conversation)
    return holders


def _sketches(conversations: Collection[int]) -> dict[int, Fingerprint]:
    sketches = {}
    for part in batches(conversations, VALUES):
        rows = ConversationFingerprint.objects.filter(conversation__in=part).order_by("pk")
        for pk, stored in rows.values_list("pk", "sketch"):
            sketches[pk] = Fingerprint.from_bytes(bytes(stored))
    return sketches
