"""Tokens for programs, each of which acts as the person who made it."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from labeling.domain.secrets import digest_of, make_secret
from labeling.models import ApiToken
from labeling.services import events

PREFIX = "assay_"
USE_RESOLUTION = timedelta(minutes=1)  # a program that asks all the time writes once a minute


class Issued(NamedTuple):
    """A new token, and the only sight of its secret."""

    token: ApiToken
    secret: str


def of_user(user: User) -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(user=user, revoked_at__isnull=True)


@transaction.atomic
def issue(*, user: User, name: str) -> Issued:
    secret = make_secret(PREFIX)
    token = ApiToken.objects.create(user=user, name=name, digest=digest_of(secret))
    events.record("token.issued", token, project=None, actor=user, name=name)
    return Issued(token, secret)


@transaction.atomic
def revoke(token: ApiToken, *, by: User) -> None:
    """Revoking again changes nothing."""
    fresh = ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True)
    if fresh.update(revoked_at=timezone.now()):
        events.record("token.revoked", token, project=None, actor=by, name=token.name)


@transaction.atomic
def revoke_all(*, user: User) -> int:
    """How many tokens of a person have just ended."""
    working = list(of_user(user))
    for token in working:
        revoke(token, by=user)
    return len(working)


def use(secret: str) -> User | None:
    """The person a token acts as, and a note of when; None if it opens nothing."""
    token = (
        ApiToken.objects.select_related("user")
        .filter(digest=digest_of(secret), revoked_at__isnull=True, user__is_active=True)
        .first()
    )
    if token is None:
        return None
    now = timezone.now()
    if token.last_used_at is None or token.last_used_at < now - USE_RESOLUTION:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token.user
