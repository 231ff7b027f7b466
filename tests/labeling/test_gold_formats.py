"""Gold in the formats of other tools, each checked as such a tool would."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from labeling.conversations.formats import typed_rows
from labeling.exchange import export
from labeling.exchange.formats import gold_files
from labeling.exchange.parquet import Rows
from labeling.models import GoldRelease
from labeling.schema import LAYERS
from tests import factories
from tests.labeling.domain.formats import rich

pytestmark = pytest.mark.django_db
FORMATS = [name for name in export.FORMATS if name != "native"]


@pytest.fixture
def release(people: Any) -> GoldRelease:
    return factories.make_release(name="demo", message="First *one*\n# été")


def written(release: GoldRelease, folder: Path, format: str) -> dict[str, Path]:
    paths = export.export(release, format=format, folder=folder, license="CC-BY-4.0")
    assert sorted(paths) == sorted(one for one in folder.rglob("*") if one.is_file())
    return {path.relative_to(folder).as_posix(): path for path in paths}


def test_a_dataset_folder_names_its_files_and_says_what_is_in_it(release, tmp_path):
    from pyarrow import parquet

    files = written(release, tmp_path, "huggingface")
    _, head, body = files["README.md"].read_text("utf-8").split("---\n", 2)

    meta = yaml.safe_load(head)
    (config,) = meta["configs"]
    data = {file["path"] for file in config["data_files"]}
    assert data == {"data/dev.parquet"}
    assert {"README.md", "manifest.json", "model.sig", "guidelines.md"} < files.keys() - data
    assert meta["license"] == "CC-BY-4.0"
    assert "Items: 3 (3 dev)" in body
    assert release.sha256 in body
    assert "First \\*one\\* \\# été" in body
    schema = parquet.read_schema(files["data/dev.parquet"])
    assert [feature["name"] for feature in meta["dataset_info"]["features"]] == schema.names
    assert schema.metadata[b"statement"].decode() == release.header
    assert schema.metadata[b"signature"].decode() == release.signature


def test_pyarrow_and_pandas_read_the_items_back_from_parquet(release, tmp_path):
    import pandas
    from pyarrow import parquet

    path = written(release, tmp_path, "huggingface")["data/dev.parquet"]

    rows = parquet.read_table(path).to_pylist()
    frame = pandas.read_parquet(path)

    assert [of_row(row) for row in rows] == [item.content for item in release.items.all()]
    assert list(frame["sha256"]) == [item.sha256 for item in release.items.all()]
    assert frame["requirements"][0][0]["title"] == rows[0]["requirements"][0]["title"]


def of_row(row: dict[str, Any]) -> dict[str, Any]:
    """The item that a row was made from: nothing of it is lost."""
    keys = [layer.key for layer in LAYERS.values() if layer.key in row]
    item = {
        name: row[name] for name in ("item_id", "domain", "difficulty", "layer", "conversation")
    }
    item |= {"split": "" if row["split"] == "unassigned" else row["split"]}
    item |= {"schema_version": row["schema_version"], "provenance": json.loads(row["provenance"])}
    item |= {"gold": {key: [of_label(label) for label in row[key]] for key in keys}}
    if row["given"]:
        item["given"] = json.loads(row["given"])
    return item


def of_label(label: dict[str, Any]) -> dict[str, Any]:
    return {
        **{
            key: value
            for key, value in label.items()
            if key != "other" and (key in HAVE_NULL or value is not None)
        },
        **json.loads(label["other"] or "{}"),
    }


HAVE_NULL = ("condition",)
"""Fields that these labels have although they are null; Parquet does not tell them from absent."""


@pytest.mark.parametrize("layer", LAYERS)
def test_rows_of_every_layer_keep_every_field_with_its_type(layer, tmp_path):
    from pyarrow import parquet

    key = LAYERS[layer].key
    labels = [*rich.PAYLOAD[key], {"uid": "old", "priority": 7, "confidence": "high", "later": [1]}]
    path = tmp_path / "rows.parquet"

    with Rows(path, typed_rows.columns_of(layer), says={}) as rows:
        rows.add(typed_rows.row_of(item_with(layer, labels), sha256="0"))
    [row] = parquet.read_table(path).to_pylist()

    for label, read in zip(labels, row[key], strict=True):
        other = json.loads(read["other"] or "{}")
        assert without_nulls({**read, **other}, "other") == without_nulls(label)
    assert other == {
        name: value
        for name, value in labels[-1].items()
        if name == "later" or (name in {"priority", "confidence"})
    }


def without_nulls(value: Any, *left_out: str) -> Any:
    if isinstance(value, dict):
        return {
            key: without_nulls(part)
            for key, part in value.items()
            if part is not None and key not in left_out
        }
    return [without_nulls(part) for part in value] if isinstance(value, list) else value


def item_with(layer: str, labels: list[Any]) -> Any:
    return {
        "schema_version": 1,
        "item_id": "a",
        "domain": "",
        "difficulty": "",
        "split": "",
        "conversation": [
            {
                "index": index,
                "role": turn.role,
                "speaker": turn.speaker,
                "content": turn.content,
                "time": turn.time and turn.time.isoformat(),
            }
            for index, turn in enumerate(rich.TURNS)
        ],
        "layer": layer,
        "gold": {LAYERS[layer].key: labels},
        "provenance": {"how": "single"},
    }


@pytest.mark.parametrize("layer", LAYERS)
def test_a_table_holds_every_field_of_every_layer(layer):
    key = LAYERS[layer].key
    item = item_with(layer, rich.PAYLOAD[key])
    names = gold_files.columns_of(layer)
    assert len(set(names)) == len(names)

    for row, label in zip(gold_files.csv_rows(item, sha256="0"), rich.PAYLOAD[key], strict=True):
        cells = dict(zip(names, row, strict=True))
        for name, value in label.items():
            cell = cells[name]
            if isinstance(value, list | dict):
                cell = json.loads(cell)
            elif isinstance(value, str):
                cell = cell.removeprefix("'")
            assert cell == ("" if value is None else value), name


def test_an_item_without_labels_has_a_row_that_says_so():
    item = {"item_id": "a", "layer": "events", "gold": {"events": []}, "provenance": {}}

    (row,) = gold_files.csv_rows(item, sha256="0")

    assert row[0] == "a"
    assert set(row[len(gold_files.ITEM_COLUMNS) :]) == {""}


# --- as version 0.3.0 wrote it -----------------------------------------------------------------


FOLDER = Path(__file__).parent / "gold_format_2"
OF_0_3 = {
    "native/items.jsonl": "7f8e0a858940d6f9",
    "csv/labels.csv": "f2bdd3226ae10bb9",
    "huggingface/data/dev.parquet": "6745269ec0bf96a1",
}


def digest(path: Path) -> str:
    """Of a Parquet file its rows: its head says who signed."""
    from pyarrow import parquet

    content = path.read_bytes()
    if path.suffix == ".parquet":
        content = repr(parquet.read_table(path).to_pylist()).encode()
    return hashlib.sha256(content).hexdigest()[:16]


@pytest.mark.postgres
def test_the_same_gold_exports_the_same_bytes(db, tmp_path):
    call_command("import_gold", FOLDER, project="elsewhere", layer="extraction")
    release = GoldRelease.objects.get()
    for format in {file.partition("/")[0] for file in OF_0_3}:
        export.export(release, format=format, folder=tmp_path / format)
    assert {file: digest(tmp_path / file) for file in OF_0_3} == OF_0_3
