"""One form of line for web server, worker and supervisor, which nothing that is quoted breaks."""

from __future__ import annotations

import io
import logging
import sys
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from gunicorn.config import Config

from config import logs, middleware
from config.web_logs import KeylessLogger


def record(message: str, *values: Any, error: bool = False, **extra: Any) -> logging.LogRecord:
    info = sys.exc_info() if error else None
    made = logging.LogRecord("labeling", logging.WARNING, "", 0, message, values, info)
    made.__dict__ |= extra
    return made


def test_a_line_has_its_time_with_a_zone_level_logger_process_and_message(monkeypatch):
    monkeypatch.setenv("ASSAY_TIME_ZONE", "Asia/Kolkata")
    made = record("sign_in.failed from %s", "192.0.2.1")
    time, level, logger, process, message = logs.KeylessFormatter().format(made).split(" ", 4)
    moment = datetime.fromisoformat(time)
    assert moment.timestamp() == pytest.approx(made.created, abs=0.002)
    assert moment.utcoffset() == timedelta(hours=5.5)
    assert (level, logger, process) == ("WARNING", "labeling", f"{made.process}:")
    assert message == "sign_in.failed from 192.0.2.1"


def test_what_is_quoted_begins_no_line_and_shows_no_key() -> None:
    secret = "whsec_" + "k" * 30
    line = logs.KeylessFormatter().format(record("%s", f"a\r\n2026 INFO\x1b[31m\u2028 {secret}"))
    assert len(line.splitlines()) == 1
    assert not logs.CONTROL.search(line)
    assert secret not in line


@pytest.mark.parametrize(
    ("error", "is_brief"), [(OperationalError("refused"), True), (ValueError("of ours"), False)]
)
def test_an_outage_is_one_line_and_a_fault_of_ours_has_its_traceback(error, is_brief):
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(logs.KeylessFormatter())
    handler.addFilter(logs.BriefOutages())
    try:
        raise error
    except type(error):
        record = logging.makeLogRecord(
            {"name": "x", "msg": "Away: %s", "args": ("/a",), "exc_info": sys.exc_info()}
        )
    handler.handle(record)
    assert out.getvalue().endswith(f": Away: /a: {error}\n") == is_brief
    assert ("Traceback" in out.getvalue()) != is_brief


def test_a_zone_that_is_not_known_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_TIME_ZONE", "Mars/Base")
    with pytest.raises(ImproperlyConfigured, match="ASSAY_TIME_ZONE"):
        logs.KeylessFormatter()


@pytest.mark.parametrize(
    ("sent", "is_kept"), [("proxy-0042.a", True), ("short", False), ("a b\n" * 4, False)]
)
def test_a_request_has_one_id_in_its_answer_and_its_lines(sent: str, is_kept: bool) -> None:
    seen: list[str] = []

    def answer(request: HttpRequest) -> HttpResponse:
        seen.append(logs.KeylessFormatter().format(record("at work")))
        return HttpResponse()

    request = HttpRequest()
    request.META["HTTP_X_REQUEST_ID"] = sent
    own = middleware.numbered(answer)(request)["X-Request-ID"]
    assert (own == sent) is is_kept
    assert f" {own}: at work" in seen[0]
    assert own not in logs.KeylessFormatter().format(record("later"))


def test_the_line_of_a_request_has_the_form_of_all_others() -> None:
    config = Config()
    config.set("accesslog", "-")
    written = KeylessLogger(config)
    output = io.StringIO()
    written.access_log.handlers[0].stream = output
    environ = {
        "REQUEST_METHOD": "GET",
        "RAW_URI": "/join/" + "s" * 30,
        "PATH_INFO": "/join/" + "s" * 30,
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "192.0.2.1",
        "HTTP_USER_AGENT": 'Browser\x0b" 500',
    }
    answer = SimpleNamespace(
        status="200 OK", sent=5, headers=[("X-Request-ID", "abcdefgh")], response_length=5
    )
    request = SimpleNamespace(headers=[])
    written.access(answer, request, environ, timedelta(seconds=0.25))
    line = output.getvalue()
    assert "ssss" not in line
    assert line.count("\n") == 1
    assert " INFO gunicorn.access " in line
    assert " abcdefgh: 192.0.2.1 " in line
    assert line.endswith(' 200 5 0.25 s "Browser\\x0b\\" 500"\n')
