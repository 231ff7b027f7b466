"""Mail addresses of people: what is in ``User.email`` is confirmed, or an administrator wrote it.

An address is stored when somebody opens the link that was mailed there, signed in to the account
that asked for it: else anybody could take the address of somebody else for theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.db import transaction
from django.utils.translation import gettext as _

from labeling.accounts import mails
from labeling.core import events

SALT = "labeling.mail_address"


def send_link(user: User, address: str, address_of: Callable[[str], str]) -> Thread:
    """It names the address of today, too: a link works once."""
    events.record("mail_address.given", user, project=None, actor=user, user=user.username)
    hours = settings.PASSWORD_RESET_TIMEOUT // 3600
    link = address_of(signing.dumps([user.pk, user.email, address], salt=SALT))
    context = {"user": user, "link": link, "hours": hours}
    send = mails.sending(_("Assay: confirm your mail address"), "confirm_mail", context)
    return mails.in_background(send, address)


def read(user: User, token: str) -> str:
    """The address that a link confirms for this person; empty if the link is over."""
    try:
        *of, address = signing.loads(token, salt=SALT, max_age=settings.PASSWORD_RESET_TIMEOUT)
    except signing.BadSignature:
        return ""
    return str(address) if of == [user.pk, user.email] else ""


@transaction.atomic
def store(user: User, address: str) -> None:
    user.email = address
    user.save(update_fields=["email"])
    events.record("mail_address.changed", user, project=None, actor=user, user=user.username)
