"""How the client's requests travel: again where that is safe, whole files, errors with a code."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import httpx
import pytest

from assay_client import (
    ApiError,
    AssayError,
    Client,
    Conflict,
    NotAnAssay,
    NotFound,
    NotSignedIn,
    ReasonNeeded,
    Retries,
    ServerUnavailable,
    StillAtWork,
    Unreachable,
)
from assay_client.runs import Run
from assay_client.waiting import wait_until

TOKEN = "assay_a-secret-that-nobody-may-read"
NO_ROWS = {"next": None, "results": []}
Answer = Callable[[httpx.Request], httpx.Response]


def refusal(status: int, code: str, **details: Any) -> httpx.Response:
    body = {"code": code, "message": "Do it otherwise.", "details": details}
    return httpx.Response(status, json=body)


class Server:
    """Gives one answer after the other, the last one for ever, and keeps what it was asked."""

    def __init__(self, *answers: httpx.Response | Exception | Answer) -> None:
        self.answers = list(answers)
        self.asked: list[httpx.Request] = []
        self.pauses: list[float] = []

    def client(self, attempts: int = 4) -> Client:
        retries = Retries(attempts=attempts, sleep=self.pauses.append)
        transport = httpx.MockTransport(self)
        return Client("https://assay.example.org", TOKEN, retries=retries, transport=transport)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else answer


def test_every_request_has_the_token() -> None:
    server = Server(httpx.Response(200, json=NO_ROWS))
    assert list(server.client().projects.list()) == []
    assert server.asked[0].headers["Authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    "trouble",
    [
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("silent"),
        httpx.Response(503),
        httpx.Response(502, text="<html>"),
    ],
)
def test_what_a_second_request_adds_nothing_to_is_sent_again(trouble: Any) -> None:
    server = Server(trouble, httpx.Response(200, json={"assignment": 7}))
    assert server.client().work.next() == 7
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("trouble", "sent"),
    [
        (httpx.ConnectError("refused"), 2),
        (httpx.Response(429), 2),
        (httpx.ReadTimeout("silent"), 1),
        (httpx.Response(502), 1),
        (httpx.Response(503), 1),
    ],
)
def test_a_launch_is_sent_again_only_where_it_was_not_carried_out(trouble: Any, sent: int) -> None:
    server = Server(trouble, NOT_FOUND)
    with pytest.raises(AssayError):
        server.client().runs.launch("demo@1", "nothing")
    assert len(server.asked) == sent


def test_pauses_double_and_what_the_server_says_counts_instead() -> None:
    told = httpx.Response(503, headers={"Retry-After": "7"})
    endless = httpx.Response(503, headers={"Retry-After": "86400"})
    server = Server(httpx.Response(503), httpx.Response(503), told, endless, NOT_FOUND)
    with pytest.raises(NotFound):
        server.client(attempts=9).work.next()
    first, second, third, fourth = server.pauses
    assert 0.25 <= first <= 0.5 <= second <= 1
    assert (third, fourth) == (7, 30)


NOT_FOUND = refusal(404, "not_found")


def test_nothing_else_is_sent_again() -> None:
    for answer in (refusal(409, "stale_version"), refusal(400, "invalid"), httpx.Response(500)):
        server = Server(answer)
        with pytest.raises(ApiError):
            server.client().work.next()
        assert len(server.asked) == 1


def test_it_gives_up_after_the_last_attempt() -> None:
    away = Server(refusal(503, "database_away"))
    with pytest.raises(ServerUnavailable) as caught:
        away.client(attempts=3).work.next()
    assert (caught.value.code, len(away.asked), len(away.pauses)) == ("database_away", 3, 2)
    silent = Server(httpx.ConnectError("refused"))
    with pytest.raises(Unreachable, match=r"refused \(https://assay\.example\.org/api/queue/next/"):
        silent.client(attempts=2).work.next()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refusal(401, "bad_token"), NotSignedIn),
        (refusal(403, "look_reason_needed", releases=["demo@2"]), ReasonNeeded),
        (NOT_FOUND, NotFound),
        (refusal(409, "stale_version", current_version=5), Conflict),
        (refusal(400, "invalid", fields={"seed": ["A whole number."]}), ApiError),
    ],
)
def test_a_refusal_is_an_error_with_code_message_and_details(answer, kind):
    with pytest.raises(kind) as caught:
        Server(answer).client().runs.get(3)
    error, said = caught.value, answer.json()
    assert type(error) is kind
    assert error.status == answer.status_code
    assert (error.code, error.message, error.details) == (
        said["code"],
        said["message"],
        said["details"],
    )
    assert error.fields == said["details"].get("fields", {})


def test_what_is_no_assay_says_so() -> None:
    for answer in (
        httpx.Response(200, text="<html>Sign in</html>"),
        httpx.Response(301, headers={"Location": "https://elsewhere.example.org/"}),
    ):
        server = Server(answer)
        with pytest.raises(NotAnAssay):
            server.client().runs.get(3)
        assert len(server.asked) == 1


def test_pages_are_asked_for_as_they_are_read_and_never_elsewhere() -> None:
    rows = [{"id": number} for number in range(4)]
    server = Server(
        httpx.Response(
            200,
            json={"next": "https://evil.example.org/steal/?after=1&limit=2", "results": rows[:2]},
        ),
        httpx.Response(200, json={"next": None, "results": rows[2:]}),
    )
    queue = server.client().work.queue()
    assert server.asked == []
    assert [row.id for row in queue.first(2)] == [0, 1]
    assert len(server.asked) == 1
    server.answers.insert(
        0, httpx.Response(200, json={"next": "?after=1&limit=2", "results": rows[:2]})
    )
    server.asked.clear()
    assert list(queue.to_pandas()["id"]) == [0, 1, 2, 3]
    urls = [str(request.url) for request in server.asked]
    assert urls == [
        "https://assay.example.org/api/queue/",
        "https://assay.example.org/api/queue/?after=1&limit=2",
    ]


def test_saves_at_the_same_time_are_numbered_apart() -> None:
    """The server takes two saves of one number for one that was sent twice."""
    draft = {"version": 1, "payload": {}}
    barrier, numbers = Barrier(2), []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            barrier.wait(5)
        else:
            numbers.append(json.loads(request.content)["seq"])
        return httpx.Response(200, json=draft)

    work = Server(answer).client().work
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: work.save(7, {}), range(2)))
    assert sorted(numbers) == [1, 2]


def test_names_of_people_lead_nowhere_else() -> None:
    server = Server(NOT_FOUND)
    with pytest.raises(NotFound):
        server.client().project("../../runs/1/control?x=").get()
    sent = server.asked[0].url
    assert sent.raw_path == b"/api/projects/..%2F..%2Fruns%2F1%2Fcontrol%3Fx%3D/"


# --- files --------------------------------------------------------------------------------------


def broken_off() -> Iterator[bytes]:
    yield b"half"
    raise httpx.ReadError("reset")


def test_a_release_is_named_with_its_version() -> None:
    with pytest.raises(ValueError, match="demo@1"):
        Server(NOT_FOUND).client().gold.get("demo")


def test_a_download_that_breaks_off_is_begun_again(tmp_path: Path) -> None:
    server = Server(
        lambda _: httpx.Response(200, content=broken_off()), httpx.Response(200, content=b"whole")
    )
    target = tmp_path / "report.html"
    target.write_bytes(b"older")
    assert run_of(server).report(target) == target
    assert target.read_bytes() == b"whole"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_download_that_fails_leaves_the_older_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_bytes(b"older")
    for answer in (lambda _: httpx.Response(200, content=broken_off()), NOT_FOUND):
        with pytest.raises((Unreachable, NotFound)):
            run_of(Server(answer)).report(target)
        assert target.read_bytes() == b"older"
        assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def run_of(server: Server) -> Any:
    return server.client().runs._read(Run)({"id": 3})


# --- waiting ------------------------------------------------------------------------------------


def test_waiting_looks_more_seldom_and_says_how_far_it_is() -> None:
    states, seen, pauses = iter([1, 2, 3, 4, 5, 6]), [], []
    last = wait_until(
        lambda: next(states),
        lambda state: state == 6,
        what="Work",
        progress=seen.append,
        sleep=pauses.append,
    )
    assert (last, seen) == (6, [1, 2, 3, 4, 5, 6])
    assert pauses == sorted(pauses)
    assert len(set(pauses)) == 5


@pytest.mark.parametrize(
    ("submitted", "skipped", "is_over"), [(0, 0, False), (3, 1, False), (4, 1, True)]
)
def test_a_round_with_a_pool_is_over_when_every_place_has_its_answer(submitted, skipped, is_over):
    """Work that nobody has taken yet is nobody's open work."""
    work = {"pending": 0, "draft": 0, "submitted": submitted, "skipped": skipped}
    shown = {"number": 2, "kind": "full", "state": "open", "overlap": 2, "conversations": 2}
    shown |= {"pool": True, "work": work}
    rounds = Server(httpx.Response(200, json=shown)).client().project("p").rounds
    if is_over:
        assert rounds.wait(2, timeout=5).work.submitted == submitted
    else:
        with pytest.raises(StillAtWork):
            rounds.wait(2, timeout=0)


def test_waiting_ends_in_time_and_hands_over_the_last_state() -> None:
    now = [0.0]
    with pytest.raises(StillAtWork) as caught:
        wait_until(
            lambda: now[0],
            lambda _: False,
            what="Run 3",
            timeout=60,
            sleep=lambda seconds: now.__setitem__(0, now[0] + seconds),
            clock=lambda: now[0],
        )
    assert 50 < now[0] <= 60
    assert caught.value.last == now[0]


# --- the token ----------------------------------------------------------------------------------


def test_the_token_is_nowhere_to_be_read(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server = Server(httpx.ConnectError("refused"))
    client = server.client(attempts=2)
    with pytest.raises(Unreachable) as caught:
        client.runs.get(3)
    shown = [repr(client), repr(client.runs), repr(vars(client)), str(caught.value), caplog.text]
    shown.append(repr(caught.value.__cause__))
    assert all("secret" not in text for text in shown)
