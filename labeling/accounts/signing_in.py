"""Signing in: how often somebody may try, and a note of all of it.

Tries in vain are counted in the database, so by all processes together: of an address with an
account, of an account, and of an address. After a few of them each further one is followed by a
pause, which doubles up to a limit. The pause of an account is short, because anybody can cause it;
a browser in which the person has signed in before is counted by itself and does not wait for it.

A try is counted before its password is looked at, so that many at once are no way around.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from unicodedata import normalize

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from labeling.core import events
from labeling.models import Tries

logger = logging.getLogger(__name__)

FORGOTTEN_AFTER = timedelta(hours=1)
"""After the last of them tries in vain count no more."""

FORGOTTEN_AT_ONCE = 1000


@dataclass(frozen=True)
class Limit:
    """``free`` tries in vain without a pause; then pauses in seconds from ``first`` to ``last``."""

    free: int
    first: int
    last: int

    def pause(self, failures: int) -> int:
        """Seconds after a number of failed tries.

        >>> [Limit(5, 10, 900).pause(tries) for tries in (4, 5, 6, 7, 100)]
        [0, 10, 20, 40, 900]
        """
        beyond = failures - self.free
        return 0 if beyond < 0 else min(self.first << min(beyond, 20), self.last)


HERE = Limit(free=5, first=10, last=900)
"""Of one account from one address, or from a browser that knows the account."""
ACCOUNT = Limit(free=20, first=5, last=60)
ADDRESS = Limit(free=50, first=10, last=900)
MAIL_TO_ACCOUNT = Limit(free=3, first=600, last=3600)
MAIL_FROM_ADDRESS = Limit(free=10, first=60, last=900)


@dataclass(frozen=True)
class Caller:
    """Who asks, as far as it is known before they are signed in."""

    address: str
    is_local: bool = False
    knows: str = ""  # a random id of the browser, if the person has signed in there before


@dataclass(frozen=True)
class Count:
    key: str
    limit: Limit


@dataclass(frozen=True)
class Ticket:
    """The outcome of asking for a try: ``wait`` seconds, or a try that counts until it succeeds."""

    counts: tuple[Count, ...]
    wait: int = 0


# --- tries ----------------------------------------------------------------------------------------


def counts_of(username: str, caller: Caller) -> tuple[Count, ...]:
    account = account_name(username)
    if caller.knows:
        return (Count(_key("browser", account, caller.knows), HERE),)
    return (
        Count(_key("here", account, caller.address), HERE),
        Count(_key("account", account), ACCOUNT),
        Count(_key("address", caller.address), ADDRESS),
    )


def counts_of_own(user: User) -> tuple[Count, ...]:
    """Of somebody who is signed in and has to give their password again."""
    return (Count(_key("own", str(user.pk)), HERE),)


def counts_of_mail(name: str, caller: Caller) -> tuple[Count, ...]:
    return (
        Count(_key("mail", _folded(name)), MAIL_TO_ACCOUNT),
        Count(_key("mail from", caller.address), MAIL_FROM_ADDRESS),
    )


@transaction.atomic
def begin(counts: Sequence[Count], *, username: str, caller: Caller) -> Ticket:
    """Count a try in advance, or say how long to wait. The first refusal of a pause is noted.

    A try that is refused makes no rows: made-up names would fill the table.
    """
    now = timezone.now()
    keys = [count.key for count in counts]
    is_refused = Tries.objects.filter(pk__in=keys, until__gt=now).exists()
    rows = _there(keys) if is_refused else _locked(counts)
    until = max((row.until for row in rows.values() if row.until), default=now)
    if is_refused or until > now:
        if not any(row.refused for row in rows.values()):
            Tries.objects.filter(pk__in=list(rows)).update(refused=True)
            _record("sign_in.throttled", username, caller, seconds=_seconds(until - now))
        return Ticket(tuple(counts), wait=_seconds(until - now))
    for count in counts:
        row = rows[count.key]
        row.failures = 1 if now - row.last_at > FORGOTTEN_AFTER else row.failures + 1
        pause = count.limit.pause(row.failures)
        row.last_at, row.refused = now, False
        row.until = now + timedelta(seconds=pause) if pause else None
        row.save()
    return Ticket(tuple(counts))


@transaction.atomic
def succeeded(ticket: Ticket) -> None:
    """The try was not in vain. What others have tried at this account or address stays counted."""
    rows = _locked(ticket.counts)
    for at, count in enumerate(ticket.counts):
        row = rows[count.key]
        row.failures = 0 if at == 0 else max(row.failures - 1, 0)
        if at == 0 or row.failures < count.limit.free:
            row.until = None
        row.save()


def forget() -> int:
    """Tries that are long past; what somebody is just counting is left to the next time."""
    long_past = Tries.objects.filter(last_at__lt=timezone.now() - FORGOTTEN_AFTER)
    with transaction.atomic():
        free = long_past.order_by("pk").select_for_update(skip_locked=True)
        keys = list(free.values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE])
        return Tries.objects.filter(pk__in=keys).delete()[0]


def failed(username: str, caller: Caller) -> None:
    _record("sign_in.failed", username, caller)


def refused_demo(username: str, caller: Caller) -> None:
    _record("sign_in.demo_refused", username, caller)


def forgive(user: User) -> None:
    """Somebody has shown in another way who they are: nobody's tries keep them waiting."""
    Tries.objects.filter(pk=_key("account", account_name(user.username))).delete()


def _locked(counts: Sequence[Count]) -> dict[str, Tries]:
    """The rows, made where they are missing, and always locked in the same order."""
    keys = sorted({count.key for count in counts})
    long_ago = timezone.now() - 2 * FORGOTTEN_AFTER
    missing = [Tries(key=key, last_at=long_ago) for key in keys]
    rows: dict[str, Tries] = {}
    while len(rows) < len(keys):  # one that was just forgotten is made again
        Tries.objects.bulk_create(missing, ignore_conflicts=True)
        rows = _there(keys)
    return rows


def _there(keys: Sequence[str]) -> dict[str, Tries]:
    locked = Tries.objects.select_for_update().filter(pk__in=keys).order_by("pk")
    return {row.key: row for row in locked}


def _record(verb: str, username: str, caller: Caller, **data: int) -> None:
    """A name that nobody has is not written down: it may be a password in the wrong field."""
    user = User.objects.filter(username=username).first()
    subject = user or Tries(key=_key("account", account_name(username))[:16])
    known = {"user": user.username} if user else {}
    events.record(verb, subject, project=None, address=caller.address, **known, **data)
    logger.warning("%s from %s%s", verb, caller.address, f" for {user.username}" if user else "")


def _key(*parts: str) -> str:
    text = "\0".join(parts).encode("utf-8", "replace")
    return hmac.new(settings.SECRET_KEY.encode(), text, hashlib.sha256).hexdigest()


def account_name(username: str) -> str:
    """As it is looked up. Capitals count: who has “Ana” must not forgive themselves tries at “ana”.

    >>> [account_name(name) for name in (" ana", "Ana", "\N{FULLWIDTH LATIN SMALL LETTER A}na")]
    ['ana', 'Ana', 'ana']
    """
    return normalize("NFKC", username).strip()[:150]


def _folded(name: str) -> str:
    """Of an address, or of a name that is looked up without regard to capitals."""
    return name.strip().casefold()[:254]


def _seconds(left: timedelta) -> int:
    return max(1, -int(-left.total_seconds() // 1))


def succeeded_as(user: User, caller: Caller) -> None:
    events.record("sign_in.succeeded", user, project=None, actor=user, address=caller.address)


def signed_out(user: User) -> None:
    events.record("sign_in.signed_out", user, project=None, actor=user)
