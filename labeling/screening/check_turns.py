"""When someone gets a hidden check, which conversation it is, and what is to be compared."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.crypto import salted_hmac

from labeling.core import events, projects
from labeling.domain.errors import RuleError
from labeling.gold import pseudonyms
from labeling.gold.rules.gold_checks import people_in
from labeling.models import (
    Adjudication,
    Assignment,
    CheckPlan,
    Conversation,
    GoldCheck,
    GoldItem,
    Membership,
    Project,
    Review,
    Round,
)
from labeling.schema.targets import END_TO_END

HONEYPOT = Assignment.Purpose.HONEYPOT
TEST = Assignment.Purpose.QUALIFICATION


class CheckImpossible(RuleError, code="check_impossible"):
    """People cannot be checked as asked."""


def plan_of(project: Project) -> CheckPlan:
    """The project's plan; without one, a plan that checks nothing."""
    return CheckPlan.objects.filter(project=project).first() or CheckPlan(project=project)


@transaction.atomic
def set_plan(project: Project, *, by: User, **fields: Any) -> CheckPlan:
    """Setting it again to the same changes nothing."""
    projects.lock(project)
    plan = plan_of(project)
    changed = {name: value for name, value in fields.items() if getattr(plan, name) != value}
    if plan.pk and not changed:
        return plan
    for name, value in fields.items():
        setattr(plan, name, value)
    if (plan.every or plan.test) and not with_gold(project).exists():
        raise CheckImpossible("check.no_conversations")
    plan.save()
    events.record("checks.changed", project, project=project, actor=by, fields=sorted(changed))
    return plan


def with_gold(project: Project) -> QuerySet[Conversation]:
    """The conversations that people can be checked by."""
    items = GoldItem.objects.filter(
        release__project=project, release__layer__in=[*project.layers, END_TO_END]
    )
    return project.conversations.filter(pk__in=items.order_by().values("conversation"))


def take_turn(pool: Round, user: User, every: int) -> int | None:
    """The conversation to check the user by instead of the next one of the pool, if it is time.

    One in every n conversations taken, at a place that nobody can foresee.
    """
    taken = pool.handed_out.filter(annotator=user).count()
    if not _is_turn(pool, user.pk, taken, every):
        return None
    return next(candidates(pool, user), None)


def _is_turn(round_: Round, user: int, place: int, every: int) -> bool:
    block, at = divmod(place, every)
    return draw("turn", round_.pk, user, block) % every == at


def draw(*what: Any) -> int:
    """A number that follows from the key of this installation: the same again, known to nobody."""
    return int(salted_hmac("labeling.checks", ":".join(map(str, what))).hexdigest()[:16], 16)


def candidates(round_: Round, user: User, *, planned: Collection[Assignment] = ()) -> Iterator[int]:
    """Hidden checks that the user may get in the round, in a different order for each.

    Left out are conversations that they had in any form, whose gold they helped to make or may
    read, and those that still need answers in the round. ``planned`` is work about to be stored.
    """
    if reads_gold(user, round_.project):
        return iter(())
    gold = with_gold(round_.project)
    filled = {assignment.conversation_id for assignment in planned}
    mine = {
        assignment.conversation_id for assignment in planned if assignment.annotator_id == user.pk
    }
    open_places = _unfilled(round_).filter(conversation__in=gold)  # not of a whole large pool
    not_now = mine | set(open_places.values_list("conversation", flat=True)) - filled
    order = sorted(
        set(unknown_to(user, gold).values_list("pk", flat=True)) - not_now,
        key=lambda pk: draw("order", round_.pk, user.pk, pk),
    )
    return (pk for pk in order if not made_by(user, round_.project, pk))


def reads_gold(user: User, project: Project) -> bool:
    """Who leads or researches can look the right labels up, so that a check would show nothing."""
    return bool(project.roles_of(user) & {Membership.Role.LEAD, Membership.Role.RESEARCHER})


def unknown_to(user: User, conversations: QuerySet[Conversation]) -> QuerySet[Conversation]:
    """Without conversations that the user ever had, decided or reviewed."""
    had = Assignment.given_to(user).order_by().values("conversation")
    decided = Adjudication.objects.filter(decided_by=user).order_by().values("conversation")
    reviewed = Review.objects.filter(reviewer=user).order_by()
    return (
        conversations.exclude(pk__in=had)
        .exclude(pk__in=decided)
        .exclude(pk__in=reviewed.values("annotation__assignment__conversation"))
    )


def made_by(user: User, project: Project, conversation: int) -> bool:
    """Whether a gold item of the conversation names the user: imported gold knows more people."""
    items = GoldItem.objects.filter(release__project=project, conversation=conversation)
    names = pseudonyms.names_of(project)
    return any(
        user.get_username() in people_in(pseudonyms.content_of(item, names)["provenance"])
        for item in items.select_related("release")
    )


def _unfilled(round_: Round) -> QuerySet[Any]:
    taken = (
        round_.assignments.filter(slot__isnull=False, conversation=OuterRef("conversation"))
        .order_by()
        .values("conversation")
        .annotate(n=Count("pk"))
        .values("n")
    )
    places = round_.places.order_by().annotate(taken=Coalesce(Subquery(taken), 0))
    return places.filter(taken__lt=F("round__overlap")).values("conversation")


def mix_in(round_: Round, planned: Sequence[Assignment]) -> list[Assignment]:
    """Planned work with hidden checks in it, each before an ordinary conversation.

    They are stored together in the order of the queues, so that no number gives a check away.
    """
    every = plan_of(round_.project).every
    if not every or round_.kind != Round.Kind.FULL:
        return list(planned)
    queues: dict[int, list[Assignment]] = defaultdict(list)
    for assignment in sorted(planned, key=attrgetter("position")):
        queues[assignment.annotator_id].append(assignment)
    had = Counter(round_.handed_out.values_list("annotator", flat=True))
    people = User.objects.in_bulk(queues)
    mixed: list[Assignment] = []
    for person, queue in queues.items():
        free = candidates(round_, people[person], planned=planned)
        mixed += _mixed(queue, free, start=had[person], every=every)
    return mixed


def _mixed(
    queue: Iterable[Assignment], free: Iterator[int], *, start: int, every: int
) -> Iterator[Assignment]:
    """The places are counted with the checks between them, as they are taken from a pool."""
    place = start
    for assignment in queue:
        while _is_turn(assignment.round, assignment.annotator_id, place, every):
            hidden = next(free, None)
            if hidden is None:
                break
            place += 1
            yield Assignment(
                round=assignment.round,
                conversation_id=hidden,
                annotator_id=assignment.annotator_id,
                purpose=HONEYPOT,
                slot=0,
                position=assignment.position,
            )
        place += 1
        yield assignment


def open_honeypots(round_: Round, person: User) -> list[Assignment]:
    """Hidden checks that go back with a person's open work."""
    checks = Assignment.given_to(person).filter(purpose=HONEYPOT, round=round_)
    unanswered = checks.exclude(annotation__status__in=["submitted", "skipped"])
    return list(unanswered.filter(slot__isnull=False))


def unscored() -> QuerySet[Assignment]:
    """Answers to checks that are not compared yet."""
    scored = GoldCheck.objects.filter(
        assignment=OuterRef("pk"), version=OuterRef("annotation__version")
    )
    tested = Q(purpose=TEST, annotation__status__in=["submitted", "skipped"])
    hidden = Q(purpose=HONEYPOT, annotation__status="submitted")
    # this purpose, not others: it is what the index of checks holds
    checks = Assignment.checks
    return checks.filter(tested | hidden).exclude(Exists(scored)).order_by()


def due() -> QuerySet[Assignment, int]:
    return unscored().values_list("pk", flat=True)
