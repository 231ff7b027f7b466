"""Passwords: changed by their owner, or set again by a link that works once and for one day.

The link comes by mail, or from a lead or an administrator. It holds Django's token, which ends with
the next change of the password, with the next sign-in, and after ``PASSWORD_RESET_TIMEOUT``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Thread

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import send_mail
from django.db import connections, transaction
from django.db.models import Q
from django.template.loader import render_to_string
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from labeling.domain.errors import RuleError
from labeling.models import Membership
from labeling.services import events, signing_in

logger = logging.getLogger(__name__)

MOST_MAILS = 3  # accounts that share an address


class LinkRefused(RuleError):
    """The link would open more than whoever makes it leads."""

    code = "password_link_refused"


def may_make_link(by: User, user: User) -> bool:
    """An administrator for everybody; a lead for members whose every role is in projects of theirs.

    Anything more would let a lead enter other projects, or the administration, in their name.
    """
    if by.is_superuser:
        return True
    if user.is_superuser or user.is_staff or not user.is_active:
        return False
    led = Membership.objects.filter(user=by, role=Membership.Role.LEAD).values("project")
    roles = Membership.objects.filter(user=user)
    return roles.exists() and not roles.exclude(project__in=led).exists()


@transaction.atomic
def make_link(user: User, *, by: User | None) -> list[str]:
    """What the address of the link is made of. ``by`` nobody: somebody at the server's console."""
    if by is not None and not may_make_link(by, user):
        raise LinkRefused("password.link_refused", user=user.username)
    events.record("password.link_made", user, project=None, actor=by, user=user.username)
    return _token(user)


def _token(user: User) -> list[str]:
    code = urlsafe_base64_encode(force_bytes(user.pk))
    return [code, default_token_generator.make_token(user)]


@transaction.atomic
def changed(user: User, *, session_key: str) -> int:
    """After a change by the owner: their other sessions end; says how many."""
    events.record("password.changed", user, project=None, actor=user, user=user.username)
    return signing_in.end_others(user, keep=session_key, by=user)


@transaction.atomic
def change_mail_address(user: User, email: str) -> None:
    user.email = email
    user.save(update_fields=["email"])
    events.record("mail_address.changed", user, project=None, actor=user, user=user.username)


@transaction.atomic
def set_again(user: User) -> None:
    """After a change by a link: all sessions end, and nobody's tries in vain count."""
    events.record("password.set_again", user, project=None, actor=user, user=user.username)
    signing_in.end_others(user, keep=None, by=user)
    signing_in.forgive(user)


def mail_works() -> bool:
    return bool(settings.MAIL_URL)


def send_links(name: str, address_of: Callable[[list[str]], str]) -> Thread:
    """Mail a link to whom the name or the mail address belongs.

    In a thread: how long it takes tells nobody whether there is such an account.
    """
    language = get_language()
    thread = Thread(target=_send_links, args=[name, address_of, language], name="mail")
    thread.start()
    return thread


def _send_links(name: str, address_of: Callable[[list[str]], str], language: str) -> None:
    try:
        with override(language):
            for user in _reachable(name):
                _send_link(user, address_of(_token(user)))
    except Exception:  # whoever asked has their answer already
        logger.exception("A link for a new password could not be sent.")
    finally:
        connections.close_all()


def _reachable(name: str) -> list[User]:
    named = Q(username__iexact=name) | Q(email__iexact=name)
    users = User.objects.filter(named, is_active=True).exclude(email="").order_by("pk")
    return [user for user in users[:MOST_MAILS] if user.has_usable_password()]


def _send_link(user: User, link: str) -> None:
    hours = settings.PASSWORD_RESET_TIMEOUT // 3600
    context = {"user": user, "link": link, "hours": hours}
    text = render_to_string("registration/password_mail.txt", context)
    send_mail(_("Assay: set a new password"), text, None, [user.email])
    events.record("password.mail_sent", user, project=None, user=user.username)
