"""People rate what was drawn of a run, without knowing who made it and what others say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, QuerySet

from evaluation.models import RatedPlace, Rating, RatingKind, RatingPanel, RatingSample
from evaluation.models.ratings import PlaceQuerySet
from evaluation.services.judging.samples import RatingRefused
from labeling.agreement.rules.agreement import PairAgreement
from labeling.agreement.rules.agreement import agreement as agreement_of
from labeling.core import events
from labeling.models import Membership

LONGEST_NOTE = 2000


def invitable(panel: RatingPanel) -> QuerySet[User]:
    """The annotators of the project; who reads results may rate without being asked."""
    role = Membership.Role.ANNOTATOR
    members = Membership.objects.filter(project=panel.run.release.project_id, role=role)
    return User.objects.filter(pk__in=members.values("user")).order_by("username")


@transaction.atomic
def invite(panel: RatingPanel, usernames: Iterable[str], *, by: Any) -> None:
    """From now on exactly these annotators may rate beside leads and researchers."""
    chosen = list(invitable(panel).filter(username__in=list(usernames)))
    panel.invited.set(chosen)
    users = ", ".join(user.username for user in chosen) or "nobody"
    project = panel.run.release.project
    events.record(
        "rating.invited", panel.run, project=project, actor=by, run=panel.run_id, users=users
    )


def places(panel: RatingPanel) -> PlaceQuerySet:
    """All there is to rate, numbered from 1."""
    return RatedPlace.objects.filter(sample__panel=panel).order_by("number")


@transaction.atomic
def rate(place: RatedPlace, *, rater: Any, score: int | None, note: str = "") -> None:
    """Keep what the rater says of one place; ``None`` takes it back."""
    sample = RatingSample.objects.select_for_update().get(pk=place.sample_id)
    if sample.closed_at is not None:
        raise RatingRefused("sample.closed")
    highest = RatingKind(sample.kind).highest
    if score is not None and not 0 <= score <= highest:
        raise RatingRefused("rating.out_of_range", highest=highest)
    if len(note) > LONGEST_NOTE:
        raise RatingRefused("rating.note_too_long", most=LONGEST_NOTE)
    own: dict[str, Any] = {"case_id": place.case_id, "kind": sample.kind}
    own["position"] = place.position
    if score is None:
        Rating.objects.filter(**own, rater=rater).delete()
    else:
        fields: dict[str, Any] = {"score": score, "note": note.strip()}
        Rating.objects.update_or_create(**own, rater=rater, defaults=fields)


def raters(panel: RatingPanel) -> list[tuple[str, int]]:
    """Who has rated how much."""
    counted = Rating.objects.of_panel(panel).values_list("rater__username")
    return sorted(counted.annotate(n=Count("pk")))


def agreement(sample: RatingSample) -> list[PairAgreement]:
    """Every pair of raters, over what both have rated; of a closed sample."""
    drawn = set(sample.places.values_list("case", "position"))
    rows = Rating.objects.of_panel(sample.panel).filter(kind=sample.kind)
    by_rater: dict[str, dict[tuple[int, int], int]] = {}
    where: dict[tuple[int, int], int] = {}
    for rater, conversation, case, position, score in rows.values_list(
        "rater__username", "case__item__conversation", "case", "position", "score"
    ):
        if (case, position) in drawn:
            by_rater.setdefault(rater, {})[case, position] = score
            where[case, position] = conversation
    by_conversation: dict[str, list[tuple[int, int]]] = {}
    for place, conversation in sorted(where.items()):
        by_conversation.setdefault(str(conversation), []).append(place)
    scores = {
        rater: {name: [own.get(place) for place in its] for name, its in by_conversation.items()}
        for rater, own in by_rater.items()
    }
    return agreement_of(scores, level="interval").pairs
