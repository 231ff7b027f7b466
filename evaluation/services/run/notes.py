"""Tags and notes of runs. Anybody who may launch in the project writes them; the log keeps all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction

from evaluation.models import Run, RunNote, RunTag
from labeling.core import events
from labeling.domain.errors import RuleError

MOST_TAGS = 12
LONGEST_TAG = 40
LONGEST_NOTE = 5000


class NoteRefused(RuleError):
    """A tag or a note is too long, or there are too many tags."""

    code = "note_refused"


def tags_in(text: str) -> list[str]:
    """What somebody wrote between commas, each once."""
    words = (" ".join(part.split()) for part in text.split(","))
    return sorted({word for word in words if word})


def write(run: Run, *, tags: Iterable[str], note: str, by: Any) -> bool:
    """Whether anything was changed."""
    wanted, text = sorted(set(tags)), note.replace("\r\n", "\n").strip()
    _check(wanted, text)
    with transaction.atomic():
        locked = (
            Run.objects.select_for_update(of=("self",))
            .select_related("release__project")
            .get(pk=run.pk)
        )
        return _set_tags(locked, wanted, by) | _set_note(locked, text, by)


def _check(tags: list[str], note: str) -> None:
    if len(tags) > MOST_TAGS:
        raise NoteRefused("note.too_many_tags", most=MOST_TAGS)
    if any(len(tag) > LONGEST_TAG for tag in tags):
        raise NoteRefused("note.tag_too_long", most=LONGEST_TAG)
    if len(note) > LONGEST_NOTE:
        raise NoteRefused("note.too_long", most=LONGEST_NOTE)
    if any("\x00" in text for text in (*tags, note)):
        raise NoteRefused("note.nul")


def _set_tags(run: Run, wanted: list[str], by: Any) -> bool:
    before = list(RunTag.objects.filter(run=run).values_list("tag", flat=True))
    if before == wanted:
        return False
    RunTag.objects.filter(run=run).exclude(tag__in=wanted).delete()
    RunTag.objects.bulk_create(RunTag(run=run, tag=tag) for tag in wanted if tag not in before)
    _record("run.tagged", run, by, before=before, tags=wanted)
    return True


def _set_note(run: Run, text: str, by: Any) -> bool:
    before = RunNote.objects.filter(run=run).values_list("text", flat=True).first() or ""
    if before == text:
        return False
    if text:
        RunNote.objects.update_or_create(run=run, defaults={"text": text})
    else:
        RunNote.objects.filter(run=run).delete()
    _record("run.noted", run, by, before=before, note=text)
    return True


def _record(verb: str, run: Run, by: Any, **values: Any) -> None:
    events.record(verb, run, project=run.release.project, actor=by, **values)
