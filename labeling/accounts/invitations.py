"""Invitations by link: who opens one becomes a member, with an old or a new account."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import BooleanField, Case, Exists, F, OuterRef, Q, QuerySet, When
from django.utils import timezone
from django.utils.translation import gettext as _

from labeling.accounts import accounts, mails
from labeling.core import events, members
from labeling.domain.errors import RuleError
from labeling.domain.msgids import msgid
from labeling.domain.secrets import digest_of, make_secret
from labeling.models import Invitation, Membership, Project

logger = logging.getLogger(__name__)

DAYS = 7
MOST_ASKED = 3
MOST_MAILS = 200
ADDRESS = re.compile(r"(?<![^\s<>,;@])[^\s<>,;@]++@[^\s<>,;@]+")


class InvitationOver(RuleError, code="invitation_over"):
    """The link was used up, has expired, was revoked, or its lead does not lead any more."""


class Invited(NamedTuple):
    """A new invitation, and the only sight of its secret."""

    invitation: Invitation
    secret: str


def usable() -> Q:
    """An invitation speaks for a lead, so it opens nothing when they lead no longer."""
    return _unspent() & _from_a_lead()


def _unspent() -> Q:
    now = timezone.now()
    return Q(uses_left__gt=0, revoked_at__isnull=True, expires_at__gt=now)


def _from_a_lead() -> Q:
    led = Membership.objects.filter(
        project=OuterRef("project"), user=OuterRef("created_by"), role=Membership.Role.LEAD
    )
    leads = Q(Exists(led)) | Q(created_by__is_superuser=True)
    return leads & Q(created_by__is_active=True)


def of_project(project: Project) -> QuerySet[Invitation]:
    """Those with uses and days left, newest first; ``works`` is whether they let people in."""
    invitations = project.invitations.filter(_unspent()).select_related("created_by")
    works = Case(When(_from_a_lead(), then=True), default=False, output_field=BooleanField())
    return invitations.annotate(works=works)


@transaction.atomic
def invite(*, project: Project, role: str, by: User, invitee: str = "") -> Invited:
    """A link for one person."""
    secret = make_secret()
    invitation = Invitation.objects.create(
        project=project,
        role=role,
        invitee=invitee,
        digest=digest_of(secret),
        created_by=by,
        expires_at=timezone.now() + timedelta(days=DAYS),
    )
    events.record("invitation.created", invitation, project=project, actor=by, role=role)
    return Invited(invitation, secret)


class InvitedPeople(NamedTuple):
    """``added`` have an account, ``invited`` get a link; ``members`` had the role before."""

    added: list[str]
    invited: list[Invited]
    members: list[str]


@transaction.atomic
def invite_people(*, project: Project, role: str, by: User, people: Sequence[str]) -> InvitedPeople:
    """Let several people in, each by a user name, or by a link that works once.

    Inviting somebody again makes a new link, and the old one opens nothing any more.
    """
    result = InvitedPeople([], [], [])
    for person in dict.fromkeys(people):
        user = _account_of(person)
        if user is None:
            for earlier in of_project(project).filter(invitee=person, role=role):
                revoke(earlier, by=by)
            invited = invite(project=project, role=role, by=by, invitee=person)
            result.invited.append(invited)
            continue
        name = user.get_username()
        if project.memberships.filter(user=user, role=role).exists():
            result.members.append(name)
        else:
            members.add_member(project=project, username=name, role=role, by=by)
            result.added.append(name)
    return result


def mail(links: Mapping[Invitation, str], *, by: User) -> list[str]:
    """Mail each link to the address that it was made for, if it has one; returns the addresses.

    Nothing is mailed without a mail server, nor after ``MOST_MAILS`` of a person in a day.
    """
    if not mails.work():
        return []
    since = timezone.now() - timedelta(days=1)
    sent = Invitation.objects.filter(
        created_by=by, created_at__gt=since, invitee__contains="@"
    ).exclude(pk__in=[invitation.pk for invitation in links])
    left = max(0, MOST_MAILS - sent.count())
    sender = " ".join((by.get_full_name() or by.get_username()).split())  # a subject is one line
    wanted = [
        (
            address,
            {"project": invitation.project, "by": sender, "invitation": invitation, "link": link},
        )
        for invitation, link in links.items()
        if (address := _address_in(invitation.invitee))
    ][:left]
    transaction.on_commit(lambda: mails.in_background(_send, wanted))
    return [address for address, _ in wanted]


def _address_in(invitee: str) -> str:
    """Empty: there is none that a mail could be sent to."""
    match = ADDRESS.search(invitee)
    address = match[0] if match else ""
    try:
        validate_email(address)
    except ValidationError:
        return ""
    return address


def _send(wanted: Iterable[tuple[str, dict[str, Any]]]) -> None:
    for address, context in wanted:
        subject = _("Assay: {by} invites you").format(by=context["by"])
        try:
            mails.sending(subject, "invitation_mail", context)(address)
        except Exception:  # one that cannot be written or sent keeps nobody else from theirs
            logger.exception("An invitation could not be mailed.")


def _account_of(person: str) -> User | None:
    """Whose user name it is. Never by an address: nobody has confirmed that it is theirs."""
    if "@" in person:  # a user name may look like somebody else's address
        return None
    return User.objects.filter(username=person, is_active=True).first()


@transaction.atomic
def revoke(invitation: Invitation, *, by: User) -> None:
    """People who have joined stay members. Revoking again changes nothing."""
    fresh = Invitation.objects.filter(pk=invitation.pk, revoked_at__isnull=True)
    if fresh.update(revoked_at=timezone.now()):
        events.record(
            "invitation.revoked",
            invitation,
            project=invitation.project,
            actor=by,
            role=invitation.role,
        )


def find(secret: str) -> Invitation | None:
    """The invitation of a link, even one that is over; None if there never was one."""
    invitations = Invitation.objects.select_related("project", "created_by")
    return invitations.filter(digest=digest_of(secret)).first()


def opens(invitation: Invitation) -> bool:
    return Invitation.objects.filter(usable(), pk=invitation.pk).exists()


def is_in(invitation: Invitation, user: User) -> bool:
    """Whether the user has the role already that the invitation gives."""
    return invitation.project.memberships.filter(user=user, role=invitation.role).exists()


def whom_to_ask(invitation: Invitation) -> str:
    """The people who lead the project now, by the names that they sign in with."""
    leads = invitation.project.memberships.filter(
        role=Membership.Role.LEAD, user__is_active=True
    ).order_by("user__username")
    return ", ".join(leads.values_list("user__username", flat=True)[:MOST_ASKED])


@transaction.atomic
def accept(invitation: Invitation, *, user: User) -> Membership:
    """Make the user a member. Who has the role already uses nothing up."""
    membership, is_new = Membership.objects.get_or_create(
        project=invitation.project,
        user=user,
        role=invitation.role,
    )
    if not is_new:
        return membership
    _use(invitation)
    events.record(
        "invitation.accepted",
        membership,
        project=invitation.project,
        actor=user,
        role=invitation.role,
        invitation=invitation.pk,
    )
    members.follow(invitation.project, user, by=user)
    return membership


@transaction.atomic
def accept_as_new(
    invitation: Invitation, *, username: str, password: str, full_name: str = ""
) -> User:
    """Make an account and a member of it, or neither.

    A link that was mailed has proved the address that it was mailed to.
    """
    email = _address_in(invitation.invitee) if mails.work() else ""
    user = accounts.create(accounts.NewAccount(username, password, full_name, email))
    accept(invitation, user=user)
    return user


def _use(invitation: Invitation) -> None:
    """One conditional update: of two people with the last use of a link, one gets in."""
    from_a_lead = Invitation.objects.filter(_from_a_lead(), pk=invitation.pk).exists()
    # Without a join: PostgreSQL looks again only at conditions on the row that it waited for.
    left = Invitation.objects.filter(_unspent(), pk=invitation.pk)
    if not from_a_lead or not left.update(uses_left=F("uses_left") - 1):
        raise InvitationOver(
            msgid("This invitation is over: ask a lead of the project for a new link.")
        )
