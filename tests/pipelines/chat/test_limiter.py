from __future__ import annotations

import time
from contextlib import ExitStack

import pytest

from pipelines.chat.failures import retry_after
from pipelines.chat.limiter import AdaptiveLimit
from pipelines.llm import RateLimited


def be_refused(limit: AdaptiveLimit, *, after: float = 0.0) -> None:
    with pytest.raises(RateLimited), limit.slot(patience=1):
        raise RateLimited("model.too_many_requests_now", retry_after=after)


def succeed(limit: AdaptiveLimit, times: int) -> None:
    for _ in range(times):
        with limit.slot(patience=1):
            pass


def test_a_refusal_halves_and_successes_add_one_a_round() -> None:
    limit = AdaptiveLimit(8)

    be_refused(limit)
    assert limit.limit == 4
    be_refused(limit)
    be_refused(limit)
    be_refused(limit)
    assert limit.limit == 1  # never less

    succeed(limit, 1)  # 1 + 1/1
    assert limit.limit == 2
    succeed(limit, 3)  # 2 + 1/2 + 1/2.5 + 1/2.9
    assert limit.limit == 3
    succeed(limit, 100)
    assert limit.limit == 8  # never more


def test_requests_refused_together_halve_once() -> None:
    limit = AdaptiveLimit(8)

    with limit.slot(patience=1), ExitStack() as together:
        together.enter_context(pytest.raises(RateLimited))
        together.enter_context(limit.slot(patience=1))
        be_refused(limit)
        raise RateLimited("model.too_many_requests_now")

    assert limit.limit == 4


def test_nobody_enters_before_the_server_allows_it() -> None:
    limit = AdaptiveLimit(8)
    started = time.monotonic()
    be_refused(limit, after=0.15)

    succeed(limit, 1)

    assert time.monotonic() - started >= 0.15


def test_a_wait_longer_than_ones_patience_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.chat.limiter.time.monotonic", lambda: 0.0)
    limit = AdaptiveLimit(8)
    monkeypatch.setattr(limit._changed, "wait", lambda seconds: pytest.fail("it waits"))
    be_refused(limit, after=50)

    with pytest.raises(RateLimited) as caught, limit.slot(patience=25):
        pass

    assert caught.value.retry_after == 50


def test_other_failures_leave_the_limit_alone() -> None:
    limit = AdaptiveLimit(8)

    with pytest.raises(KeyError), limit.slot(patience=1):
        raise KeyError

    assert limit.limit == 8
    succeed(limit, 20)  # and no place is lost


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "later"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait_is_read_in_every_form(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds


def test_after_a_minute_one_may_ask_however_long_the_server_wanted_to_be_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]
    monkeypatch.setattr("pipelines.chat.limiter.time.monotonic", lambda: clock[0])
    limit = AdaptiveLimit(8)
    be_refused(limit, after=1e9)
    clock[0] = 59
    with pytest.raises(RateLimited), limit.slot(patience=1):
        pytest.fail("it is closed")

    clock[0] = 60
    be_refused(limit, after=1e9)  # was let in, and closes it again
    clock[0] = 119
    with pytest.raises(RateLimited), limit.slot(patience=1):
        pytest.fail("it is closed")
    clock[0] = 120
    succeed(limit, 1)  # the first answer opens it for all
    clock[0] = 121
    succeed(limit, 1)
