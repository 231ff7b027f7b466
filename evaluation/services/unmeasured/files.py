"""What came out of a trial as files: predictions, a table of labels, documents."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.utils.text import slugify

from evaluation.layers import GOLD_LAYERS, MalformedOutput
from evaluation.layers.end_to_end import check_document
from evaluation.models import CaseRun
from evaluation.services.unmeasured.predicting import labels_in, sources_of
from labeling.domain.csv_cells import csv_line
from labeling.schema import form_fields
from pipelines.requirements.labels import Document

OF_PIPELINES = ("wanted", "quoted")
"""What no person says of a label."""
SOURCES = "source_messages"
OF_LABELS = [
    field["name"]
    for layer in GOLD_LAYERS.values()
    if layer.suggested
    for field in form_fields(layer.name)
    if field["name"] != SOURCES
]
FIELDS = (*dict.fromkeys(OF_LABELS), *OF_PIPELINES)
"""The columns of labels of every kind; a label fills those that it has."""

HEAD = ("case_id", "kind", "number", "id", *FIELDS, SOURCES)


def prediction_line(case: CaseRun) -> str:
    """In the form that ``assay evaluate --predictions`` reads."""
    line = {"case_id": case.case_id, "output": case.output or {}}
    return json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"


def label_table(cases: Iterable[CaseRun], layer: str) -> Iterator[str]:
    """CSV, a row for each label. Text that a spreadsheet would run is made plain."""
    yield csv_line(HEAD)
    for case in cases:
        for kind, number, label in labels_in(case.output or {}, layer):
            cells = (_cell(label.get(name)) for name in FIELDS)
            cited = " ".join(map(str, sources_of(label, layer)))
            yield csv_line([case.case_id, kind, number, label.get("id") or "", *cells, cited])


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(value)
    if isinstance(value, Mapping) and isinstance(value.get("text"), str):
        return value["text"]
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return value


# --- documents ------------------------------------------------------------------------------------


def document_of(output: Mapping[str, Any], title: str) -> Document | None:
    """The document of an output, with a title and a text in every section; ``None`` without one."""
    written = output.get("document")
    try:
        check_document(written)
    except MalformedOutput:  # of a layer that does not look at documents
        return None
    if written is None:
        return None
    return {
        "title": written.get("title") or title,
        "notice": written.get("notice") or "",
        "sections": [
            {
                "id": section["id"],
                "title": section.get("title") or section["id"],
                "body": (section.get("body") or "").strip(),
            }
            for section in written.get("sections") or []
        ],
    }


DIGITS = 12
_LIKE_OURS = re.compile(rf"-[0-9a-f]{{{DIGITS}}}\Z")
"""An id that reads like a name that another case was given."""


def file_stem(case_id: str) -> str:
    """A name for the files of a case that every system takes and no other case has.

    Examples
    --------
    >>> file_stem("asphalt-plant"), file_stem("a/b")
    ('asphalt-plant', 'ab-c14cddc033f6')
    >>> file_stem("ab-c14cddc033f6")
    'ab-c14cddc033f6-1853ad2fa1c4'
    """
    stem = slugify(case_id)[:80]
    if stem == case_id and not _LIKE_OURS.search(stem):
        return stem
    digest = hashlib.sha256(case_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{stem or 'case'}-{digest[:DIGITS]}"
