"""What tests of screens share: the text of a reply, the markup of a case, the queries of a look."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from rich.console import Console
from rich.table import Table

from evaluation.models import Run
from labeling.management.base import WIDTH


def queries(client: Any, url: str) -> int:
    client.get(url)  # content types, session
    with CaptureQueriesContext(connection) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def page(client: Any, run: Run, name: str = "run-case", case: int = 0) -> str:
    row = run.cases.order_by("pk")[case]
    response = client.get(reverse(name, args=[run.pk, row.pk]))
    assert response.status_code == 200
    return str(response.content.decode())


def printed(table: Table) -> str:
    """As a command prints it where nobody looks."""
    console = Console(width=WIDTH, no_color=True)
    with console.capture() as captured:
        console.print(table)
    return captured.get()
