"""Passwords: changed by their owner, or set again by a link that works once and for one day.

The link comes by mail, or from a lead or an administrator. It holds Django's token, which ends with
the next change of the password, with the next sign-in, and after ``PASSWORD_RESET_TIMEOUT``; it
also ends with any change of the person's roles, and with its maker's right to make it.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.encoding import force_bytes
from django.utils.http import base36_to_int, int_to_base36, urlsafe_base64_encode
from django.utils.translation import gettext as _

from labeling.accounts import mails, signing_in
from labeling.core import events
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.models import Membership, Round

MOST_MAILS = 3  # accounts that share an address


class LinkRefused(RuleError):
    """The link would open more than its maker leads, or an account whose owner never agreed."""

    code = "password_link_refused"


def why_no_link(by: User, user: User) -> Fact | None:
    """Why somebody may not make a link for an account; None if they may.

    An administrator may for everybody. A lead may for members whose every role is in projects of
    theirs: anything more would let a lead enter other projects, or the administration, in their
    name. Adding somebody takes no consent, so they must have joined one of these projects
    themselves, by an invitation. And nobody enters a blind round as somebody who labels in it.
    """
    if by.is_active and by.is_superuser:
        return None
    led = Membership.objects.filter(user=by, role=Membership.Role.LEAD).values("project")
    roles = Membership.objects.filter(user=user)
    within = roles.exists() and not roles.exclude(project__in=led).exists()
    if not (by.is_active and user.is_active) or user.is_superuser or user.is_staff or not within:
        return Fact(
            msgid(
                "{user} also works where you do not lead, or administers this server: "
                "only an administrator can make this link."
            ),
            user=user.username,
        )
    if not roles.filter(by_invitation=True).exists():
        return Fact(
            msgid(
                "{user} was added by name and has never joined a project of yours by an "
                "invitation link, so nobody has agreed to this: only an administrator can"
                " make this link."
            ),
            user=user.username,
        )
    if Round.objects.blind().filter(assignments__annotator=user).exists():
        return Fact(
            msgid(
                "{user} labels in an open calibration round, which is blind: until it "
                "closes, only an administrator can make this link."
            ),
            user=user.username,
        )
    return None


@transaction.atomic
def make_link(user: User, *, by: User | None) -> list[str]:
    """What the address of the link is made of. ``by`` nobody: somebody at the server's console."""
    if by is not None and (why := why_no_link(by, user)):
        raise LinkRefused(why)
    events.record("password.link_made", user, project=None, actor=by, user=user.username)
    if user.email and mails.work() and user != by:
        context = {"user": user, "by": by.username if by else ""}
        tell = mails.sending(_("Assay: a link for your account"), "link_made_mail", context)
        transaction.on_commit(lambda: mails.in_background(tell, user.email))
    return _parts(user, by)


def _parts(user: User, by: User | None = None) -> list[str]:
    return [urlsafe_base64_encode(force_bytes(user.pk)), LinkTokens().make_token(user, by)]


class _Token(PasswordResetTokenGenerator):
    """Django's token, which ends with any change of the person's rights, too."""

    key_salt = "labeling.accounts.passwords"

    def __init__(self, by: User | None) -> None:
        super().__init__()
        self._by = by

    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        roles = list(user.memberships.order_by("pk").values_list("pk", "role"))
        rights = [user.is_superuser, user.is_staff, user.is_active, roles]
        of_maker = self._by.pk if self._by else None
        return f"{super()._make_hash_value(user, timestamp)} {rights} {of_maker}"


class LinkTokens:
    """Made and checked as ``PasswordResetConfirmView`` wants it, with each look at the form.

    A token names who has made it, whose right to do so is asked again.
    """

    def make_token(self, user: User, by: User | None = None) -> str:
        token = _Token(by).make_token(user)
        return f"{int_to_base36(by.pk)}_{token}" if by else token

    def check_token(self, user: User | None, token: str | None) -> bool:
        if user is None or not token:
            return False
        name, _, rest = token.rpartition("_")
        if not name:
            return _Token(None).check_token(user, rest)
        try:
            maker = User.objects.filter(pk=base36_to_int(name)).first()
        except ValueError:
            return False
        return bool(
            maker and _Token(maker).check_token(user, rest) and why_no_link(maker, user) is None
        )


@transaction.atomic
def changed(user: User, *, session_key: str) -> int:
    """After a change by the owner: their other sessions end; says how many."""
    events.record("password.changed", user, project=None, actor=user, user=user.username)
    return signing_in.end_others(user, keep=session_key, by=user)


@transaction.atomic
def set_again(user: User) -> None:
    """After a change by a link: all sessions end, and nobody's tries in vain count."""
    events.record("password.set_again", user, project=None, actor=user, user=user.username)
    signing_in.end_others(user, keep=None, by=user)
    signing_in.forgive(user)


def send_links(name: str, address_of: Callable[[list[str]], str]) -> Thread:
    """Mail a link to whom the name or the mail address belongs.

    In a thread: how long it takes tells nobody whether there is such an account.
    """
    return mails.in_background(_send_links, name, address_of)


def _send_links(name: str, address_of: Callable[[list[str]], str]) -> None:
    for user in _reachable(name):
        hours = settings.PASSWORD_RESET_TIMEOUT // 3600
        context = {"user": user, "link": address_of(_parts(user)), "hours": hours}
        mails.sending(_("Assay: set a new password"), "password_mail", context)(user.email)
        events.record("password.mail_sent", user, project=None, user=user.username)


def _reachable(name: str) -> list[User]:
    """First those whose address it is: anybody may choose a user name that looks like one."""
    users = [*_with_address(Q(email__iexact=name)), *_with_address(Q(username__iexact=name))]
    return [user for user in dict.fromkeys(users) if user.has_usable_password()]


def _with_address(named: Q) -> QuerySet[User]:
    users = User.objects.filter(named, is_active=True).exclude(email="").order_by("pk")
    return users[:MOST_MAILS]
