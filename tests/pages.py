"""What tests of screens share: the visible text of a page, and how many queries it took."""

from __future__ import annotations

import html
import re
from typing import Any

from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext


def text_of(response: Any) -> str:
    """The text of the page's main part, with single spaces."""
    return _words(response.content.decode().split("<main", 1)[1])


def part_of(response: Any) -> str:
    """The same of a part that a page loads later."""
    return _words(response.content.decode())


def _words(source: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", source)).split())


def markup(client: Client, url: str, **data: Any) -> str:
    response = client.get(url, data)
    assert response.status_code == 200, (url, response.status_code)
    return str(response.content.decode())


def page(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200, (url, response.status_code)
    return text_of(response)


def queries(client: Client, url: str) -> list[str]:
    """The SQL of one request, without what signing in costs once."""
    with CaptureQueriesContext(connection) as captured:
        response: HttpResponse = client.get(url)
    assert response.status_code == 200, (url, response.status_code)
    return [query["sql"] for query in captured.captured_queries]
