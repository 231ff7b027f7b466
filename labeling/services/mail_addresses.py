"""Mail addresses of people: what is in ``User.email`` is confirmed, or an administrator wrote it.

An address that somebody gives waits until they open the link that was mailed there, signed in to
the same account: else anybody could take the address of somebody else for theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.db import transaction
from django.utils.translation import gettext as _

from labeling.models import UnconfirmedAddress
from labeling.services import events, mails

SALT = "labeling.mail_address"


def waiting_of(user: User) -> str:
    """The address that the person has given and not confirmed; empty if there is none."""
    waiting = UnconfirmedAddress.objects.filter(user=user).first()
    return waiting.address if waiting else ""


@transaction.atomic
def give(user: User, address: str) -> bool:
    """Whether it waits to be confirmed. Without an address there is nothing to confirm."""
    UnconfirmedAddress.objects.filter(user=user).delete()
    if address and address != user.email:
        UnconfirmedAddress.objects.create(user=user, address=address)
        events.record("mail_address.given", user, project=None, actor=user, user=user.username)
        return True
    if address != user.email:
        _store(user, address)
    return False


def send_link(user: User, address: str, address_of: Callable[[str], str]) -> Thread:
    hours = settings.PASSWORD_RESET_TIMEOUT // 3600
    link = address_of(signing.dumps([user.pk, address], salt=SALT))
    context = {"user": user, "link": link, "hours": hours}
    send = mails.sending(_("Assay: confirm your mail address"), "confirm_mail", context)
    return mails.in_background(send, address)


def read(user: User, token: str) -> str:
    """The address that a link confirms for this person; empty if the link is over."""
    try:
        key, address = signing.loads(token, salt=SALT, max_age=settings.PASSWORD_RESET_TIMEOUT)
    except signing.BadSignature:
        return ""
    waits = UnconfirmedAddress.objects.filter(user=user, address=address)
    return str(address) if key == user.pk and waits.exists() else ""


@transaction.atomic
def confirm(user: User, address: str) -> None:
    """Only what waits: the same link, opened again, changes nothing."""
    if UnconfirmedAddress.objects.filter(user=user, address=address).delete()[0]:
        _store(user, address)


def _store(user: User, address: str) -> None:
    user.email = address
    user.save(update_fields=["email"])
    events.record("mail_address.changed", user, project=None, actor=user, user=user.username)
