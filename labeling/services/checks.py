"""Hidden checks: conversations with gold among the work of full labeling, now and then."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.crypto import salted_hmac

from labeling.domain.errors import RuleError
from labeling.domain.gold_checks import people_in
from labeling.domain.sentences import say
from labeling.domain.targets import END_TO_END
from labeling.models import (
    Adjudication,
    Assignment,
    CheckConversation,
    CheckPlan,
    Conversation,
    GoldItem,
    Project,
    Review,
    Round,
)
from labeling.models.assignments import PUT_ASIDE
from labeling.services import events

Purpose = Assignment.Purpose
HONEYPOT = Purpose.HONEYPOT


class CheckImpossible(RuleError):
    """People cannot be checked as asked."""

    code = "check_impossible"


# --- what a lead sets ---------------------------------------------------------------------------


def plan_of(project: Project) -> CheckPlan:
    """The project's plan; one that checks nothing where none was made."""
    return CheckPlan.objects.filter(project=project).first() or CheckPlan(project=project)


def bar_of(plan: CheckPlan) -> float:
    """From where on a figure is coloured as good."""
    return plan.pass_at if plan.pause_below is None else plan.pause_below


@transaction.atomic
def set_plan(project: Project, *, by: User, **fields: Any) -> CheckPlan:
    """Setting it again to the same changes nothing."""
    Project.objects.select_for_update().get(pk=project.pk)
    plan = plan_of(project)
    changed = {name: value for name, value in fields.items() if getattr(plan, name) != value}
    if plan.pk and not changed:
        return plan
    for name, value in fields.items():
        setattr(plan, name, value)
    for name, wanted in ((HONEYPOT, plan.every), (Purpose.QUALIFICATION, plan.test)):
        if wanted and not project.check_conversations.filter(purpose=name).exists():
            raise CheckImpossible(
                "Choose conversations with gold for it first: there is nothing to check people by."
            )
    plan.save()
    events.record("checks.changed", project, project=project, actor=by, fields=sorted(changed))
    return plan


def with_gold(project: Project) -> QuerySet[Conversation]:
    """The conversations that people can be checked by."""
    items = GoldItem.objects.filter(
        release__project=project, release__layer__in=[*project.layers, END_TO_END]
    )
    return project.conversations.filter(pk__in=items.order_by().values("conversation"))


@transaction.atomic
def choose(
    project: Project,
    *,
    purpose: str,
    by: User,
    names: Collection[str] = (),
    number: int = 0,
) -> int:
    """Add conversations by their names, and so many others at random; how many were new."""
    known = project.check_conversations.filter(purpose=purpose).values("conversation")
    free = with_gold(project).exclude(pk__in=known)
    named = dict(free.filter(external_id__in=names).values_list("external_id", "pk"))
    _refuse_unknown(project, set(names) - named.keys())
    rest = free.exclude(pk__in=named.values()).values_list("pk", flat=True)
    drawn = sorted(rest, key=lambda pk: _draw("choose", project.pk, purpose, pk))[:number]
    chosen = [*named.values(), *drawn]
    CheckConversation.objects.bulk_create(
        CheckConversation(project=project, conversation_id=pk, purpose=purpose) for pk in chosen
    )
    if chosen:
        events.record(
            "checks.chosen",
            project,
            project=project,
            actor=by,
            conversations=len(chosen),
            purpose=purpose,
        )
    return len(chosen)


def _refuse_unknown(project: Project, names: Collection[str]) -> None:
    without = sorted(set(names) - set(with_gold(project).values_list("external_id", flat=True)))
    if without:
        raise CheckImpossible(
            say(
                "These have no gold in this project: {names}. Choose conversations of a release.",
                names=", ".join(without[:5]),
            )
        )


@transaction.atomic
def drop(chosen: CheckConversation, *, by: User) -> None:
    """Nobody gets it as a check any more. What was answered to it is kept."""
    project, purpose = chosen.project, chosen.purpose
    plan = plan_of(project)
    is_last = project.check_conversations.filter(purpose=purpose).count() == 1
    if is_last and (plan.every if purpose == HONEYPOT else plan.test):
        raise CheckImpossible("Switch these checks off before you take away the last conversation.")
    events.record(
        "checks.dropped",
        project,
        project=project,
        actor=by,
        conversation=chosen.conversation.external_id,
        purpose=purpose,
    )
    chosen.delete()


# --- handing them out ---------------------------------------------------------------------------


def take_turn(pool: Round, user: User) -> int | None:
    """The conversation to check the user by instead of the next one of the pool, if it is time.

    One in each so many that are taken, at a place that nobody can foresee. The pool is locked.
    """
    every = plan_of(pool.project).every
    if not every:
        return None
    taken = pool.assignments(manager="every").filter(annotator=user).count()
    if not _is_turn(pool, user.pk, taken, every):
        return None
    return next(candidates(pool, user), None)


def _is_turn(round_: Round, user: int, place: int, every: int) -> bool:
    block, at = divmod(place, every)
    return _draw("turn", round_.pk, user, block) % every == at


def _draw(*what: Any) -> int:
    """A number that follows from the key of this installation: the same again, known to nobody."""
    return int(salted_hmac("labeling.checks", ":".join(map(str, what))).hexdigest()[:16], 16)


def candidates(round_: Round, user: User) -> Iterator[int]:
    """Hidden checks that the user may get in the round, each user's in an order of its own.

    Never one that they had in any form or whose gold they had a hand in, nor one that the round
    still wants answers to.
    """
    chosen = round_.project.check_conversations.filter(purpose=HONEYPOT).values("conversation")
    free = unknown_to(user, with_gold(round_.project).filter(pk__in=chosen))
    free = free.exclude(pk__in=_unfilled(round_))
    order = sorted(
        free.values_list("pk", flat=True), key=lambda pk: _draw("order", round_.pk, user.pk, pk)
    )
    return (pk for pk in order if not made_by(user, round_.project, pk))


def unknown_to(user: User, conversations: QuerySet[Conversation]) -> QuerySet[Conversation]:
    """Without what the user was ever given, has decided or reviewed."""
    had = Assignment.every.owned_by(user).order_by().values("conversation")
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
    return any(
        user.get_username() in people_in(item.content.get("provenance")) for item in items.all()
    )


def _unfilled(round_: Round) -> QuerySet[Any]:
    held = (
        round_.assignments.filter(slot__isnull=False, conversation=OuterRef("conversation"))
        .order_by()
        .values("conversation")
        .annotate(n=Count("pk"))
        .values("n")
    )
    places = round_.places.order_by().annotate(taken=Coalesce(Subquery(held), 0))
    return places.filter(taken__lt=F("round__overlap")).values("conversation")


def mix_in(round_: Round, *, planned_before: Mapping[int, int]) -> None:
    """Put hidden checks among work that was just planned, each beside an ordinary conversation.

    ``planned_before`` has the last place of each annotator's queue before that.
    """
    every = plan_of(round_.project).every
    if not every or round_.kind != Round.Kind.FULL:
        return
    queues: dict[int, list[int]] = defaultdict(list)
    rows = round_.assignments.filter(position__lt=PUT_ASIDE).order_by("annotator", "position")
    for person, position in rows.values_list("annotator", "position"):
        if position > planned_before.get(person, -1):
            queues[person].append(position)
    had = Counter(round_.assignments(manager="every").values_list("annotator", flat=True))
    people = User.objects.in_bulk(queues)
    made: list[Assignment] = []
    for person, positions in queues.items():
        start = had[person] - len(positions)
        made += _mixed(round_, people[person], positions, start, every)
    Assignment.every.bulk_create(made, batch_size=1000)


def _mixed(
    round_: Round, user: User, positions: Iterable[int], start: int, every: int
) -> Iterator[Assignment]:
    """The places are counted with the checks between them, as they are taken from a pool."""
    place, free = start, candidates(round_, user)
    for position in positions:
        hidden = next(free, None) if _is_turn(round_, user.pk, place, every) else None
        if hidden is not None:
            place += 1
            yield Assignment(
                round=round_,
                conversation_id=hidden,
                annotator=user,
                purpose=HONEYPOT,
                slot=0,
                position=position,
            )
        place += 1


def open_honeypots(round_: Round, person: User) -> list[Assignment]:
    """Hidden checks that go back with a person's open work."""
    held = Assignment.every.owned_by(person).filter(purpose=HONEYPOT, round=round_)
    unanswered = held.exclude(annotation__status__in=["submitted", "skipped"])
    return list(unanswered.filter(slot__isnull=False))
