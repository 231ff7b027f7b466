"""Who has looked at test items, and why: asked once per person, purpose and release.

A reason holds for the release that it was given for; looks count over all versions of a name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet, Subquery

from labeling.core import events, projects
from labeling.core.rules.reasons import reason_in
from labeling.domain.errors import RuleError
from labeling.models import (
    Conversation,
    GoldItem,
    GoldRelease,
    Look,
    Membership,
    Project,
)

TEST = Conversation.Split.TEST
Role = Membership.Role
Purpose = Look.Purpose
Subject = Look.Subject

LONGEST_REASON = 500

COVERED_BY: dict[str, tuple[str, ...]] = {
    purpose: (purpose,) for purpose in Purpose.values if purpose != Purpose.RESULTS
} | {Purpose.RESULTS: (Purpose.RESULTS, Purpose.RUN)}
"""Who said why they measure on test items is not asked again when they read what came out."""


class Sight(NamedTuple):
    """What somebody is about to see."""

    purpose: str
    subject: str = Subject.RELEASE
    named: str = ""


class ReasonNeeded(RuleError, code="look_reason_needed"):
    """Test items would be shown to somebody who has not said why."""

    def __init__(self, releases: Sequence[GoldRelease], sight: Sight) -> None:
        self.releases, self.sight = list(releases), sight
        names = [str(release) for release in releases]
        details = {"releases": names, "purpose": sight.purpose}
        super().__init__("look.reason_needed", releases=names, details=details)


class LookRefused(RuleError, code="look_refused"):
    """There is nothing to look at, or the purpose makes no sense."""


# --- what is a test set ---------------------------------------------------------------------------


def test_items(release: Any) -> QuerySet[GoldItem]:
    return GoldItem.objects.filter(release=release, split=TEST).order_by()


def test_sets(project: Project) -> list[GoldRelease]:
    """The newest release of each name with test items: what is about to be, or was, measured on.

    Answers about test conversations say nearly what their gold says, so they leave for a reason.
    """
    tested = GoldRelease.objects.filter(Exists(test_items(OuterRef("pk"))), project=project)
    newest: dict[str, GoldRelease] = {}
    for release in tested.light().order_by("-pk"):
        newest.setdefault(release.name, release)
    return list(newest.values())


# --- who may look ---------------------------------------------------------------------------------


def sealed(user: Any, purpose: str, among: Iterable[int] | None = None) -> QuerySet[GoldRelease]:
    """The releases with test items for which this person has not said why they look.

    For lists, which leave out what is sealed, in one query; ``among`` are keys of releases.
    """
    releases = GoldRelease.objects.order_by()
    if among is not None:
        releases = releases.filter(pk__in=list(among))
    own = _stated(user, purpose).filter(release=OuterRef("pk"))
    return releases.filter(Exists(test_items(OuterRef("pk"))), ~Exists(own))


def _stated(user: Any, purpose: str) -> QuerySet[Look]:
    """Reasons of this person. At the command line nobody is remembered: each call says why."""
    if user is None or not user.pk:
        return Look.objects.none()
    looks = Look.objects.filter(user=user.pk, purpose__in=COVERED_BY[purpose]).order_by()
    return looks.exclude(reason="")


def require(user: Any, releases: Collection[GoldRelease], sight: Sight) -> None:
    """Raise if the person has not said why they look at the test items of these releases."""
    needed = set(
        sealed(user, sight.purpose, [release.pk for release in releases]).values_list(
            "pk", flat=True
        )
    )
    if needed:
        raise ReasonNeeded([release for release in releases if release.pk in needed], sight)


def require_item(user: Any, item: GoldItem) -> None:
    """The same for the labels of one item: what is not a test item is nobody's secret."""
    if item.split == TEST:
        require(user, [item.release], Sight(Purpose.LABELS, Subject.ITEM, item.item_id))


def require_answers(user: Any, conversation: Conversation) -> None:
    """The same for what people answered: on a test item it says nearly what gold says.

    Leads are not asked: they review and decide these answers, and choose no pipeline by them.
    """
    project = conversation.project
    if conversation.split == TEST and Role.LEAD not in project.roles_of(user):
        items = GoldItem.objects.filter(conversation=conversation, split=TEST)
        holding = GoldRelease.objects.filter(Exists(items.filter(release=OuterRef("pk"))))
        newest = list(holding.light().order_by("-pk")[:1])
        require(user, newest, Sight(Purpose.LABELS, Subject.ITEM, conversation.external_id))


def sealed_answers(user: Any) -> QuerySet[Conversation]:
    """For lists: the conversations about which ``require_answers`` would ask."""
    led = Project.objects.with_role(user, Role.LEAD)
    held = GoldItem.objects.filter(conversation=OuterRef("pk"), split=TEST)
    newest = Subquery(held.order_by("-release").values("release")[:1])
    tested = Conversation.objects.filter(split=TEST).exclude(project__in=led).order_by()
    return tested.annotate(held_by=newest).filter(held_by__in=sealed(user, Purpose.LABELS))


def reason_of(user: Any, release: GoldRelease, purpose: str) -> str:
    """What the person said last about the purpose and this name; empty if nothing."""
    said = _stated(user, purpose).filter(release__name=release.name).order_by("-pk").first()
    return said.reason if said else ""


# --- looking --------------------------------------------------------------------------------------


@transaction.atomic
def state(user: Any, releases: Sequence[GoldRelease], sight: Sight, reason: str) -> list[Look]:
    """Say why: a row for each release for which it was not said yet.

    At the command line, where nobody is remembered, the same words are the same look.
    """
    if not (reason := reason_in(reason)):
        raise ReasonNeeded(releases, sight)
    written = []
    for release in releases:
        projects.lock(release.project)  # or two at once would both be the last
        if not sealed(user, sight.purpose, [release.pk]).exists():
            continue
        same = Look.objects.filter(release=release, user=None, purpose=sight.purpose, reason=reason)
        if user is None and same.exists():
            continue
        n_items = test_items(release).count()
        written.append(record(user, release, sight, reason=reason, n_items=n_items))
    return written


@transaction.atomic
def record(user: Any, release: GoldRelease, sight: Sight, *, reason: str, n_items: int) -> Look:
    """A row of the ledger, and the same in the audit log."""
    look = Look.objects.create(
        release=release,
        user=user,
        purpose=sight.purpose,
        reason=reason[:LONGEST_REASON],
        subject=sight.subject,
        named=sight.named[:250],
        n_items=n_items,
    )
    events.record(
        "gold.looked_at",
        release,
        project=release.project,
        actor=user,
        release=str(release),
        purpose=look.purpose,
        reason=look.reason,
        look=look.pk,
        user=look.user_id,
    )
    return look


def of_project(project: Project) -> QuerySet[Look]:
    """With their releases and people, without the documents of the releases."""
    documents = ("agreement", "header", "left_out", "overrides")
    looks = Look.objects.filter(release__project=project)
    related = looks.select_related("release__project", "user")
    return related.defer(*(f"release__{name}" for name in documents))


# --- the count ------------------------------------------------------------------------------------


def looks_at(release: GoldRelease) -> QuerySet[Look]:
    """At its test items, and those of its other versions."""
    return Look.objects.filter(release__name=release.name).order_by()


def number(look: Look) -> int:
    """Which look at its test items this one was."""
    return looks_at(look.release).filter(pk__lte=look.pk).count()
