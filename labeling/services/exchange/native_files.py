"""A gold release as the files that prove it: items, the signed statement, and their hashes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from labeling.domain.errors import RuleError
from labeling.domain.gold.proofs import PROOF_FORMAT, ItemProof
from labeling.domain.gold.statement import (
    FORMAT_2,
    Manifest,
    SignedManifest,
    format_of,
)
from labeling.domain.gold.tree import path_of
from labeling.models import GoldItem, GoldRelease
from labeling.services.exchange.building import FolderInUse
from labeling.words import worded_in_english


class NotProvable(RuleError):
    """Releases of format 1 have no tree, so none of their items can be proven alone."""

    code = "not_provable"


def export_lines(release: GoldRelease) -> Iterator[str]:
    """The native export: one item per line, each the exact text its hash was computed from."""
    for canonical in release.items.values_list("canonical", flat=True).iterator(chunk_size=500):
        yield canonical + "\n"


def manifest(release: GoldRelease) -> Manifest:
    """What is needed to check the items of format 1: the header, and every hash, in order."""
    return {
        "format": format_of(release.header),
        "release": str(release),
        "sha256": release.sha256,
        "header": json.loads(release.header),
        "items": [],
        "agreement": worded_in_english(release.agreement),
        "left_out": worded_in_english(release.left_out, with_codes=True),
        "frozen_at": release.frozen_at.isoformat(),
    }


def signed_manifest(release: GoldRelease) -> SignedManifest:
    """What is needed to check a statement and the items that it covers."""
    return {
        "format": FORMAT_2,
        "release": str(release),
        "sha256": release.sha256,
        "signature": release.signature,
        "public_key": release.public_key,
        "items": [],
        "left_out": worded_in_english(release.left_out, with_codes=True),
    }


def _write_manifest(release: GoldRelease, path: Path) -> None:
    """The document with its items, which are written as they are read."""
    is_signed = format_of(release.header) == FORMAT_2
    document = signed_manifest(release) if is_signed else manifest(release)
    before, after = _text(document).split('\n  "items": []', 1)  # deeper keys have more blanks
    columns = ("item_id", "sha256", "split", "how", *(["signature"] if is_signed else []))
    rows = release.items.order_by("position").values(*columns).iterator(chunk_size=500)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f'{before}\n  "items": [')
        separator = "\n"
        for row in rows:
            file.write(separator + "    " + _text(row).replace("\n", "\n    "))
            separator = ",\n"
        file.write(f"\n  ]{after}\n")


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)


def check_same(release: GoldRelease, folder: Path) -> None:
    """A folder may be written again by the release that it holds."""
    described = folder / "manifest.json"
    if described.exists() and json.loads(described.read_text()).get("release") != str(release):
        raise FolderInUse("export.other_release", folder=str(folder))


def write_native(release: GoldRelease, folder: Path) -> list[Path]:
    folder.mkdir(exist_ok=True)
    return [write_items(release, folder / "items.jsonl"), *write_proof(release, folder)]


def write_items(release: GoldRelease, path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(export_lines(release))
    return path


def write_proof(release: GoldRelease, folder: Path) -> list[Path]:
    """What is signed, the hashes of the items, and the current guidelines."""
    described = folder / "manifest.json"
    _write_manifest(release, described)
    written = [described]
    if format_of(release.header) == FORMAT_2:
        stated = folder / "statement.json"
        stated.write_bytes(release.header.encode())  # exactly what is signed
        written.append(stated)
    if release.guideline:
        guideline = folder / "guidelines.md"
        guideline.write_text(release.guideline.body, encoding="utf-8")
        written.append(guideline)
    return written


def proof_of(item: GoldItem) -> ItemProof:
    """One item with what proves it alone: the signed statement, and its way up the tree."""
    release = item.release
    if format_of(release.header) != FORMAT_2:
        raise NotProvable("export.no_proof", release=str(release))
    hashes = release.items.order_by("position").values_list("sha256", flat=True)
    position = release.items.filter(position__lt=item.position).count()
    return {
        "format": PROOF_FORMAT,
        "release": str(release),
        "item": item.canonical,
        "position": position,
        "path": path_of(hashes.iterator(chunk_size=2000), position),
        "statement": release.header,
        "sha256": release.sha256,
        "signature": release.signature,
        "public_key": release.public_key,
    }


def proof_text(item: GoldItem) -> str:
    return json.dumps(proof_of(item), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
