"""What a gold release states, as JSON: the text that is hashed and signed.

Since version 0.4 it is the manifest of an exported folder (format 3): it has the hash of each
other file, and the signature is over all of them. What older releases have:
``labeling.gold.rules.older``.
Which format a release has, its own text says.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, NotRequired, TypedDict

from labeling.core.rules.audit import StatedEvents
from labeling.domain.errors import FileFault
from labeling.domain.facts import StoredFact
from labeling.domain.strict_json import without_repeats
from labeling.gold.rules.content import SourceFile

FORMAT_2: Final = "assay-gold/2"
FORMAT_3: Final = "assay-gold/3"

ITEMS_FILE, MANIFEST_FILE, GUIDELINES_FILE = "items.jsonl", "manifest.json", "guidelines.md"
LISTING_FILE, KEY_FILE = "items.sha256", "public_key.pem"


class Override(TypedDict):
    """A round that was opened past the gate."""

    round: int
    reason: str
    by: str | None


class Waiver(TypedDict):
    """Findings of lint of one kind that are in the release all the same, and why.

    Who imports gold can't change what was published: then a ``reason_code`` says so. ``by`` is
    empty there, and for commands.
    """

    kind: str
    findings: int
    reason: str | None
    reason_code: NotRequired[str]
    by: str | None
    at: str | None


class AgreementAtFreeze(TypedDict):
    """Of each round when the release was frozen, with its number, kind and state, the version of
    its guidelines and the figures of an ``Agreement``; without figures where nobody has labeled the
    layer in it, and with ``layers`` for a release of the whole.
    """

    rounds: list[dict[str, Any]]


class LeftOutRow(TypedDict):
    """A labeled conversation that is not in the release, and why."""

    conversation: str
    reason: StoredFact


class GuidelineText(TypedDict):
    version: int
    body: str


class ParentRelease(TypedDict):
    release: str
    sha256: str


class OwnStatement(TypedDict, total=False):
    """What one kind of gold states in addition: labeled here, imported, or generated.

    ``settling`` is the version of the rule by which answers were settled (1 where it is missing).
    """

    match_threshold: float
    ruler: str
    settling: int
    synthetic: int
    generated: int
    imported_from: list[SourceFile]


class Statement(OwnStatement):
    """Everything that a release says about itself.

    ``parent`` is the release before, and ``events`` are those of the project before the freeze.
    ``guidelines`` are the texts that labels were made under, with the current one, whose version is
    ``guideline_version``. ``files`` are the SHA-256 of the other files of an exported folder, and
    ``key`` is the fingerprint of the key that signs.
    """

    format: str
    schema_version: int
    project: str
    layer: str
    name: str
    version: int
    meaning: str
    parent: ParentRelease | None
    items: int
    message: str
    guideline_version: int | None
    guidelines: list[GuidelineText]
    agreement: AgreementAtFreeze | None
    overrides: list[Override]
    left_out: list[LeftOutRow]
    waivers: list[Waiver]
    frozen_by: str | None
    frozen_at: str
    events: StatedEvents
    files: dict[str, str]
    key: str


def parsed(text: str) -> Mapping[str, Any]:
    """The document, or an empty one where the text is not a JSON object, or has a key twice."""
    try:
        document = json.loads(text, object_pairs_hook=without_repeats)
    except (ValueError, RecursionError, FileFault):
        return {}
    return document if isinstance(document, dict) else {}


def guideline_texts(stated: Mapping[str, Any]) -> dict[int, str]:
    """The texts by version; what a forged statement holds in their place is left out."""
    rows = stated.get("guidelines")
    pairs = [
        (row.get("version"), row.get("body"))
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
    ]
    return {
        version: body
        for version, body in pairs
        if isinstance(version, int) and isinstance(body, str)
    }


# --- files ----------------------------------------------------------------------------------------


def listing(hashes: Iterable[tuple[str, str]]) -> str:
    """The hash of each item by its id, one a line, as ``sha256sum`` writes them.

    Examples
    --------
    >>> listed(listing([("c-1", "aa"), ("c-2", "bb")]))
    {'c-1': 'aa', 'c-2': 'bb'}
    """
    return "".join(f"{sha256}  {item_id}\n" for item_id, sha256 in hashes)


def listed(text: str) -> dict[str, str]:
    """The hashes by id that a listing has."""
    rows = [line.partition("  ") for line in text.split("\n") if line]
    return {item_id: sha256 for sha256, _, item_id in rows}


def lines_sha256(lines: Iterable[str]) -> str:
    """Of a file with these lines, each with its line feed."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()
