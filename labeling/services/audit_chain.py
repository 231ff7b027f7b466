"""Linking the events of the audit log to a chain, and reading the chain against them.

Events are written without a link, so that nobody who labels waits for anybody. One linker at a
time appends what has no link yet: with the sweep of every worker, when gold is frozen, and before
the chain is read. What was appended is on the log of the process, too, which other systems keep.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from labeling.domain.audit_chain import (
    START,
    TOLERANCE,
    AuditHead,
    EventRecord,
    event_text,
    link_sha256,
)
from labeling.domain.facts import Fact
from labeling.models import Event, EventLink, GoldRelease, LogCheck
from labeling.services.wakeups import Wakeups

logger = logging.getLogger(__name__)

BATCH = 1_000
"""How many events are linked at once: some 30 ms, for which SQLite keeps other writers waiting."""

LATE = 10_000
"""Ids behind the newest linked one that a sweep looks at again.

PostgreSQL numbers events when they are written and shows them when they are committed, which may
be in another order. Freezing and checking look at all of them.
"""

CHECK_EVERY = timedelta(days=1)

SHOWN = 20
"""Faults of one check that go to the log of the process."""

_messages = Wakeups("labeling.tasks.check_log")


class LogFault(NamedTuple):
    """A place where the log is not what it was; ``event`` is None where no event is there."""

    position: int
    event: int | None
    fact: Fact


# --- linking --------------------------------------------------------------------------------------


def link_events(*, at_most: int | None = None) -> int:
    """Append every event that has no link yet, oldest id first; returns how many.

    ``at_most`` limits one call, which then looks only at recent ids. Repeating it is harmless, and
    so is stopping it anywhere: each batch is one transaction.
    """
    after = 0
    if at_most is not None:
        newest = EventLink.objects.aggregate(newest=Max("event_id"))["newest"] or 0
        after = newest - LATE
    linked = 0
    while at_most is None or linked < at_most:
        if not _unlinked(after).exists():
            break
        last, n_linked = _link_batch(after)
        after, linked = max(after, last), linked + n_linked
    if linked and (newest_link := head()):
        logger.info("The audit log is linked up to event %(event)s: %(sha256)s", newest_link)
    return linked


def _unlinked(after: int) -> QuerySet[Event]:
    return Event.objects.filter(pk__gt=after, link__isnull=True).order_by("pk")


@transaction.atomic
def _link_batch(after: int) -> tuple[int, int]:
    """The last id and the number of events that were linked."""
    if connection.vendor == "postgresql":  # SQLite lets one transaction write at a time anyway
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE labeling_eventlink IN SHARE ROW EXCLUSIVE MODE")
    newest = head()
    previous = newest["sha256"] if newest else START
    position = newest["position"] if newest else 0
    links = []
    for event in _records(_unlinked(after)[:BATCH]):
        position += 1
        sha256 = link_sha256(previous, event_text(event))
        links.append(
            EventLink(position=position, event_id=event.pk, previous=previous, sha256=sha256)
        )
        previous = sha256
    EventLink.objects.bulk_create(links)
    return (links[-1].event_id if links else after), len(links)


def head() -> AuditHead | None:
    """The end of the chain now; None before anything is linked."""
    return EventLink.objects.order_by("-position").values("position", "event", "sha256").first()


def _records(events: QuerySet[Event]) -> Iterator[EventRecord]:
    columns = ("pk", "project__slug", "actor_id", "verb", "object_type", "object_id", "data", "at")
    return (EventRecord(*row) for row in events.values_list(*columns))


# --- reading it against the events ----------------------------------------------------------------


def faults() -> Iterator[LogFault]:
    """Everything that is not as it was linked, in the order of the chain.

    What was linked a moment ago is read as well, so call ``link_events`` before. Memory does not
    grow with the log.
    """
    anchors = _anchors()
    expected, previous, latest = 1, START, None
    for link, event in _links_with_events():
        if link.position != expected:
            missing = Fact("audit.links_missing", first=expected, last=link.position - 1)
            yield LogFault(expected, None, missing)
        elif link.previous != previous:
            fact = Fact("audit.link_broken", position=link.position, event=link.event_id)
            yield LogFault(link.position, link.event_id, fact)
        yield from _event_faults(link, event, latest)
        if event is not None:
            latest = max(latest or event.at, event.at)
        for claim in anchors.pop(link.position, ()):
            if claim.head["sha256"] != link.sha256:
                yield claim.fault("audit.head_differs")
        expected, previous = link.position + 1, link.sha256
    for claims in anchors.values():
        yield from (claim.fault("audit.head_missing") for claim in claims)


def faults_about(event: Event) -> Iterator[Fact]:
    """Whether one event is as it was linked; nothing is said of one that has no link yet.

    The link after it has its hash: who computes one link again must compute all that follow.
    """
    link = EventLink.objects.filter(event=event).first()
    if link is not None:
        [record] = _records(Event.objects.filter(pk=event.pk))
        yield from (fault.fact for fault in _event_faults(link, record, None))
        following = EventLink.objects.filter(position=link.position + 1).first()
        if following is not None and following.previous != link.sha256:
            position, event_id = following.position, following.event_id
            yield Fact("audit.link_broken", position=position, event=event_id)


def has_head(stated: AuditHead) -> bool:
    """Whether the chain still has this link, which once was its end."""
    return EventLink.objects.filter(
        position=stated["position"], event=stated["event"], sha256=stated["sha256"]
    ).exists()


def _event_faults(
    link: EventLink, event: EventRecord | None, latest: datetime | None
) -> Iterator[LogFault]:
    if event is None:
        fact = Fact("audit.event_removed", event=link.event_id)
        yield LogFault(link.position, link.event_id, fact)
        return
    if link_sha256(link.previous, event_text(event)) != link.sha256:
        fact = Fact("audit.event_changed", event=event.pk, verb=event.verb)
        yield LogFault(link.position, event.pk, fact)
    if latest is not None and event.at < latest - TOLERANCE:
        fact = Fact("audit.event_backdated", event=event.pk, verb=event.verb)
        yield LogFault(link.position, event.pk, fact)


def _links_with_events() -> Iterator[tuple[EventLink, EventRecord | None]]:
    last = 0
    while links := list(EventLink.objects.filter(position__gt=last)[:BATCH]):
        last = links[-1].position
        events = Event.objects.filter(pk__in=[link.event_id for link in links])
        by_pk = {event.pk: event for event in _records(events)}
        for link in links:
            yield link, by_pk.get(link.event_id)


class _Claim(NamedTuple):
    """A head that something else says the chain had."""

    by: Fact
    head: AuditHead

    def fault(self, code: str) -> LogFault:
        fact = Fact(code, by=self.by, position=self.head["position"], event=self.head["event"])
        return LogFault(self.head["position"], None, fact)


def _anchors() -> dict[int, list[_Claim]]:
    """By position, the heads that signed releases and earlier checks name."""
    claims: dict[int, list[_Claim]] = {}
    for claim in (*_of_releases(), *_of_checks()):
        claims.setdefault(claim.head["position"], []).append(claim)
    return claims


def _of_releases() -> Iterator[_Claim]:
    releases = GoldRelease.objects.filter(header__contains='"audit_head":').order_by("pk")
    for release in releases.only("name", "version", "header").iterator():
        if said := _said_head(release.header):
            yield _Claim(Fact("audit.by_release", release=str(release)), said)


def _said_head(header: str) -> AuditHead | None:
    """None where the header is no longer what a release writes, which verify_gold names."""
    try:
        said: Any = json.loads(header)["audit_head"]
        return {
            "position": int(said["position"]),
            "event": int(said["event"]),
            "sha256": str(said["sha256"]),
        }
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None


def _of_checks() -> Iterator[_Claim]:
    for check in LogCheck.objects.order_by("pk").iterator():
        said: AuditHead = {
            "position": check.position,
            "event": check.event,
            "sha256": check.sha256,
        }
        yield _Claim(Fact("audit.by_check", at=check.at.isoformat(timespec="seconds")), said)


# --- checks on record -----------------------------------------------------------------------------


class CheckedLog(NamedTuple):
    head: AuditHead | None
    n_faults: int


def check(report: Callable[[LogFault], object] = lambda fault: None) -> CheckedLog:
    """Link, read the whole chain, and put on record what came of it; each fault is reported."""
    link_events()
    newest, n_faults = head(), 0
    for fault in faults():
        n_faults += 1
        report(fault)
        if n_faults <= SHOWN:
            logger.error("The audit log is not intact: %s", fault.fact)
    if newest is not None:
        LogCheck.objects.create(n_faults=n_faults, **newest)
    return CheckedLog(newest, n_faults)


def sweep() -> None:
    """Link what is new, and have the whole log checked once a day."""
    link_events(at_most=10 * BATCH)
    newest = LogCheck.objects.first()
    is_due = newest is None or newest.at < timezone.now() - CHECK_EVERY
    if is_due and EventLink.objects.exists():
        _messages.send_again(0)
