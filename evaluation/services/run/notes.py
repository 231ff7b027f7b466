"""Notes of runs. Anybody who may launch in the project writes them; the log keeps all."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from evaluation.models import Run, RunNote
from labeling.core import events
from labeling.domain.errors import RuleError

LONGEST_NOTE = 5000


class NoteRefused(RuleError, code="note_refused"):
    """A note is too long, or no text."""


@transaction.atomic
def write(run: Run, note: str, *, by: Any) -> bool:
    """Whether anything was changed."""
    text = note.replace("\r\n", "\n").strip()
    if len(text) > LONGEST_NOTE:
        raise NoteRefused("note.too_long", most=LONGEST_NOTE)
    if "\x00" in text:
        raise NoteRefused("note.nul")
    Run.objects.select_for_update().only("pk").get(pk=run.pk)
    before = RunNote.objects.filter(run=run).values_list("text", flat=True).first() or ""
    if before == text:
        return False
    if text:
        RunNote.objects.update_or_create(run=run, defaults={"text": text})
    else:
        RunNote.objects.filter(run=run).delete()
    project = run.release.project
    events.record("run.noted", run, project=project, actor=by, before=before, note=text)
    return True
