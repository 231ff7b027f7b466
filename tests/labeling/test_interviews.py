"""Labels kept with the project: whole, by two people and a third, and without what was said."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from labeling.agreement import vectors
from labeling.models import GoldRelease
from tests import factories

FIXTURES = Path(__file__).parents[2] / "fixtures"
FOLDER = FIXTURES / "interviews"


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "labels.jsonl").read_text("utf-8").splitlines()]


LINES = lines_of(FOLDER)
DATA = Path(os.environ.get("ASSAY_CHAT_DATA", FOLDER.parents[2] / "shared" / "data"))
SOURCE = DATA / "interviews.jsonl"
SAID_IN_A_ROW = 12  # words: fewer are how anybody would put it


def words(value: Any) -> str:
    return " ".join(re.findall(r"[a-z']+", json.dumps(value).lower()))


@pytest.fixture
def source() -> Path:
    if not SOURCE.exists():
        pytest.skip("the interviews are not here; ASSAY_CHAT_DATA names their folder")
    return SOURCE


@pytest.mark.parametrize(
    ("lines", "number", "two", "third"),
    [
        (LINES, 30, ["anna", "bert"], "carl"),
        (lines_of(FIXTURES / "reading"), 32, ["reader-a", "reader-b"], "reader-c"),
    ],
    ids=["interviews", "reading"],
)
def test_labels_are_by_two_and_decided_by_a_third(lines, number, two, third):
    assert len(lines) == number
    for line in lines:
        assert [answer["annotator"] for answer in line["answers"]] == two
        assert {one["decided_by"] for one in line.get("decisions", [])} <= {third}
        assert "messages" not in line
    assert [line.get("split") for line in LINES].count("dev") == 15


@pytest.mark.parametrize("folder", ["interviews", "reading"])
def test_nothing_of_what_was_said_stands_in_the_labels(source, folder):
    files = [source, *(DATA / "transcripts").glob("*.jsonl")]
    said = {
        one["id"]: words(one["messages"])
        for path in files
        for one in map(json.loads, path.read_text("utf-8").splitlines())
    }
    for line in lines_of(FIXTURES / folder):
        label = words(line).split()
        runs = zip(*(label[start:] for start in range(SAID_IN_A_ROW)), strict=False)
        assert [run for run in map(" ".join, runs) if run in said[line["id"]]] == []


@pytest.mark.django_db
def test_the_gold_is_made_by_the_commands_that_are_told(source, tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "ruler", factories.ruler)
    chosen = subprocess.run(
        [sys.executable, FOLDER / "choose.py", source], check=True, capture_output=True
    ).stdout
    (tmp_path / "chosen.jsonl").write_bytes(chosen)

    call_command("import_conversations", tmp_path / "chosen.jsonl", project="interviews")
    call_command("add_guidelines", FOLDER / "guidelines.md", project="interviews")
    call_command(
        "import_labels",
        FOLDER / "labels.jsonl",
        project="interviews",
        create_annotators=True,
        reason="Two independent labelings, made before anything was tuned on them",
    )
    call_command(
        "freeze_gold",
        project="interviews",
        layer="extraction",
        name="interviews",
        waive=["near_duplicate=Two of the thirty are parts of one interview"],
    )

    items = [item.content for item in GoldRelease.objects.get().items.all()]
    assert [item["split"] for item in items].count("test") == 15
    carl = "annotator-3"  # after anna and bert
    assert [item["provenance"]["adjudicated_by"] for item in items].count(carl) == 27
