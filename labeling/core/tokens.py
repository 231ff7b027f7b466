"""Tokens for programs, each of which acts as the person who made it, within its scopes."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from labeling.core import events
from labeling.core.rules import scopes as domain
from labeling.core.rules.scopes import Scope
from labeling.domain.errors import RuleError
from labeling.domain.msgids import msgid
from labeling.domain.secrets import digest_of, make_secret
from labeling.models import ApiToken, Project

PREFIX = "assay_"
USE_RESOLUTION = timedelta(minutes=1)  # a program that asks all the time writes once a minute
MOST_ADDRESSES = 20  # in a day: who changes theirs with each request fills no log
DAYS = 90
MOST_DAYS = 365


class TokenRefused(RuleError, code="token_refused"):
    """No token can have these scopes, projects or days."""


class ScopeMissing(RuleError, code="scope_missing"):
    """The token of the request was made for something else."""


class Issued(NamedTuple):
    """A new token, and the only sight of its secret."""

    token: ApiToken
    secret: str


def of_user(user: User) -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(user=user, revoked_at__isnull=True)


def described(user: User) -> list[Any]:
    """What works or has expired, newest first, for the page of its owner.

    ``projects`` are the names of those that each is limited to; None: not limited.
    """
    rows: list[Any] = list(of_user(user))
    keys = {key for token in rows for key in token.project_ids or ()}
    names = dict(Project.objects.filter(pk__in=keys).values_list("pk", "name"))
    for token in rows:
        own = token.project_ids
        token.projects = own and sorted(names[key] for key in own if key in names)
    return rows


@transaction.atomic
def issue(
    *,
    user: User,
    name: str,
    scopes: Collection[str] = domain.ALL,
    projects: Collection[Project] = (),
    days: int = DAYS,
    by: User | None = None,
) -> Issued:
    """``projects``: none means all that the user has. ``by``: who makes it, if not the user."""
    held = [scope.value for scope in Scope if scope in scopes]
    if not held or len(held) < len(set(scopes)):
        raise TokenRefused(
            msgid("Choose at least one of these scopes: {scopes}."),
            scopes=[scope.value for scope in Scope],
        )
    if not 1 <= days <= MOST_DAYS:
        raise TokenRefused(msgid("A token works for 1 to {most} days."), most=MOST_DAYS)
    visible = Project.objects.visible_to(user)
    if len(projects) > visible.filter(pk__in=[project.pk for project in projects]).count():
        raise TokenRefused(
            msgid("A token can be limited only to projects that {user} has a role in."),
            user=user.get_username(),
        )
    secret = make_secret(PREFIX)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        digest=digest_of(secret),
        expires_at=timezone.now() + timedelta(days=days),
        scopes=held,
        project_ids=sorted(project.pk for project in projects) or None,
    )
    limits = {"scopes": held, "projects": sorted(project.slug for project in projects)}
    owner = {"user": user.get_username(), "days": days}
    events.record(
        "token.issued", token, project=None, actor=by or user, name=name, **owner, **limits
    )
    return Issued(token, secret)


@transaction.atomic
def revoke(token: ApiToken, *, by: User) -> None:
    """Revoking again changes nothing."""
    fresh = ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True)
    if fresh.update(revoked_at=timezone.now()):
        events.record("token.revoked", token, project=None, actor=by, name=token.name)


def use(secret: str, *, address: str = "") -> ApiToken | None:
    """The token, with the person it acts as, and a note of when; None if it opens nothing.

    One that has expired is returned, so that its owner can read why; nothing is noted of it.
    """
    token = (
        ApiToken.objects.select_related("user")
        .filter(digest=digest_of(secret), revoked_at__isnull=True, user__is_active=True)
        .first()
    )
    if token is None or token.has_expired:
        return token
    now = timezone.now()
    if token.last_used_at is None or token.last_used_at < now - USE_RESOLUTION:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    if address and token.used_from.get(address) != str(now.date()):
        _note_address(token.pk, address, str(now.date()))
    return token


@transaction.atomic
def _note_address(pk: int, address: str, today: str) -> None:
    """In the audit log once a day for each address, and for a few of them at most."""
    token = ApiToken.objects.select_for_update().get(pk=pk)
    if token.used_from.get(address) == today:
        return
    of_today = {each: day for each, day in token.used_from.items() if day == today}
    if len(of_today) >= MOST_ADDRESSES:
        return
    token.used_from = {**of_today, address: today}
    token.save(update_fields=["used_from"])
    events.record(
        "token.used", token, project=None, actor=token.user, name=token.name, address=address
    )


def require(token: ApiToken, needed: Collection[Scope]) -> None:
    if not domain.allows(token.scopes, needed):
        names = [scope.value for scope in needed]
        details = {"needed": names, "scopes": token.scopes}
        raise ScopeMissing(
            msgid("This needs a token with the scope {needed: /}; “{name}” doesn't have it."),
            needed=names,
            name=token.name,
            details=details,
        )
