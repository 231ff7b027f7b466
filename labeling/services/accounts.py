"""New accounts: of people who come by an invitation, and of those made at the server's console."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.db import IntegrityError, transaction

from labeling.domain.errors import RuleError
from labeling.models import Project
from labeling.services import events, members


class NameInUse(RuleError):
    """Somebody else signs in with this name."""

    code = "name_in_use"


@transaction.atomic
def create(
    *,
    username: str,
    password: str | None,
    full_name: str = "",
    email: str = "",
    is_staff: bool = False,
    is_superuser: bool = False,
) -> User:
    """Without a password nobody signs in until the owner has set one by a link.

    Raises Django's ``ValidationError`` for a name or a password that it refuses.
    """
    first, _, last = full_name.partition(" ")
    username = User.normalize_username(username)
    user = User(
        username=username,
        first_name=first,
        last_name=last,
        email=User.objects.normalize_email(email),
        is_staff=is_staff or is_superuser,
        is_superuser=is_superuser,
    )
    if User.objects.filter(username__iexact=username).exists():  # “Rita” is not to pass for “rita”
        raise NameInUse("invitation.name_in_use", username=username)
    if password is not None:
        validate_password(password, user)
    user.set_password(password)
    user.full_clean()
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError:
        raise NameInUse("invitation.name_in_use", username=username) from None
    return user


@transaction.atomic
def create_at_console(
    *,
    username: str,
    password: str | None,
    full_name: str,
    email: str,
    is_staff: bool,
    is_superuser: bool,
    project: Project | None,
    role: str,
    by: User | None,
) -> User:
    """An account and its role, or neither."""
    user = create(
        username=username,
        password=password,
        full_name=full_name,
        email=email,
        is_staff=is_staff,
        is_superuser=is_superuser,
    )
    events.record(
        "account.created",
        user,
        project=None,
        actor=by,
        user=username,
        staff=user.is_staff,
        administrator=is_superuser,
    )
    if project is not None:
        members.add_member(project=project, username=username, role=role, by=by)
    return user
