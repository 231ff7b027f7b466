"""The audit log is a chain: what was removed, put in, changed or cut off is named."""

from __future__ import annotations

from datetime import timedelta
from threading import Thread

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from labeling.domain.audit_chain import START
from labeling.models import Event, EventLink, GoldRelease, LogCheck, Project, guards
from labeling.services import audit_chain, events
from labeling.words import in_english
from tests import factories
from tests.pages import page, queries

pytestmark = pytest.mark.django_db


@pytest.fixture
def log(project: Project, ana: User) -> list[Event]:
    """Five linked events, and nothing else in the log."""
    audit_chain.link_events()
    before = EventLink.objects.count()
    written = [
        events.record("round.passed", project, project=project, actor=ana, kappa=number / 10)
        for number in range(5)
    ]
    assert audit_chain.link_events() == 5
    assert EventLink.objects.count() == before + 5
    return written


def found() -> list[str]:
    return [in_english(fault.fact) for fault in audit_chain.faults()]


def run_sql(statement: str, *values: object) -> None:
    """As somebody with full power over the database."""
    guards.remove(connection)
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def test_each_link_covers_the_one_before_and_a_repeated_run_adds_nothing(log: list[Event]) -> None:
    links = list(EventLink.objects.order_by("position"))

    assert [link.position for link in links] == list(range(1, len(links) + 1))
    hashes = [START, *(link.sha256 for link in links)]
    assert [link.previous for link in links] == hashes[:-1]
    assert audit_chain.link_events() == 0
    assert found() == []


def test_an_event_that_is_committed_late_is_linked_after_events_with_higher_ids(
    log: list[Event],
) -> None:
    """PostgreSQL shows events in the order of their commits."""
    late = EventLink.objects.get(event=log[2])
    run_sql("DELETE FROM labeling_eventlink WHERE position >= %s", late.position)
    with_ids = Event.objects.exclude(pk=log[2].pk).filter(link=None)
    for event in with_ids.order_by("pk"):
        link_alone(event)

    assert audit_chain.link_events() == 1
    assert audit_chain.head() == {
        "position": late.position + 2,
        "event": log[2].pk,
        "sha256": EventLink.objects.get(event=log[2]).sha256,
    }
    assert found() == []


def link_alone(event: Event) -> None:
    """Link this event alone, as if it were the only one that can be seen."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_chain, "_unlinked", lambda after: Event.objects.filter(pk=event.pk))
        audit_chain._link_batch(0)


def test_a_changed_event_is_named(log: list[Event]) -> None:
    run_sql("UPDATE labeling_event SET actor_id = NULL WHERE id = %s", log[1].pk)

    assert found() == [f"Event {log[1].pk} (round.passed) is not what was linked"]


def test_an_event_that_was_removed_with_its_link_is_named(log: list[Event]) -> None:
    position = EventLink.objects.get(event=log[1]).position
    run_sql("DELETE FROM labeling_eventlink WHERE event_id = %s", log[1].pk)
    run_sql("DELETE FROM labeling_event WHERE id = %s", log[1].pk)

    assert found() == [f"Links {position} to {position} were removed, with what they linked"]


def test_a_gap_that_was_closed_by_new_positions_is_named(log: list[Event]) -> None:
    position = EventLink.objects.get(event=log[1]).position
    run_sql("DELETE FROM labeling_eventlink WHERE event_id = %s", log[1].pk)
    for number in range(position, position + 3):
        move = "UPDATE labeling_eventlink SET position = %s WHERE position = %s"
        run_sql(move, number, number + 1)

    assert found() == [
        f"The link of event {log[2].pk}, position {position}, does not follow the link before it"
    ]


def test_a_chain_that_was_written_again_is_named_by_what_was_signed(
    log: list[Event], project: Project
) -> None:
    """The whole chain after the change is computed again: only heads that are elsewhere tell."""
    audit_chain.check()
    signed = audit_chain.head()
    assert signed is not None
    release(project, f'{{"audit_head":{as_json(signed)}}}')
    run_sql("UPDATE labeling_event SET verb = 'x' WHERE id = %s", log[3].pk)
    run_sql("DELETE FROM labeling_eventlink")
    audit_chain.link_events()

    faults = found()

    assert len(faults) == 2
    place = f"at position {signed['position']}, event {signed['event']}"
    assert faults[0] == (
        f"The chain had another link {place}, for the release orders@1: it was written again"
    )
    assert faults[1].startswith(f"The chain had another link {place}, for the check of ")


def test_a_log_that_was_cut_off_is_named(log: list[Event]) -> None:
    audit_chain.check()
    run_sql("DELETE FROM labeling_eventlink WHERE event_id = %s", log[4].pk)
    run_sql("DELETE FROM labeling_event WHERE id = %s", log[4].pk)

    [fault] = found()

    assert fault.startswith("The chain ends before position")
    assert fault.endswith("it was cut off")


def test_an_event_that_was_put_in_later_under_an_old_date_is_named(
    log: list[Event], project: Project
) -> None:
    event = events.record("gold.frozen", project, project=project)
    long_ago = timezone.now() - timedelta(days=3)
    run_sql("UPDATE labeling_event SET at = %s WHERE id = %s", long_ago, event.pk)

    audit_chain.link_events()

    assert found() == [
        f"Event {event.pk} (gold.frozen) is dated more than an hour before events that were "
        "already linked: it was written later than it says"
    ]


def test_the_command_names_what_is_wrong_and_ends_with_1(
    log: list[Event], capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("verify_log")
    assert f"complete up to event {log[-1].pk}: " in capsys.readouterr().out
    run_sql("UPDATE labeling_event SET verb = 'x' WHERE id = %s", log[1].pk)

    with pytest.raises(CommandError, match=r"The audit log is not intact: 1 fault\."):
        call_command("verify_log")

    assert f"Event {log[1].pk} (x) is not what was linked" in capsys.readouterr().err
    assert [check.n_faults for check in LogCheck.objects.all()] == [1, 0]


def test_a_row_that_is_gone_while_its_link_stays_is_named(
    transactional_db: None, project: Project
) -> None:
    """Deleted past the foreign key, as by a program that does not enforce it."""
    gone = events.record("round.closed", project, project=project)
    events.record("round.opened", project, project=project)
    audit_chain.link_events()
    guards.remove(connection)
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA foreign_keys = OFF")
        else:
            cursor.execute("SET session_replication_role = replica")
        cursor.execute("DELETE FROM labeling_event WHERE id = %s", [gone.pk])

    assert found() == [f"Event {gone.pk} was removed"]
    connection.close()  # the next one enforces it again


def test_several_linkers_at_a_time_write_one_chain(
    transactional_db: None, project: Project
) -> None:
    for _ in range(40):
        events.record("round.closed", project, project=project)
    total = Event.objects.count()

    def link() -> None:
        try:
            audit_chain.link_events()
        finally:
            connection.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_chain, "BATCH", 3)
        threads = [Thread(target=link) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert EventLink.objects.count() == total
    assert found() == []


def test_freezing_links_what_came_before_and_its_own_event(project: Project) -> None:
    release = factories.make_release(project)

    frozen = Event.objects.get(verb="gold.frozen")
    assert frozen.data["sha256"] == release.sha256
    assert not Event.objects.filter(link=None).exists()
    assert found() == []


def test_the_sweep_links_and_has_the_log_checked_once_a_day(
    log: list[Event], project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    monkeypatch.setattr(audit_chain._messages, "send_again", sent.append)
    event = events.record("round.closed", project, project=project)

    audit_chain.sweep()
    assert EventLink.objects.filter(event=event).exists()
    assert sent == [0]

    audit_chain.check()
    audit_chain.sweep()
    assert sent == [0]

    run_sql("UPDATE labeling_logcheck SET at = %s", timezone.now() - timedelta(days=2))
    audit_chain.sweep()
    assert sent == [0, 0]


def test_a_sweep_that_has_nothing_to_do_asks_three_questions(log: list[Event]) -> None:
    audit_chain.check()
    with CaptureQueriesContext(connection) as asked:
        audit_chain.sweep()

    assert len(asked) == 3


def test_the_page_says_how_far_the_log_was_checked(signed_in, project: Project, rita: User) -> None:
    client = signed_in(rita)
    assert "Linked up to" not in page(client, URL)
    event = events.record("round.closed", project, project=project)
    audit_chain.link_events()
    assert f"Linked up to event {event.pk} " in page(client, URL)
    assert "Not checked yet" in page(client, URL)
    before = len(queries(client, URL))

    audit_chain.check()

    assert f"Complete up to event {event.pk}, checked on " in page(client, URL)
    assert len(queries(client, URL)) == before
    run_sql("UPDATE labeling_event SET verb = 'x' WHERE id = %s", event.pk)
    audit_chain.check()
    assert "The log of this installation is not intact" in page(client, URL)


URL = "/projects/orders/audit/"


def release(project: Project, header: str) -> GoldRelease:
    return GoldRelease.objects.create(
        project=project, layer="extraction", name="orders", version=1, header=header, sha256="0"
    )


def as_json(head: audit_chain.AuditHead) -> str:
    return '{{"event":{event},"position":{position},"sha256":"{sha256}"}}'.format(**head)
