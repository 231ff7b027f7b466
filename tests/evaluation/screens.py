"""What tests of screens share: the whole text of a reply, and the queries of a second look."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext


def queries(client: Any, url: str) -> int:
    client.get(url)  # content types, session
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())
