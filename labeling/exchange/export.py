"""Gold as files that anyone can read and check without Assay."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from django.http import StreamingHttpResponse

from labeling.conversations.archives import zipped
from labeling.domain import exporters
from labeling.domain.errors import RuleError
from labeling.domain.exporters import Exporter, GoldToExport
from labeling.domain.msgids import msgid
from labeling.domain.plugins import PluginRefused, Registry, said
from labeling.exchange.building import build
from labeling.exchange.gold_formats import WRITERS, items_of
from labeling.exchange.native_files import check_same, export_lines, write_native
from labeling.gold import looks
from labeling.gold.looks import Sight
from labeling.gold.rules.content import GoldContent
from labeling.models import Conversation, GoldRelease, Look
from labeling.work import blindness

logger = logging.getLogger(__name__)

FORMATS = ("native", *WRITERS)
"""Ours."""


def _check(name: str, found: object) -> Exporter:
    if name in FORMATS:
        raise PluginRefused("plugin.name_is_ours", name=name)
    return exporters.check(name, found)


EXPORTERS: Registry[Exporter] = Registry("assay.exporters", {}, _check)
"""Those of installed packages."""


class UnknownFormat(RuleError, code="unknown_format"):
    """The export format does not exist."""


class ExporterFailed(RuleError, code="exporter_failed"):
    """An exporter of an installed package did not write the gold."""


def formats() -> list[str]:
    return [*FORMATS, *EXPORTERS]


def formats_for(release: GoldRelease) -> list[str]:
    """The formats that have a place for what the release holds."""
    layers = {name: exporter.layers for name, exporter in EXPORTERS.items()}
    return [*FORMATS, *(name for name, only in layers.items() if not only or release.layer in only)]


def export(release: GoldRelease, *, format: str, folder: Path, license: str = "") -> list[Path]:
    """Write a release into a folder and return the files; the same release, the same bytes.

    ``license`` is what the metadata of a dataset says about its licence.
    """
    if format not in formats():
        raise UnknownFormat(
            msgid("There is no format “{format}”. Available: {formats}."),
            format=format,
            formats=formats(),
        )
    if format == "native":
        check_same(release, folder)
        return build(folder, lambda draft: write_native(release, draft), again=True)
    if format in WRITERS:
        return build(folder, lambda draft: WRITERS[format](release, draft, license=license))
    return build(folder, lambda draft: _write_by(EXPORTERS[format], release, draft, license))


def download(release: GoldRelease, format: str, viewer: Any) -> StreamingHttpResponse:
    """The items as lines, as they were hashed; or the files of a format in one archive. Who would
    see test items says why first.
    """
    blindness.refuse(viewer, Conversation.objects.filter(gold_items__release=release))
    looks.require(viewer, [release], Sight(Look.Purpose.EXPORT))
    if format:
        if format not in formats_for(release):
            raise UnknownFormat(
                msgid("There is no format “{format}”. Available: {formats}."),
                format=format,
                formats=formats_for(release),
            )
        write = partial(export, release, format=format)
        return zipped(lambda folder: write(folder=folder), f"{release}-{format}.zip")
    return StreamingHttpResponse(
        export_lines(release),
        content_type="application/x-ndjson; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{release}.jsonl"'},
    )


@dataclass(frozen=True, slots=True)
class _Items:
    """Read again each time, a few at a time: a release may be larger than the memory."""

    release: GoldRelease

    def __iter__(self) -> Iterator[GoldContent]:
        return (item.content for item in items_of(self.release))


def _write_by(exporter: Exporter, release: GoldRelease, folder: Path, license: str) -> list[Path]:
    gold = GoldToExport(
        name=release.name,
        version=release.version,
        layer=release.layer,
        sha256=release.sha256,
        license=license,
        items=_Items(release),
    )
    try:
        exporter.write(gold, folder)
    except RuleError:
        raise
    except Exception as error:  # other people's code: who asked reads what it said
        logger.exception("The exporter %s failed on %s.", exporter.name, release)
        raise ExporterFailed(
            msgid("The exporter {format} failed: {text}"), format=exporter.name, text=said(error)
        ) from error
    written = [path for path in sorted(folder.rglob("*")) if not path.is_dir()]
    if not written or any(path.is_symlink() for path in written):
        raise ExporterFailed(
            msgid("The exporter {format} wrote no file into its folder."), format=exporter.name
        )
    return written
