"""Corrections of published gold, applied from a file of ids."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command

from labeling.domain.errors import RuleError
from labeling.exchange import correction_files
from labeling.gold.gold import NothingChanged
from labeling.gold.verification import verify
from labeling.models import GoldRelease
from tests.chat_files import message, question, realtalk


@pytest.fixture
def release(db: None, tmp_path: Path) -> GoldRelease:
    """Two questions, which cite D1:1."""
    messages = [message(f"D1:{number}") for number in (1, 2, 3)]
    document = realtalk(messages, qa=[question("What?"), question("Who?")])
    path = tmp_path / "Chat_2_A_B.json"
    path.write_text(json.dumps(document), "utf-8")
    call_command("import_conversations", str(path), format="realtalk", project="talks", verbosity=0)
    return GoldRelease.objects.get()


@pytest.fixture
def file(tmp_path: Path, release: GoldRelease) -> Callable[..., Path]:
    """Corrections of the first question; the second was looked at and stays."""
    first, second = release.items.get().content["gold"]["questions"]
    rows: list[dict[str, Any]] = [
        {"uid": first["uid"], "published": ["D1:1"], "corrected": ["D1:3"], "reason": "Later."},
        {"uid": second["uid"], "published": ["D1:1"]},
    ]

    def write(number: int = 0, **changed: Any) -> Path:
        rows[number] |= changed
        path = tmp_path / "corrections.json"
        document = {
            "format": "assay-corrections/1",
            "layer": "qa",
            "decided_by": "a second reader",
            "labels": [{"conversation": "Chat_2_A_B", "place": "qa[0]", **row} for row in rows],
        }
        path.write_text(json.dumps(document), "utf-8")
        return path

    return write


def test_corrected_labels_make_the_next_version(release, file, capsys):
    call_command("import_gold", str(file()), gold="talks-qa")

    newer = release.children.get()
    content = newer.items.get().content
    assert [label["evidence"] for label in content["gold"]["questions"]] == [[2], [0]]
    (row,) = content["provenance"]["corrections"]
    assert (row["decided_by"], row["reason"]) == (["a second reader"], "Later.")
    assert row["before"]["evidence"] == [0]
    assert row["file"]["file"] == "corrections.json"
    assert verify(newer) == []
    assert "talks-qa@2" in capsys.readouterr().out
    with pytest.raises(NothingChanged):
        correction_files.apply(file(), newer)


@pytest.mark.parametrize(
    ("number", "changed"),
    [
        (0, {"published": ["D1:2"]}),
        (1, {"published": ["D1:2"]}),  # also of what stays
        (0, {"corrected": ["D9:1"]}),
        (0, {"uid": "nobody"}),
        (0, {"conversation": "Chat_3_A_B"}),
    ],
)
def test_gold_that_is_not_what_the_file_expects_is_refused_whole(release, file, number, changed):
    with pytest.raises(RuleError) as refused:
        correction_files.apply(file(number, **changed), release)

    assert refused.value.fact.code == "corrections.other_gold"
    assert GoldRelease.objects.count() == 1


def test_a_broken_file_and_an_older_version_are_refused(release, file, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text('{"labels": 3}')
    with pytest.raises(RuleError, match="broken"):
        correction_files.apply(broken, release)
    correction_files.apply(file(), release)

    with pytest.raises(RuleError, match="not_newest"):
        correction_files.apply(file(), release)


def test_the_file_of_the_audit_is_readable():
    read = correction_files.read(settings.BASE_DIR / "fixtures" / "realtalk" / "corrections.json")

    assert (len(read.labels), sum(row.corrected is not None for row in read.labels)) == (185, 19)
