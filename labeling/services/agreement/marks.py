"""Which messages each answer of a round marks, cached between uses.

Reading all answers of a large round takes seconds, and few of them are new since the last look.
What is submitted never changes, as the database sees to it; an answer that was reopened has
another time when it is submitted again. So which answer it is and when it was submitted say what
it marks, and what is kept under them is never out of date. It is only looked up for the answers
that are submitted now.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

from django.core.cache import cache
from django.db.models import QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat

from labeling.domain.agreement.units import marks
from labeling.models import Assignment

KEPT_SECONDS = 24 * 60 * 60
FEW = 1000  # more than these are not named one by one in a query
SUBMISSION = Concat(
    Cast("annotation", TextField()),
    Value(" "),
    Cast("annotation__created_at", TextField()),  # an other database may number them alike
    Value(" "),
    Cast("annotation__submitted_at", TextField()),
    output_field=TextField(),
)


class Marked(NamedTuple):
    annotator: str
    conversation: str
    marks: list[Hashable]


def of_answers(
    submitted: QuerySet[Assignment], layer: str, sizes: Mapping[str, int], *, kept_as: str
) -> Iterator[Marked]:
    """The marks of these answers, in their order.

    ``sizes`` gives the number of messages by conversation; ``kept_as`` is the cache key, one
    for answers that are read together again.
    """
    rows = list(
        submitted.annotate(submission=SUBMISSION).values_list(
            "annotator__username", "conversation__external_id", "submission"
        )
    )
    known: dict[str, bytes] = cache.get(kept_as) or {}
    new = [submission for _, _, submission in rows if submission not in known]
    if new:
        known |= _read(submitted, new, layer, sizes)
        cached = {key: known[key] for _, _, key in rows if key in known}
        cache.set(kept_as, cached, KEPT_SECONDS)
    for who, conversation, key in rows:
        if key in known and conversation in sizes:  # else it was reopened or added since
            yield Marked(who, conversation, list(known[key]))


def _read(
    submitted: QuerySet[Assignment], new: Sequence[str], layer: str, sizes: Mapping[str, int]
) -> dict[str, bytes]:
    """One answer after the other: together their payloads would fill the memory."""
    if len(new) <= FEW:
        submitted = submitted.filter(annotation__in=[int(key.partition(" ")[0]) for key in new])
    rows = (
        submitted.order_by()
        .annotate(submission=SUBMISSION)
        .values_list("submission", "conversation__external_id", "annotation__payload")
    )
    return {
        key: bytes(marks(layer, payload, sizes[conversation]))  # type: ignore[arg-type]
        for key, conversation, payload in rows.iterator()
        if conversation in sizes  # else it came into the round since
    }
