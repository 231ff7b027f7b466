"""A gold release as the files that prove it: items, their hashes, the manifest, the signature."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from labeling.domain.msgids import msgid
from labeling.exchange.building import FolderInUse
from labeling.gold.rules import statement
from labeling.gold.rules.signatures import SIGNATURE_FILE
from labeling.models import GoldRelease
from labeling.words import worded_in_english


def export_lines(release: GoldRelease) -> Iterator[str]:
    """The native export: one item per line, each the exact text its hash was computed from."""
    for canonical in release.items.values_list("canonical", flat=True).iterator(chunk_size=500):
        yield canonical + "\n"


def check_same(release: GoldRelease, folder: Path) -> None:
    """A folder may be written again by the release that it holds."""
    path = folder / statement.MANIFEST_FILE
    if path.exists() and name_of(statement.parsed(path.read_text("utf-8"))) != str(release):
        raise FolderInUse(
            msgid("{folder} holds another release: choose an empty folder."), folder=str(folder)
        )


def name_of(manifest: Mapping[str, Any]) -> str:
    """The release that a manifest of whatever format is about."""
    return str(manifest.get("release") or f"{manifest.get('name')}@{manifest.get('version')}")


def write_native(release: GoldRelease, folder: Path) -> list[Path]:
    folder.mkdir(exist_ok=True)
    return [write_items(release, folder / statement.ITEMS_FILE), *write_proof(release, folder)]


def write_items(release: GoldRelease, path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(export_lines(release))
    return path


def write_proof(release: GoldRelease, folder: Path) -> list[Path]:
    """What is signed, the hashes of the items, and the current guidelines."""
    texts = {}
    if statement.parsed(release.header).get("format") == statement.FORMAT_3:
        texts = {
            statement.MANIFEST_FILE: release.header,
            statement.LISTING_FILE: release.listing,
            statement.KEY_FILE: release.public_key,
            SIGNATURE_FILE: release.signature,
        }
    elif release.signature:
        texts = {statement.MANIFEST_FILE: _old_manifest(release), "statement.json": release.header}
    if release.guideline:
        texts[statement.GUIDELINES_FILE] = release.guideline.body
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())  # exactly what is signed
    return [folder / name for name in texts]


def _old_manifest(release: GoldRelease) -> str:
    """What was written next to releases of format 2 when they were made."""
    columns = ("item_id", "sha256", "split", "how", "signature")
    document = {
        "format": statement.FORMAT_2,
        "release": str(release),
        "sha256": release.sha256,
        "items": list(release.items.order_by("position").values(*columns)),
        "left_out": worded_in_english(release.left_out, with_codes=True),
        "signature": release.signature,
        "public_key": release.public_key,
    }
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
