"""Hidden checks: conversations with gold among the work of full labeling, now and then."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from labeling.core import events, projects
from labeling.domain.errors import RuleError
from labeling.models import CheckPlan, Project
from labeling.screening.check_turns import plan_of, with_gold


class CheckImpossible(RuleError):
    """People cannot be checked as asked."""

    code = "check_impossible"


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
    if (plan.every or plan.test) and not with_gold(project).exists():
        raise CheckImpossible("check.no_conversations")
    plan.save()
    events.record("checks.changed", project, project=project, actor=by, fields=sorted(changed))
    return plan
