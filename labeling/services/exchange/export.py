"""Gold as files that anyone can read and check without Assay."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from labeling.domain.errors import RuleError
from labeling.domain.gold.proofs import PROOF_FORMAT, ItemProof
from labeling.domain.gold.statement import FORMAT_2, Manifest, SignedManifest, format_of
from labeling.domain.gold.tree import path_of
from labeling.domain.schema import LAYERS
from labeling.models import GoldItem, GoldRelease
from labeling.services.exchange.gold_formats import WRITERS
from labeling.words import worded_in_english

FORMATS = ("native", *WRITERS)
OF_LAYERS = ("labelstudio", "doccano")
"""Formats with a place for labels of one layer, but not for a whole document."""


class UnknownFormat(RuleError):
    """The export format does not exist."""

    code = "unknown_format"


class FolderInUse(RuleError):
    """The output folder holds something else."""

    code = "folder_in_use"


def formats_for(release: GoldRelease) -> list[str]:
    """The formats that have a place for what the release holds."""
    return [name for name in FORMATS if release.layer in LAYERS or name not in OF_LAYERS]


class NotProvable(RuleError):
    """Releases of format 1 have no tree, so none of their items can be proven alone."""

    code = "not_provable"


def export_lines(release: GoldRelease) -> Iterator[str]:
    """The native export: one item per line, each the exact text its hash was computed from."""
    for canonical in release.items.values_list("canonical", flat=True).iterator(chunk_size=500):
        yield canonical + "\n"


def manifest(release: GoldRelease) -> Manifest:
    """What is needed to check the items: the header and every hash, in order."""
    return {
        "format": format_of(release.header),
        "release": str(release),
        "sha256": release.sha256,
        "header": json.loads(release.header),
        "items": list(release.items.values("item_id", "sha256", "split", "how")),
        "agreement": worded_in_english(release.agreement),
        "left_out": worded_in_english(release.left_out, with_codes=True),
        "frozen_at": release.frozen_at.isoformat(),
    }


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


def export(release: GoldRelease, *, format: str, folder: Path, license: str = "") -> list[Path]:
    """Write a release into a folder and return the files; the same release, the same bytes.

    ``license`` is what the metadata of a dataset says about its licence.
    """
    if format not in FORMATS:
        raise UnknownFormat("export.unknown_format", format=format, formats=list(FORMATS))
    if format == "native":
        return _export_native(release, folder)
    if folder.exists() and any(folder.iterdir()):
        raise FolderInUse("export.folder_not_empty", folder=str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    return WRITERS[format](release, folder, manifest=manifest(release), license=license)


def signed_manifest(release: GoldRelease) -> SignedManifest:
    """What is needed to check a statement and the items that it covers."""
    return {
        "format": FORMAT_2,
        "release": str(release),
        "sha256": release.sha256,
        "signature": release.signature,
        "public_key": release.public_key,
        "items": list(release.items.values("item_id", "sha256", "split", "how", "signature")),
        "left_out": worded_in_english(release.left_out, with_codes=True),
    }


def _export_native(release: GoldRelease, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    items, described = folder / "items.jsonl", folder / "manifest.json"
    if described.exists() and json.loads(described.read_text()).get("release") != str(release):
        raise FolderInUse("export.other_release", folder=str(folder))
    with items.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(export_lines(release))
    is_signed = format_of(release.header) == FORMAT_2
    document = signed_manifest(release) if is_signed else manifest(release)
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
    described.write_text(text + "\n", encoding="utf-8")
    written = [items, described]
    if is_signed:
        stated = folder / "statement.json"
        stated.write_bytes(release.header.encode())  # exactly what is signed
        written.append(stated)
    if release.guideline:
        guideline = folder / "guidelines.md"
        guideline.write_text(release.guideline.body, encoding="utf-8")
        written.append(guideline)
    return written
