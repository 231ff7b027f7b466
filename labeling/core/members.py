"""Members who join or leave, and what becomes of their open work."""

from __future__ import annotations

from django.contrib.auth.models import User

from labeling.core import events, transactions
from labeling.core.projects import keep_a_lead
from labeling.domain.errors import RuleError
from labeling.domain.msgids import msgid
from labeling.models import Membership, Project
from labeling.work import handovers
from labeling.work.handovers import HandedOn

ANNOTATOR = Membership.Role.ANNOTATOR
NOTHING = HandedOn({}, 0, 0)


class UnknownUser(RuleError, code="unknown_user"):
    """Nobody has this user name."""


@transactions.atomic
def add_member(*, project: Project, username: str, role: str, by: User | None) -> Membership:
    """Give somebody a role. Giving it again changes nothing.

    Somebody who annotates again gets what is left of their planned work; see :func:`follow`.
    """
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise UnknownUser(
            msgid(
                "Nobody is called “{username}” here. Invite them by link: anyone who "
                "opens it joins, with a new account too."
            ),
            username=username,
        )
    membership, added = Membership.objects.get_or_create(project=project, user=user, role=role)
    if added:
        events.record(
            "member.added", membership, project=project, actor=by, user=user.username, role=role
        )
        follow(project, user, by=by)
    return membership


@transactions.atomic
def remove_member(*, membership: Membership, by: User, to: User | None = None) -> HandedOn:
    """Take a role away. What the person has labeled stays theirs, with their name.

    Their pages, keys and tokens open nothing from here on; ``to`` gets their open work, see
    :func:`follow`.
    """
    project = membership.project
    keep_a_lead(project, without=[membership.pk])
    events.record(
        "member.removed",
        membership,
        project=project,
        actor=by,
        user=membership.user.get_username(),
        role=membership.role,
    )
    Membership.objects.filter(pk=membership.pk).delete()
    return follow(project, membership.user, by=by, to=to)


@transactions.atomic
def follow(project: Project, user: User, *, by: User | None, to: User | None = None) -> HandedOn:
    """After a change of roles: hand on what somebody can no longer do, or give it back."""
    if not project.memberships.filter(user=user, role=ANNOTATOR).exists():
        return handovers.hand_on(project=project, person=user, by=by, to=to)
    handovers.take_up(project=project, person=user)
    return NOTHING
