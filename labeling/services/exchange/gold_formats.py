"""A gold release in the formats of other tools. The same release, the same bytes."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from labeling.domain.errors import RuleError
from labeling.domain.exchange.importing import Turn
from labeling.domain.formats import doccano, gold_files, labelstudio
from labeling.domain.formats.answers import FileAnswer, FileConversation
from labeling.domain.formats.labelstudio_config import config
from labeling.domain.gold.content import GoldContent, GoldMessage
from labeling.domain.gold.statement import Manifest
from labeling.domain.schema import LAYERS
from labeling.models import GoldRelease

GOLD = "gold"  # in place of the annotator


class CannotCarry(RuleError):
    """The format has no place for labels of this layer."""

    code = "cannot_carry"


class ReleaseItem(NamedTuple):
    content: GoldContent
    sha256: str


def items_of(release: GoldRelease) -> Iterator[ReleaseItem]:
    rows = release.items.values_list("canonical", "sha256")
    for canonical, sha256 in rows.iterator(chunk_size=200):
        yield ReleaseItem(json.loads(canonical), sha256)


def write_labelstudio(release: GoldRelease, folder: Path, **_: Any) -> list[Path]:
    _check_layer(release)
    tasks, interface = folder / "tasks.json", folder / "labeling-config.xml"
    with tasks.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(
            json_list(
                labelstudio.write(_labelled(item.content), number=number)
                for number, item in enumerate(items_of(release), start=1)
            )
        )
    schema = release.project.event_schema
    layers = [*LAYERS[release.layer].needs, release.layer]
    interface.write_text(config(layers, event_schema=schema), encoding="utf-8")
    return [tasks, interface]


def json_list(documents: Iterator[str]) -> Iterator[str]:
    """The text of a JSON list with one document a line."""
    yield "["
    before = "\n"
    for document in documents:
        yield before + document
        before = ",\n"
    yield "\n]\n"


def write_doccano(release: GoldRelease, folder: Path, **_: Any) -> list[Path]:
    _check_layer(release)
    path = folder / f"{GOLD}.jsonl"
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for item in items_of(release):
            labelled = _labelled(item.content)
            file.write(doccano.write(labelled, labelled.answers[0]) + "\n")
    return [path]


def _check_layer(release: GoldRelease) -> None:
    if release.layer not in LAYERS:
        raise CannotCarry("export.no_place_for_layer", release=str(release), layer=release.layer)


def _labelled(content: GoldContent) -> FileConversation:
    key = LAYERS[content["layer"]].key
    payload = {key: content["gold"].get(key, [])}
    answer = FileAnswer(GOLD, payload, empty=not payload[key], is_gold=True)
    return FileConversation(
        id=content["item_id"],
        turns=tuple(_turn(message) for message in content["conversation"]),
        answers=(answer,),
        domain=content["domain"],
        difficulty=content["difficulty"],
        split=content["split"],
        origin=content.get("origin", ""),
        generator=content.get("generator", ""),
    )


def _turn(message: GoldMessage) -> Turn:
    at = datetime.fromisoformat(message["time"]) if message["time"] else None
    return Turn(message["role"], message["content"], message["speaker"], at)


def write_csv(release: GoldRelease, folder: Path, **_: Any) -> list[Path]:
    path = folder / "labels.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(gold_files.columns_of(release.layer))
        for item in items_of(release):
            table.writerows(gold_files.csv_rows(item.content, sha256=item.sha256))
    return [path]


def write_huggingface(
    release: GoldRelease, folder: Path, *, manifest: Manifest, license: str
) -> list[Path]:
    data = folder / "data"
    data.mkdir(exist_ok=True)
    splits: Counter[str] = Counter()
    with ExitStack() as stack:
        files: dict[str, Any] = {}
        for item in items_of(release):
            row = gold_files.dataset_row(item.content, sha256=item.sha256)
            name = row["split"]
            if name not in files:
                path = data / f"{name}.jsonl"
                files[name] = stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))
            files[name].write(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n")
            splits[name] += 1
    readme = folder / "README.md"
    readme.write_text(gold_files.card(manifest, splits=splits, license=license), encoding="utf-8")
    return [*(data / f"{name}.jsonl" for name in sorted(splits)), readme]


def write_croissant(
    release: GoldRelease, folder: Path, *, manifest: Manifest, license: str
) -> list[Path]:
    items, described = folder / "items.jsonl", folder / "croissant.json"
    _write_items(release, items)
    document = gold_files.croissant(
        manifest, sha256=_sha256(items), size=items.stat().st_size, license=license
    )
    described.write_text(gold_files.pretty(document), encoding="utf-8")
    return [items, described]


def _write_items(release: GoldRelease, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for canonical in release.items.values_list("canonical", flat=True).iterator(500):
            file.write(canonical + "\n")


def write_bag(
    release: GoldRelease, folder: Path, *, manifest: Manifest, license: str
) -> list[Path]:
    """The native files in a bag that any BagIt validator checks."""
    data = folder / "data"
    data.mkdir(exist_ok=True)
    _write_items(release, data / "items.jsonl")
    (data / "manifest.json").write_text(gold_files.pretty(manifest), encoding="utf-8")
    if release.guideline:
        (data / "guidelines.md").write_text(release.guideline.body, encoding="utf-8")
    payload = sorted(data.iterdir())
    size = sum(path.stat().st_size for path in payload)
    tags = {
        "bagit.txt": gold_files.BAG_DECLARATION,
        "bag-info.txt": gold_files.bag_info(manifest, size=size, files=len(payload)),
        "manifest-sha256.txt": gold_files.bag_manifest(
            {f"data/{path.name}": _sha256(path) for path in payload}
        ),
    }
    for name, text in tags.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    sealed = folder / "tagmanifest-sha256.txt"
    hashes = {name: _sha256(folder / name) for name in tags}
    sealed.write_text(gold_files.bag_manifest(hashes), encoding="utf-8", newline="\n")
    return [*payload, *(folder / name for name in tags), sealed]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


WRITERS: dict[str, Callable[..., list[Path]]] = {
    "labelstudio": write_labelstudio,
    "doccano": write_doccano,
    "huggingface": write_huggingface,
    "croissant": write_croissant,
    "bagit": write_bag,
    "csv": write_csv,
}
