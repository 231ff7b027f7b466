"""People rate sampled answers on the judge's scale, without knowing what it said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count, QuerySet

from evaluation.models import AnswerPanel, AnswerRating, AnswerSample, SampledAnswer
from evaluation.services.judging import panels
from evaluation.services.judging.panels import KINDS, RatingRefused, check_note, record

HIGHEST = 10


class Place(NamedTuple):
    """One thing to rate: a sampled answer in one respect."""

    number: int
    answer: int
    kind: str
    sample: int
    closed: bool


@transaction.atomic
def invite(panel: AnswerPanel, usernames: Iterable[str], *, by: Any) -> None:
    record("answers.rating_invited", panel, by, users=panels.invite(panel, usernames))


def places(panel: AnswerPanel) -> list[Place]:
    """All there is to rate, sample by sample, in an order that is random and the same for all.

    An answer that was drawn for several kinds at once comes once, with all of them.
    """
    rows = SampledAnswer.objects.filter(sample__panel=panel).order_by("sample", "number")
    drawn = list(
        rows.values_list(
            "answer", "sample__kind", "sample", "sample__seed", "number", "sample__closed_at"
        )
    )
    first: dict[tuple[int, int], tuple[int, int]] = {}
    batches: dict[int, int] = {}
    for answer, _kind, sample, seed, number, _closed in drawn:
        batch = batches.setdefault(seed, sample)
        first.setdefault((seed, answer), (batch, number))
    order = {kind: at for at, kind in enumerate(KINDS)}
    drawn.sort(key=lambda row: (*first[row[3], row[0]], row[0], order[row[1]]))
    return [
        Place(number, answer, kind, sample, closed is not None)
        for number, (answer, kind, sample, _seed, _number, closed) in enumerate(drawn, start=1)
    ]


@transaction.atomic
def rate(place: Place, *, rater: Any, score: int | None, note: str = "") -> None:
    """Keep what the rater says of one answer in one respect; ``None`` takes it back."""
    if score is not None and not 0 <= score <= HIGHEST:
        raise RatingRefused("rating.answer_out_of_range")
    check_note(note)
    sample = AnswerSample.objects.select_for_update().get(pk=place.sample)
    if sample.closed_at is not None:
        raise RatingRefused("sample.closed")
    own = {"answer_id": place.answer, "kind": place.kind, "rater": rater}
    if score is None:
        AnswerRating.objects.filter(**own).delete()
    else:
        fields = {"score": score, "note": note.strip()}
        AnswerRating.objects.update_or_create(**own, defaults=fields)


def ratings_of(panel: AnswerPanel) -> QuerySet[AnswerRating]:
    return AnswerRating.objects.filter(answer__case__run=panel.run_id).order_by()


def rated_in(opened: Sequence[AnswerPanel], rater: Any) -> dict[int, int]:
    """How much the rater has rated, by run; for a page of panels."""
    runs = [panel.run_id for panel in opened]
    own = AnswerRating.objects.filter(answer__case__run__in=runs, rater=rater).order_by()
    return dict(own.values_list("answer__case__run").annotate(n=Count("pk")))


def raters(panel: AnswerPanel) -> list[tuple[str, int]]:
    """Who has rated how much."""
    counted = ratings_of(panel).values_list("rater__username").annotate(n=Count("pk"))
    return sorted(counted)
