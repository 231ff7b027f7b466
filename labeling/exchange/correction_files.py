"""Corrections of published gold from a file of ids: for those who have the published text."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any

from django.contrib.auth.models import User
from django.db import transaction
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from labeling.conversations import chats
from labeling.core import projects
from labeling.domain.errors import RuleError
from labeling.domain.msgids import msgid
from labeling.gold import corrections
from labeling.gold.rules.content import GoldContent, SourceFile
from labeling.gold.rules.corrections import Correction
from labeling.models import GoldRelease
from labeling.schema import LAYERS
from labeling.schema.labels import StoredLabel

FORMAT = "assay-corrections/1"
Ids = Annotated[list[str], Field(min_length=1)]


class CorrectionsRefused(RuleError):
    """The file is broken, or it is about other gold than this."""

    code = "corrections_refused"


class CorrectedLabel(BaseModel):
    """One label that was looked at; without ``corrected`` the published one stays."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    conversation: str
    place: str = ""
    uid: str
    published: Ids
    corrected: Ids | None = None
    reason: str = ""


class CorrectionFile(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    format: str
    layer: str
    decided_by: str
    labels: list[CorrectedLabel]


def read(path: Path) -> CorrectionFile:
    try:
        document = CorrectionFile.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise CorrectionsRefused(
            "corrections.broken", file=path.name, where=where, said=first["msg"]
        ) from error
    if document.format != FORMAT or document.layer not in LAYERS:
        raise CorrectionsRefused(
            msgid("{file} has another format than {format}, or an unknown layer."),
            file=path.name,
            format=FORMAT,
        )
    return document


@transaction.atomic
def apply(path: Path, release: GoldRelease, *, by: User | None = None) -> GoldRelease:
    """The next version of imported gold with the corrections of the file: all of them or none.

    Each label must cite what the file expects, by the published ids; else the file is about
    other gold, and nothing is stored.
    """
    document = read(path)
    projects.lock(release.project)
    if release.children.exists():
        raise CorrectionsRefused("corrections.not_newest", release=str(release))
    if document.layer != release.layer:
        raise CorrectionsRefused(
            msgid("The corrections are of the layer {layer}, {release} is not."),
            release=str(release),
            layer=document.layer,
        )
    source: SourceFile = {
        "file": path.name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }
    items = {item.item_id: item for item in release.items.all()}
    by_item: dict[str, list[Correction]] = {}
    for row in document.labels:
        item = items.get(row.conversation)
        if item is None:
            raise _other(row, release)
        label, ids = _label(item.content, document.layer, row, release), _ids(row, release)
        cited = [ids[position] for position in label["evidence"]]
        if cited not in (row.published, row.corrected):
            raise _other(row, release)
        if row.corrected is None:
            continue
        positions = {name: position for position, name in enumerate(ids)}
        if not positions.keys() >= set(row.corrected):
            raise _other(row, release)
        evidence = sorted(positions[name] for name in row.corrected)
        by_item.setdefault(row.conversation, []).append(
            Correction(
                dispute=None,
                layer=document.layer,
                uid=row.uid,
                label={**label, "evidence": evidence},
                is_new=False,
                decided_by=(document.decided_by,),
                reason=row.reason,
                release=str(release),
                file=source,
            )
        )
    message = f"Corrections of {path.name}"
    return corrections.freeze_corrections(release, by_item, message=message, by=by)


def _label(
    content: GoldContent, layer: str, row: CorrectedLabel, release: GoldRelease
) -> StoredLabel:
    labels: list[Any] = content["gold"].get(LAYERS[layer].key, [])
    found = next((label for label in labels if label.get("uid") == row.uid), None)
    if found is None or "evidence" not in found:
        raise _other(row, release)
    label: StoredLabel = found
    return label


def _ids(row: CorrectedLabel, release: GoldRelease) -> list[str]:
    ids = chats.dia_ids_of(release.project, row.conversation)
    if ids is None:
        raise _other(row, release)
    return ids


def _other(row: CorrectedLabel, release: GoldRelease) -> CorrectionsRefused:
    return CorrectionsRefused(
        "corrections.other_gold",
        conversation=row.conversation,
        place=row.place,
        release=str(release),
    )
