"""What commands print."""

from __future__ import annotations

from functools import partial
from io import StringIO
from typing import Any

from django.core.management import call_command


def said_by(command: str, *arguments: Any, **options: Any) -> str:
    out = StringIO()
    call_command(command, *map(str, arguments), stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


evaluate = partial(said_by, "evaluate")
