"""Who does what a command does: everything that it writes names a person.

A request has a user. A command has the person that its ``--as`` names, or else the account of the
command line, which is called after the user of the operating system and which nobody can sign in
with.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches

from django.contrib.auth.models import User

from labeling.domain.errors import RuleError
from labeling.domain.msgids import msgid

CONSOLE_BEGINS = "command line ("
CONSOLE = f"{CONSOLE_BEGINS}{{user}})"


class UnknownPerson(RuleError, code="unknown_person"):
    """``--as`` names nobody."""


_name: ContextVar[str | None] = ContextVar("acting", default=None)


@contextmanager
def acting(name: str) -> Iterator[None]:
    """Within it, what is written without another actor is by this person; empty: the console's."""
    if name:
        _named(name)
    token = _name.set(name)
    try:
        yield
    finally:
        _name.reset(token)


def person() -> User | None:
    """None outside of commands. The console's account is made when it first writes something."""
    name = _name.get()
    if name is None:
        return None
    return _named(name) if name else _of_console()


def chosen() -> User | None:
    """Whom ``--as`` names: who also leads the project that a command makes."""
    return _named(name) if (name := _name.get()) else None


def is_console(user: User | None) -> bool:
    """Whether this is nobody who could have been asked something before."""
    return user is not None and user.get_username().startswith(CONSOLE_BEGINS)


def _named(name: str) -> User:
    user = User.objects.filter(username=name).first()
    if user is None:
        names = list(User.objects.filter(is_active=True).values_list("username", flat=True))
        near = get_close_matches(name, names, n=1)
        if near:
            raise UnknownPerson(
                msgid("Nobody is called “{name}”. Did you mean {near}?"), name=name, near=near[0]
            )
        raise UnknownPerson(
            msgid("Nobody is called “{name}”: name an account with --as."), name=name
        )
    return user


def _of_console() -> User:
    """No password fits it, and it is not active."""
    user, _ = User.objects.get_or_create(
        username=CONSOLE.format(user=_system_user()),
        defaults={"is_active": False, "password": "!"},
    )
    return user


def _system_user() -> str:
    """Not from the environment, where anybody may write anything."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # a container may run under a number without a name
        return f"uid {os.geteuid()}"
