"""Hidden checks: conversations with gold among the work of full labeling, now and then."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from labeling.core import events, projects
from labeling.domain.errors import RuleError
from labeling.models import (
    Assignment,
    CheckConversation,
    CheckPlan,
    Project,
)
from labeling.screening.check_turns import HONEYPOT, draw, plan_of, with_gold

Purpose = Assignment.Purpose


class CheckImpossible(RuleError):
    """People cannot be checked as asked."""

    code = "check_impossible"


# --- what a lead sets ---------------------------------------------------------------------------


def bar_of(plan: CheckPlan) -> float:
    """From where on a figure is colored as good."""
    return plan.pass_at if plan.pause_below is None else plan.pause_below


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
    for name, wanted in ((HONEYPOT, plan.every), (Purpose.QUALIFICATION, plan.test)):
        if wanted and not project.check_conversations.filter(purpose=name).exists():
            raise CheckImpossible("check.no_conversations")
    plan.save()
    events.record("checks.changed", project, project=project, actor=by, fields=sorted(changed))
    return plan


@transaction.atomic
def choose(project: Project, *, purpose: str, number: int, by: User) -> int:
    """Add so many conversations with gold, drawn at random; returns how many were there to add."""
    projects.lock(project)  # or two at once would choose the same
    known = project.check_conversations.filter(purpose=purpose).values("conversation")
    free = with_gold(project).exclude(pk__in=known).values_list("pk", flat=True)
    chosen = sorted(free, key=lambda pk: draw("choose", project.pk, purpose, pk))[:number]
    CheckConversation.objects.bulk_create(
        CheckConversation(project=project, conversation_id=pk, purpose=purpose) for pk in chosen
    )
    if chosen:
        said = {"conversations": len(chosen), "purpose": purpose}
        events.record("checks.chosen", project, project=project, actor=by, **said)
    return len(chosen)


@transaction.atomic
def drop(chosen: CheckConversation, *, by: User) -> None:
    """Stop using it as a check. Answers to it are kept."""
    project, purpose = chosen.project, chosen.purpose
    projects.lock(project)  # or two at once would take the last ones
    plan = plan_of(project)
    is_last = project.check_conversations.filter(purpose=purpose).count() == 1
    if is_last and (plan.every if purpose == HONEYPOT else plan.test):
        raise CheckImpossible("check.last_conversation")
    events.record(
        "checks.dropped",
        project,
        project=project,
        actor=by,
        conversation=chosen.conversation.external_id,
        purpose=purpose,
    )
    chosen.delete()
