"""Corrections of published gold from a file of ids: for those who have the published text."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any, Literal

from django.contrib.auth.models import User
from django.db import transaction
from pydantic import BaseModel, Field, ValidationError

from labeling.conversations import chats
from labeling.core import projects
from labeling.domain.errors import RuleError
from labeling.gold import corrections
from labeling.gold.rules.content import SourceFile
from labeling.gold.rules.corrections import Correction
from labeling.models import GoldItem, GoldRelease
from labeling.schema import LAYERS
from labeling.schema.labels import StoredLabel

Ids = Annotated[list[str], Field(min_length=1)]


class CorrectionsRefused(RuleError, code="corrections_refused"):
    """The file is broken, or it is about other gold than this."""


class CorrectedLabel(BaseModel):
    """One label that was looked at; without ``corrected`` the published one stays."""

    conversation: str
    place: str = ""
    uid: str
    published: Ids
    corrected: Ids | None = None
    reason: str = ""


class CorrectionFile(BaseModel):
    format: Literal["assay-corrections/1"]
    layer: str
    decided_by: str
    labels: list[CorrectedLabel]


def read(path: Path) -> CorrectionFile:
    try:
        return CorrectionFile.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise CorrectionsRefused(
            "corrections.broken", file=path.name, where=where, said=first["msg"]
        ) from error


@transaction.atomic
def apply(path: Path, release: GoldRelease, *, by: User | None = None) -> GoldRelease:
    """The next version of imported gold with the corrections of the file: all of them or none.

    Each label must cite what the file expects, by the published ids; else the file is about
    other gold, and nothing is stored.
    """
    document, sha256 = read(path), hashlib.sha256(path.read_bytes()).hexdigest()
    projects.lock(release.project)
    if release.children.exists():
        raise CorrectionsRefused("corrections.not_newest", release=str(release))
    source: SourceFile = {"file": path.name, "sha256": sha256}
    items = {item.item_id: item for item in release.items.all()}
    by_item: dict[str, list[Correction]] = {}
    for row in document.labels:
        try:
            label = _corrected(row, items[row.conversation], document.layer, release)
        except LookupError:
            raise CorrectionsRefused(
                "corrections.other_gold",
                conversation=row.conversation,
                place=row.place,
                release=str(release),
            ) from None
        if label is not None:
            by_item.setdefault(row.conversation, []).append(
                Correction(
                    dispute=None,
                    layer=document.layer,
                    uid=row.uid,
                    label=label,
                    is_new=False,
                    decided_by=(document.decided_by,),
                    reason=row.reason,
                    release=str(release),
                    file=source,
                )
            )
    message = f"Corrections of {path.name}"
    return corrections.freeze_corrections(release, by_item, message=message, by=by)


def _corrected(
    row: CorrectedLabel, item: GoldItem, layer: str, release: GoldRelease
) -> StoredLabel | None:
    """None: the published label stays. ``LookupError`` where the file is about other gold."""
    labels: list[Any] = item.content["gold"][LAYERS[layer].key]
    label = {each["uid"]: each for each in labels}[row.uid]
    ids = chats.dia_ids_of(release.project, row.conversation) or []
    cited = [ids[position] for position in label["evidence"]]
    positions = {name: position for position, name in enumerate(ids)}
    if cited not in (row.published, row.corrected):
        raise LookupError
    if row.corrected is None:
        return None
    return {**label, "evidence": sorted(positions[name] for name in row.corrected)}
