"""Commands that read files: what they say, and that a refusal stores nothing."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from labeling import models

STORED = (
    *(User, models.Project, models.Round, models.Assignment, models.Event, models.ImportReport),
    *(models.Annotation, models.AnnotationRevision, models.Conversation, models.Transcript),
    *(models.GoldRelease, models.GoldItem),
)


def run(command: str, *files: Path, **options: Any) -> str:
    out = StringIO()
    call_command(command, *map(str, files), **{"stdout": out, **options})
    return out.getvalue()


def refused(command: str, *files: Path, **options: Any) -> list[str]:
    """The lines that were said, after making sure that nothing was stored."""
    before, errors = stored(), StringIO()
    with pytest.raises(SystemExit) as stop:
        run(command, *files, stderr=errors, **options)
    assert (stop.value.code, stored()) == (1, before)
    return errors.getvalue().splitlines()


def stored() -> tuple[int, ...]:
    return tuple(model.objects.count() for model in STORED)
