"""Gold as files that anyone can read and check without Assay."""

from __future__ import annotations

from pathlib import Path

from labeling.domain.errors import RuleError
from labeling.domain.schema import LAYERS
from labeling.models import GoldRelease
from labeling.services.exchange.gold_formats import WRITERS
from labeling.services.exchange.native_files import FolderInUse, write_native

FORMATS = ("native", *WRITERS)
OF_LAYERS = ("labelstudio", "doccano")
"""Formats with a place for labels of one layer, but not for a whole document."""


class UnknownFormat(RuleError):
    """The export format does not exist."""

    code = "unknown_format"


def formats_for(release: GoldRelease) -> list[str]:
    """The formats that have a place for what the release holds."""
    return [name for name in FORMATS if release.layer in LAYERS or name not in OF_LAYERS]


def export(release: GoldRelease, *, format: str, folder: Path, license: str = "") -> list[Path]:
    """Write a release into a folder and return the files; the same release, the same bytes.

    ``license`` is what the metadata of a dataset says about its licence.
    """
    if format not in FORMATS:
        raise UnknownFormat("export.unknown_format", format=format, formats=list(FORMATS))
    if format == "native":
        return write_native(release, folder)
    if folder.exists() and any(folder.iterdir()):
        raise FolderInUse("export.folder_not_empty", folder=str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    return WRITERS[format](release, folder, license=license)
