"""A gold release in the formats of other tools. The same release, the same bytes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from django.db.models import Count

from labeling.conversations.formats import typed_rows
from labeling.domain.csv_cells import csv_line
from labeling.exchange import parquet
from labeling.exchange.formats import gold_files
from labeling.exchange.native_files import write_proof
from labeling.gold.rules.content import GoldContent
from labeling.models import GoldRelease
from labeling.words import worded_in_english


class ReleaseItem(NamedTuple):
    content: GoldContent
    sha256: str


def items_of(release: GoldRelease) -> Iterator[ReleaseItem]:
    rows = release.items.values_list("canonical", "sha256")
    for canonical, sha256 in rows.iterator(chunk_size=200):
        yield ReleaseItem(json.loads(canonical), sha256)


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
    "huggingface": write_huggingface,
    "csv": write_csv,
}
