"""A worker that outlives its broker: what it cannot acknowledge keeps no place of it taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from kombu import Connection
from redis.exceptions import ConnectionError as RedisAway

from config import redis_broker
from config.celery import app

pytestmark = pytest.mark.one_database


@pytest.fixture
def connection() -> Iterator[Connection]:
    with Connection("redis://127.0.0.1:1/0") as lazy:  # nobody is there, and nobody is called
        yield lazy


@pytest.fixture
def channel(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> Iterator[redis_broker.Channel]:
    """Of a worker with one thread, which is at work on the message ``a``."""
    monkeypatch.setattr(redis_broker.Channel, "_create_client", lambda *args, **kwargs: Client())
    transport = connection.transport
    assert isinstance(transport, redis_broker.Transport)
    channel = redis_broker.Channel(transport)
    channel.qos.prefetch_count = 1
    channel.qos._delivered["a"] = object()
    yield channel
    channel.qos._delivered.clear()  # or the end of the process would give it back


class Client:
    """Redis that has gone away."""

    def ping(self) -> bool:
        return True

    def pipeline(self) -> Any:
        raise RedisAway("Connection refused.")


def test_a_full_worker_that_lost_redis_takes_messages_again(
    channel: redis_broker.Channel, caplog: pytest.LogCaptureFixture
) -> None:
    assert not channel.qos.can_consume()
    channel.basic_ack("a")
    assert channel.qos.can_consume()
    assert "a message may come once more" in caplog.text


def test_work_that_ends_after_its_connection_was_given_up_ends_no_worker(
    channel: redis_broker.Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "closed", True)
    monkeypatch.setattr(channel, "connection", None)  # what a thread that is still at work finds
    channel.basic_ack("a")


def test_a_lost_broker_is_asked_for_every_few_seconds_however_long_it_was_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr(Connection, "_ensure_connection", lambda self, *args, **k: asked.update(k))
    app.connection_for_read().ensure_connection(None, None, callback=None)
    assert asked["interval_max"] <= 3
