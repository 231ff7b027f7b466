"""What a release is exported as, byte for byte as version 0.3.0 wrote it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.core.management import call_command

from labeling.exchange.export import export
from labeling.models import GoldRelease

pytestmark = pytest.mark.postgres

FOLDER = Path(__file__).parent / "gold_format_2"
OF_0_3 = {
    "native/items.jsonl": "7f8e0a858940d6f9",
    "csv/labels.csv": "f2bdd3226ae10bb9",
    "labelstudio/tasks.json": "baf3be1815afe1ec",
    "labelstudio/labeling-config.xml": "fdb89ef7d37b40a8",
    "huggingface/data/dev.parquet": "6745269ec0bf96a1",
}


def digest(path: Path) -> str:
    """Of a Parquet file its rows: its head says who signed."""
    content = path.read_bytes()
    if path.suffix == ".parquet":
        content = repr(pq.read_table(path).to_pylist()).encode()
    return hashlib.sha256(content).hexdigest()[:16]


def test_exports_are_those_of_version_0_3(db, tmp_path):
    call_command("import_gold", FOLDER, project="elsewhere", layer="extraction")
    release = GoldRelease.objects.get()
    for format in {file.partition("/")[0] for file in OF_0_3}:
        export(release, format=format, folder=tmp_path / format)
    assert {file: digest(tmp_path / file) for file in OF_0_3} == OF_0_3
