"""People rate the answers of a run, on the judge's scale and without knowing what it said."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count, QuerySet

from evaluation.metrics.answers import NO_REFERENCE
from evaluation.models import Answer, AnswerPanel, AnswerRating, Judgement, Run
from evaluation.services.judging import panels
from evaluation.services.judging.panels import RatingRefused, check_note, record
from evaluation.services.judging.probings import KINDS
from labeling.domain.facts import Fact

HIGHEST = 10


class Place(NamedTuple):
    """One thing to rate: an answer in one respect."""

    number: int
    answer: int
    kind: str


def why_not_ratable(run: Run) -> Fact | None:
    """Why nobody can rate answers of this run; ``None`` if people can."""
    if not run.spec.has_answers:
        return Fact("rating.no_answers")
    if run.scored_at is None:
        return Fact("rating.answers_unfinished")
    if not _answers(run).exists():
        return Fact("rating.no_answer_written")
    return None


@transaction.atomic
def open_panel(run: Run, *, by: Any) -> AnswerPanel:
    problem = why_not_ratable(run)
    if problem:
        raise RatingRefused(problem, details={"run": run.pk})
    panel, is_new = AnswerPanel.objects.get_or_create(run=run, defaults={"opened_by": by})
    if is_new:
        record("answers.rating_opened", panel, by)
    return panel


@transaction.atomic
def invite(panel: AnswerPanel, usernames: Iterable[str], *, by: Any) -> None:
    record("answers.rating_invited", panel, by, users=panels.invite(panel, usernames))


def places(panel: AnswerPanel) -> list[Place]:
    """All there is to rate, in an order that is random and the same for everybody.

    So the first of them are a fair sample of all conversations, and what several people have
    rated is the same.
    """
    keys = _answers(panel.run).values_list("pk", flat=True)
    order = sorted(keys, key=lambda pk: hashlib.sha256(f"{panel.code}:{pk}".encode()).digest())
    without = set(_without_reference(panel.run))
    pairs = [
        (pk, kind) for pk in order for kind in KINDS if kind != "correctness" or pk not in without
    ]
    return [Place(number, pk, kind) for number, (pk, kind) in enumerate(pairs, start=1)]


def _without_reference(run: Run) -> QuerySet[Judgement, int]:
    """Answers that have nothing to be compared with, as every judge has found."""
    rows = Judgement.objects.filter(judging__run=run, kind="correctness", reason=NO_REFERENCE)
    return rows.order_by().values_list("answer", flat=True).distinct()


def rate(place: Place, *, rater: Any, score: int | None, note: str = "") -> None:
    """Keep what the rater says of one answer in one respect; ``None`` takes it back."""
    if score is not None and not 0 <= score <= HIGHEST:
        raise RatingRefused("rating.answer_out_of_range")
    check_note(note)
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


def _answers(run: Run) -> QuerySet[Answer]:
    return Answer.objects.filter(case__run=run, state=Answer.State.DONE).order_by()
