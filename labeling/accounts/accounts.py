"""New accounts: of people who come by an invitation, and of those made at the server's console."""

from __future__ import annotations

from typing import NamedTuple

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.db import IntegrityError, transaction

from labeling.core import events, members
from labeling.domain.errors import RuleError
from labeling.models import Project


class NameInUse(RuleError, code="name_in_use"):
    """Somebody else signs in with this name."""


class NewAccount(NamedTuple):
    """Without a password nobody signs in until the owner has set one by a link."""

    username: str
    password: str | None
    full_name: str = ""
    email: str = ""
    is_staff: bool = False
    is_superuser: bool = False


@transaction.atomic
def create(account: NewAccount) -> User:
    """Raises Django's ``ValidationError`` for a name or a password that it refuses."""
    first, _, last = account.full_name.partition(" ")
    username = User.normalize_username(account.username)
    user = User(
        username=username,
        first_name=first,
        last_name=last,
        email=User.objects.normalize_email(account.email),
        is_staff=account.is_staff or account.is_superuser,
        is_superuser=account.is_superuser,
    )
    if User.objects.filter(username__iexact=username).exists():  # “Rita” is not to pass for “rita”
        raise NameInUse("invitation.name_in_use", username=username)
    if account.password is not None:
        validate_password(account.password, user)
    user.set_password(account.password)
    user.full_clean()
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError:
        raise NameInUse("invitation.name_in_use", username=username) from None
    return user


@transaction.atomic
def create_at_console(
    account: NewAccount, *, project: Project | None, role: str, by: User | None
) -> User:
    """An account and its role, or neither."""
    user = create(account)
    events.record(
        "account.created",
        user,
        project=None,
        actor=by,
        user=user.username,
        staff=user.is_staff,
        administrator=user.is_superuser,
    )
    if project is not None:
        members.add_member(project=project, username=user.username, role=role, by=by)
    return user
