"""Which stored conversations are the same as another one, whatever they are called.

The lowest values of every fingerprint are indexed, so a search takes some milliseconds however many
conversations are stored. It looks in all projects: whether a conversation may be trained on does
not depend on where somebody has put it. It names at most ``MOST`` others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from django.db import connection, models

from labeling.domain import transcripts
from labeling.domain.batches import batches
from labeling.domain.fingerprints import Fingerprint, fingerprint, is_same, overlap
from labeling.models import (
    Conversation,
    ConversationDraft,
    ConversationFingerprint,
    FingerprintKey,
    Transcript,
)
from labeling.services.short_writes import short_write
from labeling.services.wakeups import Wakeups

MOST = 32
COMMON = 200
"""A value that more conversations have is a phrase of many people; only some are looked at."""
FEW = 20  # conversations that a value has on average, where nothing is common
VALUES = 5000  # a query; SQLite takes a limited number of parameters
CONVERSATIONS = 500  # whose texts are in memory at once
HIGHEST = 2**63 - 1  # no key of a row is higher
STORED = 50  # of one transaction: some 4,000 keys

_messages = Wakeups("labeling.tasks.fingerprint_conversations")


class NearDuplicate(NamedTuple):
    """``share`` is of the smaller of the two conversations."""

    conversation: int
    share: float


# --- finding ------------------------------------------------------------------------------------


def of_conversations(
    conversations: Iterable[int], *, drafted: int | None = None
) -> Iterator[tuple[int, list[NearDuplicate]]]:
    """Of each stored conversation, the others that it is the same as; most alike first.

    One that has no fingerprint yet has none: :func:`catch_up` computes them. ``drafted`` is the
    key of the draft whose conversations are looked at as well.
    """
    for batch in batches(conversations, CONVERSATIONS):
        sketches = _sketches(batch)
        matches = find(list(sketches.values()), without=list(sketches), drafted=drafted)
        yield from zip(sketches, matches, strict=True)


def find(
    prints: Sequence[Fingerprint], *, without: Sequence[int] = (), drafted: int | None = None
) -> list[list[NearDuplicate]]:
    """Of each fingerprint, the stored conversations that it is the same as; most alike first.

    ``without`` leaves one conversation out for each. What a draft hides is left out before
    anything is cut off, unless it is the draft ``drafted``.
    """
    asked: list[list[int]] = [sketch.asked.tolist() for sketch in prints]
    holders = _holders({value for values in asked for value in values}, _shown(drafted))
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


def _matches(
    sketch: Fingerprint, candidates: Iterable[tuple[int, Fingerprint]]
) -> list[NearDuplicate]:
    same = [
        NearDuplicate(pk, overlap(sketch, other).share)
        for pk, other in candidates
        if is_same(sketch, other)
    ]
    return sorted(same, key=lambda match: (-match.share, match.conversation))


def _shown(drafted: int | None) -> list[tuple[int, int]]:
    """The keys from one to another that no draft hides, up to the newest conversation.

    What comes in during the search has higher keys, and whether it is hidden is not known.
    """
    newest = f"SELECT COALESCE(MAX(id), 0) + 1, {HIGHEST} FROM {Conversation._meta.db_table}"
    drafts = ConversationDraft._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT first, last FROM {drafts} WHERE first <> %s UNION ALL {newest} ORDER BY 1",
            [drafted or 0],
        )
        hidden = cursor.fetchall()
    shown, start = [], 0
    for first, last in hidden:
        if start < first:
            shown.append((start, first - 1))
        start = max(start, last + 1)
    return shown


def _holders(values: Collection[int], shown: Sequence[tuple[int, int]]) -> dict[int, list[int]]:
    """The conversations that have each value among their keys; of a common value only some."""
    holders = defaultdict(list)
    for part in batches(values, VALUES):
        rows = _rows(part, shown, most=FEW * len(part))
        if rows is None:
            each = (_rows([value], shown, most=COMMON, cut=True) or () for value in part)
            rows = [row for some in each for row in some]
        for value, conversation in rows:
            holders[value].append(conversation)
    return holders


def _rows(
    values: Sequence[int], shown: Sequence[tuple[int, int]], *, most: int, cut: bool = False
) -> list[tuple[int, int]] | None:
    """Value and conversation; None if there are more rows than that, unless they may be cut."""
    part = (  # whole numbers as parameters would take longer than the search
        f"SELECT value, conversation_id FROM {FingerprintKey._meta.db_table}"
        f" WHERE value IN ({','.join(map(str, values))}) AND conversation_id BETWEEN"
    )
    parts = " UNION ALL ".join(f"{part} {first} AND {last}" for first, last in shown)
    with connection.cursor() as cursor:
        cursor.execute(f"{parts} LIMIT {most if cut else most + 1}")
        rows: list[tuple[int, int]] = cursor.fetchall()
    return rows if len(rows) <= most else None


def _sketches(conversations: Collection[int]) -> dict[int, Fingerprint]:
    sketches = {}
    for part in batches(conversations, VALUES):
        rows = ConversationFingerprint.objects.filter(conversation__in=part).order_by("pk")
        for pk, stored in rows.values_list("pk", "sketch"):
            sketches[pk] = Fingerprint.from_bytes(bytes(stored))
    return sketches


# --- storing ------------------------------------------------------------------------------------


def store(prints: Collection[tuple[int, Fingerprint]]) -> None:
    """Store fingerprints of stored conversations; one that is there stays.

    In one order, so that two who store the same wait for each other instead of both.
    """
    prints = sorted(prints, key=itemgetter(0))
    keys = (f"({value},{int(pk)})" for pk, each in prints for value in each.keys.tolist())
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {ConversationFingerprint._meta.db_table} (conversation_id, sketch)"
            " VALUES (%s, %s) ON CONFLICT DO NOTHING",
            [(pk, bytes(each)) for pk, each in prints],
        )
        for part in batches(keys, VALUES):  # 80,000 rows as objects take longer than the rest
            cursor.execute(
                f"INSERT INTO {FingerprintKey._meta.db_table} (value, conversation_id)"
                f" VALUES {','.join(part)} ON CONFLICT DO NOTHING"
            )


def forget(conversations: Collection[int]) -> None:
    """The fingerprints of a few conversations that nothing shows yet."""
    rows = ConversationFingerprint.objects.filter(conversation__in=conversations).order_by()
    keys = [
        (value, pk)
        for pk, sketch in rows.values_list("pk", "sketch")
        for value in Fingerprint.from_bytes(bytes(sketch)).keys.tolist()
    ]
    table = FingerprintKey._meta.db_table
    with connection.cursor() as cursor:  # the index of keys begins with the value
        cursor.executemany(f"DELETE FROM {table} WHERE value = %s AND conversation_id = %s", keys)
    rows._raw_delete(rows.db)


def are_missing() -> bool:
    """Whether conversations are stored that have no fingerprint, from before there were any."""
    return _without().exists()


def catch_up(*, stay_alive: Callable[[], None] = lambda: None) -> int:
    """Compute the missing fingerprints, for a worker or a command; returns how many they were.

    ``stay_alive`` tells others who wait for the caller.
    """
    computed = 0
    while conversations := list(
        _without().order_by("pk").values_list("pk", flat=True)[:CONVERSATIONS]
    ):
        texts = dict(Transcript.objects.filter(pk__in=conversations).values_list("pk", "messages"))
        prints = [
            (pk, fingerprint(transcripts.contents(texts.get(pk, "[]")))) for pk in conversations
        ]
        for part in batches(prints, STORED):
            with short_write():
                store(part)
        stay_alive()
        computed += len(conversations)
    return computed


def wake_unattended() -> None:
    """Have a worker compute what is missing."""
    if are_missing():
        wake()


def wake() -> None:
    _messages.send_again(0)


def _without() -> models.QuerySet[Conversation]:
    return Conversation.objects.filter(fingerprint=None)
