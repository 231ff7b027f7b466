"""A project that several have labeled, its labels as files, and their way into another one."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from labeling.exchange import label_exports
from labeling.models import (
    Annotation,
    AnnotationRevision,
    Assignment,
    Event,
    Guideline,
    Project,
    Round,
)
from labeling.schema import LAYERS
from labeling.work import annotations
from tests import factories
from tests.labeling.domain.formats import rich

EVENTS = {"ship/send": ["place", "item", "face 😀"], "confirm": []}


def make_project(slug: str, **fields: Any) -> Project:
    given = {"layers": list(LAYERS), "event_schema": EVENTS, **fields}
    project = factories.make_project(slug, **given)
    Guideline.objects.create(project=project, version=2, body="# Second")
    factories.make_talk(project, "shop/017 😀", rich.TURNS, split="dev")
    return project


def without_suggestion(payload: dict[str, Any]) -> dict[str, Any]:
    return {
        key: [
            {k: v for k, v in label.items() if k not in ("suggestion", "origin")}
            for label in labels
        ]
        for key, labels in payload.items()
    }


PAYLOAD = without_suggestion(rich.PAYLOAD)


def labeled_project(slug: str = "source", payload: dict[str, Any] = PAYLOAD) -> Project:
    """Ana labels, Ben says that there is nothing, Cleo skips."""
    project = make_project(slug)
    opened = factories.open_full(project, 1)
    given = {assignment.annotator.username: assignment for assignment in opened.assignments.all()}
    factories.answer_with(given["ana"], payload)
    factories.answer_with(given["ben"], {})
    skipped = factories.save_of({})._replace(empty=False)
    annotations.skip(given["cleo"], skipped, reason="Not “mine” 😀")
    return project


def export(project: Project, folder: Path, format: str = "native") -> list[Path]:
    return label_exports.export_labels(project, format=format, folder=folder / format)


def run(*files: Path, project: str = "target", **options: Any) -> str:
    out = StringIO()
    options.setdefault("reason", "Made in the pilot.")
    call_command("import_labels", *map(str, files), project=project, stdout=out, **options)
    return out.getvalue()


def refused(*files: Path, **options: Any) -> list[str]:
    before = stored()
    errors = StringIO()
    with pytest.raises(SystemExit):
        run(*files, stderr=errors, **options)
    assert stored() == before
    return errors.getvalue().splitlines()


def stored() -> tuple[int, ...]:
    models = (Round, Assignment, Annotation, AnnotationRevision, Event, User)
    return tuple(model.objects.count() for model in models)


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def answers_of(project: Project) -> dict[str, tuple[Any, ...]]:
    rows = Annotation.objects.filter(assignment__round__project=project)
    return {
        row.assignment.annotator.username: (
            row.status,
            row.empty,
            row.payload,
            row.guideline.version,
            row.active_seconds,
            row.created_at,
            row.submitted_at,
            row.skip_reason,
        )
        for row in rows.select_related("assignment__annotator", "guideline")
    }
