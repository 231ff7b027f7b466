"""A native export of a release, whose items another project takes over as they are."""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping
from typing import Any

from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact
from labeling.domain.gold.release import text_sha256
from labeling.domain.gold.statement import FORMAT_2, parsed
from labeling.domain.gold.tree import root_of

DIGEST = 32


class ExportedHashes:
    """The hashes that a manifest states, in order; 32 bytes each, as there may be many."""

    def __init__(self, release: str, sha256: str, digests: array[int]) -> None:
        self.release, self.sha256, self._digests = release, sha256, digests

    @classmethod
    def read(cls, manifest: bytes, statement: bytes = b"") -> ExportedHashes:
        """Refused if the statement of a signed release is not the one that covers these items.

        Who signed it is another question, which ``verify_gold`` answers.
        """
        try:
            document = json.loads(manifest, object_hook=_digest_alone)
            items = document["items"]
            digests = array("B", b"".join(items))
            exported = cls(str(document["release"]), str(document["sha256"]), digests)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FileFault("gold_file.bad_manifest", why=_why(error)) from error
        if len(digests) != DIGEST * len(items):
            raise FileFault("gold_file.bad_manifest", why="sha256")
        if document.get("format") == FORMAT_2 and not exported._is_stated_by(statement):
            raise FileFault("gold_file.bad_statement")
        return exported

    def __len__(self) -> int:
        return len(self._digests) // DIGEST

    def hash_of(self, line: int) -> str:
        """Of a line, counted from 1; empty behind the end."""
        return self._digests[DIGEST * (line - 1) : DIGEST * line].tobytes().hex()

    def _is_stated_by(self, statement: bytes) -> bool:
        text = statement.decode(errors="replace")
        stated: Mapping[str, Any] = parsed(text)
        hashes = (self.hash_of(line) for line in range(1, len(self) + 1))
        return text_sha256(text) == self.sha256 and stated.get("root") == root_of(hashes)


def _why(error: Exception) -> str | Fact:
    return Fact("file.too_deep") if isinstance(error, RecursionError) else ascii(error)


def _digest_alone(row: dict[str, Any]) -> dict[str, Any] | bytes:
    """Of an item its hash: while it is read, a manifest would take ten times its size."""
    return bytes.fromhex(row["sha256"]) if row.keys() >= {"item_id", "sha256", "split"} else row
