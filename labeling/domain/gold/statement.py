"""What a gold release states, as JSON: the text that is hashed and signed.

A release of format 1 has a header instead: fewer facts, and a hash over the header with the hashes
of its items. Which format a release has, its own text says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NotRequired, TypedDict

from labeling.domain.agreement.agreement import AgreementSummary
from labeling.domain.audit_chain import AuditHead
from labeling.domain.facts import StoredFact
from labeling.domain.gold.content import SourceFile

FORMAT_1: Final = "assay-gold/1"
FORMAT_2: Final = "assay-gold/2"


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


class MeasuredRound(TypedDict):
    round: int
    kind: str
    state: str
    guideline_version: int


class FrozenAgreement(MeasuredRound, AgreementSummary, total=False):
    """Agreement in a round when the release was frozen.

    Without figures where nobody has labelled the layer in that round, and with ``layer`` and
    ``layers`` only for a release of the whole.
    """


class AgreementAtFreeze(TypedDict):
    rounds: list[FrozenAgreement]


class LeftOutRow(TypedDict):
    """A labelled conversation that is not in the release, and why."""

    conversation: str
    reason: StoredFact


class GuidelineText(TypedDict):
    version: int
    body: str


class ParentRelease(TypedDict):
    release: str
    sha256: str


class SettledAnew(TypedDict):
    """An item that the rule settles otherwise than the release before did, from the same answers.

    ``after`` None: it is left out, because ``fields`` are disputed; else they are what changed.
    """

    item: str
    before: str
    after: str | None
    fields: list[str]


class OwnStatement(TypedDict, total=False):
    """What one kind of gold states in addition: labelled here, imported, or generated.

    ``settling`` is the version of the rule by which answers were settled (1 where it is missing).
    """

    match_threshold: float
    ruler: str
    settling: int
    settled_anew: list[SettledAnew]
    synthetic: int
    generated: int
    imported_from: list[SourceFile]


class Statement(OwnStatement):
    """Everything that a release says about itself; ``root`` is that of the tree over its items.

    ``guidelines`` are the texts that labels were made under, with the current one, whose version is
    ``guideline_version``. ``audit_head`` is the end of the audit log before the freeze, and
    ``key`` the fingerprint of the key that signs.
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
    root: str
    message: str
    guideline_version: int | None
    guidelines: list[GuidelineText]
    agreement: AgreementAtFreeze | None
    overrides: list[Override]
    left_out: list[LeftOutRow]
    waivers: list[Waiver]
    frozen_by: str | None
    frozen_at: str
    audit_head: AuditHead | None
    key: str


class ReleaseHeader(OwnStatement):
    """What is read of both formats: the header of format 1, and of format 2 the statement."""

    format: NotRequired[str]
    schema_version: int
    project: str
    layer: str
    name: str
    version: int
    meaning: NotRequired[str]
    items: int
    message: str
    guideline_version: NotRequired[int | None]


def format_of(text: str) -> str:
    """The format that a release's text says it has; that of format 1 says nothing."""
    return str(parsed(text).get("format", FORMAT_1))


def parsed(text: str) -> Mapping[str, Any]:
    """The document, or an empty one where the text is not a JSON object."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
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


# --- exports --------------------------------------------------------------------------------------


class ManifestItem(TypedDict):
    item_id: str
    sha256: str
    split: str
    how: str
    signature: NotRequired[str]


class Manifest(TypedDict):
    """What exports are written from: what a release states, and the hashes of its items.

    Reasons in ``agreement`` and ``left_out`` are worded, so these are not what the release stores.
    """

    format: str
    release: str
    sha256: str
    header: ReleaseHeader
    items: list[ManifestItem]
    agreement: Any
    left_out: list[Any]
    frozen_at: str


class SignedManifest(TypedDict):
    """``manifest.json`` of a native export of format 2, next to the signed ``statement.json``.

    ``left_out`` is in words for readers; the statement has the same as codes.
    """

    format: str
    release: str
    sha256: str
    signature: str
    public_key: str
    items: list[ManifestItem]
    left_out: list[Any]
