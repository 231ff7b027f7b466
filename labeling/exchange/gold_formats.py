"""A gold release in the formats of other tools. The same release, the same bytes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from django.db.models import Count

from labeling.conversations.formats import typed_rows
from labeling.conversations.formats.answers import FileAnswer, FileConversation
from labeling.conversations.rules.importing import Turn
from labeling.domain.csv_cells import csv_line
from labeling.domain.errors import RuleError
from labeling.domain.msgids import msgid
from labeling.exchange import parquet
from labeling.exchange.formats import gold_files, labelstudio
from labeling.exchange.formats.labelstudio_config import config
from labeling.exchange.native_files import write_proof
from labeling.gold.rules.content import GoldContent, GoldMessage
from labeling.models import GoldRelease
from labeling.schema import LAYERS
from labeling.words import worded_in_english

GOLD = "gold"  # in place of the annotator


class CannotCarry(RuleError, code="cannot_carry"):
    """The format has no place for labels of this layer."""


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
        labeled = (_labeled(item.content) for item in items_of(release))
        file.writelines(labelstudio.tasks(labeled))
    schema = release.project.event_schema
    layers = [*LAYERS[release.layer].needs, release.layer]
    interface.write_text(config(layers, event_schema=schema), encoding="utf-8")
    return [tasks, interface]


def _check_layer(release: GoldRelease) -> None:
    if release.layer not in LAYERS:
        raise CannotCarry(
            msgid(
                "{release} holds {layer} documents, which this format has no place for. "
                "Use native, huggingface or csv."
            ),
            release=str(release),
            layer=release.layer,
        )


def _labeled(content: GoldContent) -> FileConversation:
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
        file.write(csv_line(gold_files.columns_of(release.layer)))
        for item in items_of(release):
            file.writelines(map(csv_line, gold_files.csv_rows(item.content, sha256=item.sha256)))
    return [path]


def write_huggingface(release: GoldRelease, folder: Path, *, license: str) -> list[Path]:
    """A Parquet file a split, the dataset's card, and what is signed."""
    data = folder / "data"
    data.mkdir(exist_ok=True)
    columns = typed_rows.columns_of(release.layer)
    splits: Counter[str] = Counter()
    with ExitStack() as stack:
        files: dict[str, parquet.Rows] = {}
        for item in items_of(release):
            row = typed_rows.row_of(item.content, sha256=item.sha256)
            name = row["split"]
            if name not in files:
                path = data / f"{name}.parquet"
                rows = parquet.Rows(path, columns, says=_signed(release))
                files[name] = stack.enter_context(rows)
            files[name].add(row)
            splits[name] += 1
    readme = folder / "README.md"
    card = gold_files.card(_summary(release), splits=splits, license=license)
    readme.write_text(card, encoding="utf-8")
    return [
        *(data / f"{name}.parquet" for name in sorted(splits)),
        readme,
        *write_proof(release, folder),
    ]


def _signed(release: GoldRelease) -> dict[str, str]:
    """What a file says of the release that it is part of."""
    return {
        "release": str(release),
        "sha256": release.sha256,
        "statement": release.header,
        "signature": release.signature,
        "public_key": release.public_key,
    }


def _summary(release: GoldRelease) -> gold_files.ReleaseSummary:
    hows = release.items.order_by().values_list("how").annotate(Count("pk"))
    return {
        "release": str(release),
        "sha256": release.sha256,
        "header": json.loads(release.header),
        "hows": dict(hows),
        "agreement": worded_in_english(release.agreement),
        "n_left_out": len(release.left_out),
    }


WRITERS: dict[str, Callable[..., list[Path]]] = {
    "labelstudio": write_labelstudio,
    "huggingface": write_huggingface,
    "csv": write_csv,
}
