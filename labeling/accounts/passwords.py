"""Passwords: changed by their owner, or set again by a link that works once and for one day.

The link comes by mail, or from the server's console. It holds Django's token, which ends with the
next change of the password, with the next sign-in, and after ``PASSWORD_RESET_TIMEOUT``.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _

from labeling.accounts import mails, signing_in
from labeling.core import events

MOST_MAILS = 3  # accounts that share an address


@transaction.atomic
def make_link(user: User, *, by: User | None) -> list[str]:
    """What the address of the link is made of, for somebody at the server's console."""
    events.record("password.link_made", user, project=None, actor=by, user=user.username)
    return _parts(user)


def _parts(user: User) -> list[str]:
    token = default_token_generator.make_token(user)
    return [urlsafe_base64_encode(force_bytes(user.pk)), token]


def changed(user: User) -> None:
    """By the owner. Django ends all other sessions, whose hash is of the password before."""
    events.record("password.changed", user, project=None, actor=user, user=user.username)


@transaction.atomic
def set_again(user: User) -> None:
    """By a link: all sessions end, and nobody's tries in vain count."""
    events.record("password.set_again", user, project=None, actor=user, user=user.username)
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
