"""Judges rate what a run inferred: opening, inviting, rating, closing, and counting it again."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, QuerySet
from django.utils import timezone

from evaluation.layers import gold_layer
from evaluation.models import CaseRun, RatedLabel, Rating, RatingPanel, Run
from evaluation.services.judging import panels
from evaluation.services.judging.panels import RatingRefused, check_note, record
from evaluation.services.run import scoring
from labeling.domain.agreement.weighted import JudgePair, judge_pairs
from labeling.domain.facts import Fact
from labeling.services import wakeups

SCORES = (2, 1, 0)


class Judge(NamedTuple):
    """One judge and how many labels they have rated."""

    user: User
    rated: int
    is_done: bool


def why_not_ratable(run: Run) -> Fact | None:
    """Why nobody can rate this run; ``None`` if people can."""
    if not gold_layer(run.release.layer).rated:
        return Fact("rating.other_layer")
    if run.scored_at is None:
        return Fact("rating.run_unfinished")
    if next(iter(_places(run)), None) is None:
        return Fact("rating.nothing_inferred")
    return None


@transaction.atomic
def open_panel(run: Run, *, by: Any) -> RatingPanel:
    """Number the labels of the run, so that judges can go through them; once for each run."""
    problem = why_not_ratable(run)
    if problem:
        raise RatingRefused(problem, details={"run": run.pk})
    places = list(_places(run))
    panel, is_new = RatingPanel.objects.get_or_create(
        run=run, defaults={"n_labels": len(places), "opened_by": by}
    )
    if is_new:
        _number(panel, places)
        record("rating.opened", panel, by, labels=len(places))
    return panel


@transaction.atomic
def invite(panel: RatingPanel, usernames: Iterable[str], *, by: Any) -> None:
    record("rating.invited", panel, by, users=panels.invite(panel, usernames))


@transaction.atomic
def rate(panel: RatingPanel, number: int, *, judge: Any, score: int | None, note: str = "") -> None:
    """Keep the judge's rating of one label; ``None`` takes it back."""
    locked = RatingPanel.objects.select_for_update().get(pk=panel.pk)
    if locked.closed_at:
        raise RatingRefused("rating.closed")
    if score is not None and score not in SCORES:
        raise RatingRefused("rating.out_of_range")
    check_note(note)
    label = RatedLabel.objects.get(panel=panel, number=number)
    was_whole = _is_whole(label, judge)
    place = {"case_id": label.case_id, "position": label.position, "judge": judge}
    if score is None:
        Rating.objects.filter(**place).delete()
    else:
        Rating.objects.update_or_create(**place, defaults={"score": score, "note": note.strip()})
    if was_whole or _is_whole(label, judge):
        _note_change(locked)


@transaction.atomic
def close(panel: RatingPanel, *, by: Any) -> None:
    """For good: the ratings and what is computed from them stay as they are."""
    locked = RatingPanel.objects.select_for_update().get(pk=panel.pk)
    if locked.closed_at:
        raise RatingRefused("rating.closed")
    if not ratings_of(locked).exists():
        raise RatingRefused("rating.nothing_rated")
    RatingPanel.objects.filter(pk=locked.pk).update(closed_at=timezone.now(), closed_by=by)
    ratings_of(locked).update(frozen=True)
    record("rating.closed", locked, by, ratings=ratings_of(locked).count())
    _note_change(locked)


def ratings_of(panel: RatingPanel) -> QuerySet[Rating]:
    return Rating.objects.filter(case__run=panel.run_id).order_by()


def rated_by(panel: RatingPanel, judge: Any) -> int:
    return ratings_of(panel).filter(judge=judge).count()


def rated_in(opened: Iterable[RatingPanel], judge: Any) -> dict[int, int]:
    """How many labels the judge has rated, by run; for a page of panels."""
    runs = [panel.run_id for panel in opened]
    own = Rating.objects.filter(case__run__in=runs, judge=judge).order_by()
    return dict(own.values_list("case__run").annotate(n=Count("pk")))


def judges(panel: RatingPanel) -> list[Judge]:
    counted = dict(ratings_of(panel).values_list("judge").annotate(n=Count("pk")))
    people = User.objects.filter(pk__in=counted).order_by("username")
    return [Judge(user, counted[user.pk], counted[user.pk] == panel.n_labels) for user in people]


def may_see_others(panel: RatingPanel, mine: int) -> bool:
    """A judge sees what others think when nothing of it can sway them any more."""
    return panel.closed_at is not None or mine == panel.n_labels


def agreement(panel: RatingPanel) -> list[JudgePair]:
    """Every pair of judges, over the labels that both rated."""
    rows = ratings_of(panel).values_list(
        "judge__username", "case__item__conversation", "case", "position", "score"
    )
    by_judge: dict[str, dict[tuple[int, int], int]] = {}
    where: dict[tuple[int, int], int] = {}
    for judge, conversation, case, position, score in rows.iterator():
        by_judge.setdefault(judge, {})[case, position] = score
        where[case, position] = conversation
    places: dict[str, list[tuple[int, int]]] = {}
    for place, conversation in sorted(where.items()):
        places.setdefault(str(conversation), []).append(place)
    scores = {
        judge: {name: [own.get(place) for place in of] for name, of in places.items()}
        for judge, own in by_judge.items()
    }
    return judge_pairs(scores)


def recount(panel_id: int) -> None:
    """The run's figures with all ratings so far. May be repeated, and by several workers."""
    panel = RatingPanel.objects.select_related("run").get(pk=panel_id)
    if panel.is_stale and panel.run.scored_at:
        counted = panel.changes
        scoring.rescore_rated(panel.run_id, partial(_take, panel_id, counted))


def wake_unattended() -> None:
    """Tell workers of every panel whose ratings are not counted yet."""
    stale = RatingPanel.objects.filter(counted__lt=F("changes"), run__scored_at__isnull=False)
    for panel in stale.select_related("run"):
        if scoring.is_current(panel.run):
            _wake(panel.pk)


def _number(panel: RatingPanel, places: Iterable[tuple[int, int]]) -> None:
    RatedLabel.objects.bulk_create(
        (
            RatedLabel(panel=panel, number=number, case_id=case, position=position)
            for number, (case, position) in enumerate(places, start=1)
        ),
        batch_size=1000,
    )


def _take(panel_id: int, counted: int) -> bool:
    """False if somebody has stored figures from newer ratings meanwhile."""
    older = RatingPanel.objects.filter(pk=panel_id, counted__lt=counted)
    return older.update(counted=counted) == 1


def _note_change(panel: RatingPanel) -> None:
    RatingPanel.objects.filter(pk=panel.pk).update(changes=F("changes") + 1)
    transaction.on_commit(partial(_wake, panel.pk), robust=True)


def _wake(panel_id: int) -> None:
    wakeups.wake("evaluation.tasks.recount_ratings", panel_id)


def _is_whole(label: RatedLabel, judge: Any) -> bool:
    """Whether the judge has rated every label of the case: only then does it count."""
    own = Rating.objects.filter(case=label.case_id, judge=judge).count()
    return own == RatedLabel.objects.filter(panel=label.panel_id, case=label.case_id).count()


def _places(run: Run) -> Iterable[tuple[int, int]]:
    layer = gold_layer(run.release.layer)
    done = CaseRun.objects.filter(run=run, state=CaseRun.State.DONE).order_by("item", "pk")
    for case, output in done.values_list("pk", "output").iterator(chunk_size=200):
        for position in range(len(layer.predicted(output))):
            yield case, position
