"""A project that several have labeled, its labels as files, and their way into another one."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from labeling.exchange import label_exports
from labeling.models import (
    Annotation,
    Guideline,
    Project,
)
from labeling.schema import LAYERS
from labeling.work import annotations
from tests import factories
from tests.labeling import imports
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


def export(project: Project, folder: Path) -> list[Path]:
    return label_exports.export_labels(project, folder=folder / "labels")


run, refused = (
    partial(does, "import_labels", project="target", reason="Made in the pilot.")
    for does in (imports.run, imports.refused)
)


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
