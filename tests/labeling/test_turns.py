"""A worker's threads: long tasks never have all of them, and what repeats a transaction."""

from __future__ import annotations

from threading import Event as Signal
from threading import Thread
from typing import Any

import pytest
from django.db import connection

from labeling.services import turns as module
from labeling.services.alone import alone
from labeling.services.turns import Turns


@pytest.mark.one_database
def test_what_takes_long_leaves_a_thread_and_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(module, "wake", lambda *given: sent.append(given))
    turns = Turns(1)
    turns.limit(3)
    done, begun = Signal(), [Signal(), Signal()]

    def work(number: int) -> None:
        with turns.one("freeze", number) as mine:
            assert mine
            begun[number].set()
            done.wait(60)

    threads = [Thread(target=work, args=[number]) for number in range(2)]
    for thread, started in zip(threads, begun, strict=True):
        thread.start()
        started.wait(60)
    for _ in range(2):  # the third thread goes on with something else
        with turns.one("freeze", 7) as mine:
            assert not mine
    done.set()
    for thread in threads:
        thread.join()

    assert sent == [("freeze", 7)]


@pytest.mark.one_database
def test_one_thread_does_everything() -> None:
    turns = Turns(1)
    turns.limit(1)
    with turns.one("freeze", 1) as mine:
        assert mine


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="The server of PostgreSQL knows it")
def test_another_database_of_the_same_folder_is_somebody_elses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with alone("freeze 1"):
        with alone("freeze 1") as again:
            assert not again
        monkeypatch.setitem(connection.settings_dict, "NAME", "another.sqlite3")
        with alone("freeze 1") as elsewhere:
            assert elsewhere
