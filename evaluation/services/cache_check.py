"""How full the caches are, for ``assay check`` (``labeling.operation.preflight``)."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from evaluation.services.language_models import replies
from labeling.operation.preflight import NOTE, Found, check
from pipelines.chat.receiving import MEGABYTE

NEARLY_FULL = 0.9
LARGE_MB = 10 * 1024


def register() -> None:
    check(caches)


def caches() -> Found:
    """Replies are forgotten when they are too many; files of indexes never are."""
    used, most = replies.size() // MEGABYTE, settings.MAX_CACHE_MB
    if used >= NEARLY_FULL * most:
        yield (
            NOTE,
            f"replies of language models take {used} of {most} MB: the oldest are forgotten and "
            "would be paid again; set ASSAY_MAX_CACHE_MB to keep more.",
        )
    folder = settings.DATA_DIR / "cache"
    files = _bytes_in(folder) // MEGABYTE
    if files > LARGE_MB:
        yield NOTE, f"{folder} takes {files} MB: what is in it can be deleted any time."


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
