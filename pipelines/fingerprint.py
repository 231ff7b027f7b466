"""What the version of a pipeline depends on: its code, rules, word lists, prompts and weights."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

SOURCE_KINDS = ("*.py", "*.yaml", "*.json", "*.md", "*.safetensors")


@cache
def fingerprint(folder: Path, *others: Path) -> str:
    """Eight hex digits over all sources in ``folder``; if they differ, outputs may differ.

    ``others`` are files outside the folder that count, too.
    """
    files = sorted(path for kind in SOURCE_KINDS for path in folder.rglob(kind))
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    for path in others:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:8]
