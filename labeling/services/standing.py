"""The states of conversations, locked before triggers write many of them in one transaction."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection

from labeling.domain.batches import batches
from labeling.models import ConversationState

AT_ONCE = 500


def hold(conversations: Iterable[int]) -> None:
    """Lock all of them in one order, so that nobody waits in a ring.

    Triggers lock them one after the other, in the order in which rows are written.
    """
    if not connection.features.has_select_for_update:
        return  # SQLite has one writer at a time
    for part in batches(sorted(set(conversations)), AT_ONCE):
        rows = ConversationState.objects.filter(conversation__in=part).order_by("conversation")
        list(rows.select_for_update(no_key=True).values_list("conversation", flat=True))
