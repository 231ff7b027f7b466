"""Gold in the formats of other tools, each checked as such a tool would."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command

from labeling.domain.formats import doccano, gold_files, labelstudio
from labeling.domain.schema import LAYERS
from labeling.models import GoldRelease
from labeling.services.exchange import export
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


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("format", FORMATS)
def test_the_same_release_gives_the_same_bytes_in_an_empty_folder(release, tmp_path, format):
    first = written(release, tmp_path / "a", format)
    second = written(release, tmp_path / "b", format)

    assert {name: path.read_bytes() for name, path in first.items()} == {
        name: path.read_bytes() for name, path in second.items()
    }
    with pytest.raises(CommandError, match="not empty"):
        call_command("export_gold", "demo", format=format, output=tmp_path / "a")


def test_a_bag_is_valid(release, tmp_path):
    files = written(release, tmp_path, "bagit")

    assert (tmp_path / "bagit.txt").read_bytes() == (
        b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
    )
    payload = {name for name in files if name.startswith("data/")}
    assert payload == {"data/items.jsonl", "data/manifest.json", "data/guidelines.md"}
    for manifest, listed in [
        ("manifest-sha256.txt", payload),
        ("tagmanifest-sha256.txt", {"bagit.txt", "bag-info.txt", "manifest-sha256.txt"}),
    ]:
        lines = (tmp_path / manifest).read_text().splitlines()
        result = dict(reversed(line.split("  ", 1)) for line in lines)
        assert result == {name: sha256(tmp_path / name) for name in listed}
    info = dict(
        line.split(": ", 1) for line in (tmp_path / "bag-info.txt").read_text().splitlines()
    )
    octets = sum((tmp_path / name).stat().st_size for name in payload)
    assert info["Payload-Oxum"] == f"{octets}.{len(payload)}"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", info["Bagging-Date"])


def test_a_change_of_a_bag_is_found(release, tmp_path):
    files = written(release, tmp_path, "bagit")
    files["data/items.jsonl"].write_text("changed")

    assert sha256(files["data/items.jsonl"]) not in (tmp_path / "manifest-sha256.txt").read_text()


def test_croissant_has_what_the_standard_requires(release, tmp_path):
    files = written(release, tmp_path, "croissant")
    document = json.loads(files["croissant.json"].read_text("utf-8"))

    required = {"@context", "@type", "conformsTo", "name", "description", "license", "url"}
    required |= {"creator", "datePublished", "version", "distribution", "recordSet"}
    assert required <= document.keys()
    assert document["@type"] == "sc:Dataset"
    assert document["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    assert document["license"] == "CC-BY-4.0"
    (file,) = document["distribution"]
    assert file["sha256"] == sha256(files["items.jsonl"])
    assert file["contentSize"] == f"{files['items.jsonl'].stat().st_size} B"
    (records,) = document["recordSet"]
    item = json.loads(files["items.jsonl"].read_text("utf-8").splitlines()[0])
    for field in records["field"]:
        assert field["source"]["fileObject"]["@id"] == file["@id"]
        assert field["source"]["extract"]["jsonPath"].removeprefix("$.") in item


def test_a_dataset_folder_names_its_files_and_says_what_is_in_it(release, tmp_path):
    files = written(release, tmp_path, "huggingface")
    _, head, body = files["README.md"].read_text("utf-8").split("---\n", 2)

    meta = yaml.safe_load(head)
    (config,) = meta["configs"]
    assert {file["path"] for file in config["data_files"]} == files.keys() - {"README.md"}
    assert meta["license"] == "CC-BY-4.0"
    assert "Items: 3 (3 dev)" in body
    assert release.sha256 in body
    assert "First \\*one\\* \\# été" in body
    rows = [json.loads(line) for line in files["data/dev.jsonl"].read_text("utf-8").splitlines()]
    assert len({frozenset(row) for row in rows}) == 1
    assert [row["sha256"] for row in rows] == [item.sha256 for item in release.items.all()]
    assert rows[0]["labels"] == release.items.all()[0].content["gold"]["requirements"]


def test_label_studio_gets_one_annotation_marked_as_truth(release, tmp_path):
    files = written(release, tmp_path, "labelstudio")
    with files["tasks.json"].open("rb") as file:
        result = [one for _, one in labelstudio.read(file)]  # type: ignore[misc]

    for one, item in zip(result, release.items.all(), strict=True):
        (answer,) = one.answers
        assert answer.is_gold
        assert answer.payload == item.content["gold"]


def test_doccano_gets_one_file(release, tmp_path):
    files = written(release, tmp_path, "doccano")
    with files["gold.jsonl"].open("rb") as file:
        result = [one for _, one in doccano.read(file)]  # type: ignore[misc]

    assert [one.id for one in result] == [item.item_id for item in release.items.all()]
    assert result[0].answers[0].payload["requirements"][0]["source_messages"] == [0]


def test_a_table_has_a_row_per_label_and_runs_nothing(release, tmp_path):
    files = written(release, tmp_path, "csv")
    with files["labels.csv"].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))

    assert [row["item_id"] for row in rows] == [item.item_id for item in release.items.all()]
    assert json.loads(rows[0]["source_messages"]) == [0]
    assert rows[0]["how"] == "unanimous"


@pytest.mark.parametrize("layer", LAYERS)
def test_a_table_holds_every_field_of_every_layer(layer):
    key = LAYERS[layer].key
    item = {
        "item_id": "a",
        "split": "",
        "domain": "",
        "difficulty": "",
        "layer": layer,
        "gold": {key: rich.PAYLOAD[key]},
        "provenance": {"how": "single"},
    }
    names = gold_files.columns_of(layer)

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
