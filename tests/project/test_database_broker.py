"""The queue in PostgreSQL hands on every message once, and writes a wake-up that waits once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from threading import Event

import pytest
from celery import Celery
from django.db import connection, transaction
from kombu import Connection, Consumer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]

READERS, MESSAGES = 4, 80


@pytest.fixture
def app():
    if connection.vendor != "postgresql":
        pytest.skip("this queue needs PostgreSQL")
    app = Celery("test", broker="database://", set_as_current=False)
    with app.connection_for_write() as link:
        queue = link.default_channel
        app.amqp.queues["celery"].bind(queue).declare()
        queue.queue_purge("celery")
    yield app
    app.close()


def take_all(link: Connection) -> list[int]:
    taken = []
    while message := link.default_channel.basic_get("celery", no_ack=True):
        taken.append(message.decode()[0][0])
    return taken


def test_each_message_reaches_one_of_the_readers(app):
    for number in range(MESSAGES):
        app.send_task("wake", [number])

    def read(_: int) -> list[int]:
        try:
            with app.connection_for_read() as link:
                return take_all(link)
        finally:
            connection.close()

    with ThreadPoolExecutor(READERS) as pool:
        parts = list(pool.map(read, range(READERS)))

    assert all(part == sorted(part) for part in parts)
    assert sorted(chain(*parts)) == list(range(MESSAGES))


def test_a_wake_up_that_waits_already_is_not_written_again(app):
    for pk in (1, 2, 1, 1, 2):
        app.send_task("wake", [pk])

    with app.connection_for_read() as link:
        assert take_all(link) == [1, 2]
        app.send_task("wake", [1])
        assert take_all(link) == [1]


def test_a_message_of_a_transaction_is_there_when_that_is_stored(app):
    with app.connection_for_read() as link:
        with transaction.atomic():
            app.send_task("wake", [1])
            assert take_all(link) == []
        assert take_all(link) == [1]


def test_a_notice_wakes_who_waits(app):
    """Without one it would look again only after five seconds."""
    waiting, taken = Event(), Event()

    def wait() -> None:
        try:
            with app.connection_for_read() as link:
                transport = link.transport
                link.connection  # noqa: B018 (opens it)
                transport._pause(0)  # begins to listen
                queues = [app.amqp.queues["celery"]]
                with Consumer(link, queues, callbacks=[lambda *_: taken.set()], accept=["json"]):
                    waiting.set()
                    link.drain_events(timeout=60)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(wait)
        assert waiting.wait(30)
        transport_seconds = app.connection_for_read().transport.polling_interval
        app.send_task("wake", [7])
        assert taken.wait(transport_seconds - 1)
        reader.result(30)
