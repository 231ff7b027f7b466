"""Gold as files that anyone can read and check without Assay."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from django.http import StreamingHttpResponse

from labeling.conversations.archives import zipped
from labeling.domain.errors import RuleError
from labeling.domain.msgids import msgid
from labeling.exchange.building import build
from labeling.exchange.gold_formats import WRITERS
from labeling.exchange.native_files import check_same, export_lines, write_native
from labeling.gold import looks
from labeling.gold.looks import Sight
from labeling.models import Conversation, GoldRelease, Look
from labeling.work import blindness

FORMATS = ("native", *WRITERS)
"""Ours."""


class UnknownFormat(RuleError, code="unknown_format"):
    """The export format does not exist."""


def export(release: GoldRelease, *, format: str, folder: Path, license: str = "") -> list[Path]:
    """Write a release into a folder and return the files; the same release, the same bytes.

    ``license`` is what the metadata of a dataset says about its licence.
    """
    _check(format)
    if format == "native":
        check_same(release, folder)
        return build(folder, lambda draft: write_native(release, draft), again=True)
    return build(folder, lambda draft: WRITERS[format](release, draft, license=license))


def _check(format: str) -> None:
    if format not in FORMATS:
        raise UnknownFormat(
            msgid("There is no format “{format}”. Available: {formats}."),
            format=format,
            formats=list(FORMATS),
        )


def download(release: GoldRelease, format: str, viewer: Any) -> StreamingHttpResponse:
    """The items as lines, as they were hashed; or the files of a format in one archive. Who would
    see test items says why first.
    """
    blindness.refuse(viewer, Conversation.objects.filter(gold_items__release=release))
    looks.require(viewer, [release], Sight(Look.Purpose.EXPORT))
    if format:
        _check(format)
        write = partial(export, release, format=format)
        return zipped(lambda folder: write(folder=folder), f"{release}-{format}.zip")
    return StreamingHttpResponse(
        export_lines(release),
        content_type="application/x-ndjson; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{release}.jsonl"'},
    )
