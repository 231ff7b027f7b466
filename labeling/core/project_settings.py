"""What a project was set up with, changed later: when that is refused, and what follows from it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from labeling.core import events, projects
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.jobs import pending
from labeling.models import (
    Adjudication,
    Annotation,
    GoldItem,
    GoldRelease,
    Project,
    Round,
)
from labeling.schema import LAYERS
from labeling.schema.targets import END_TO_END

TOLD = (
    *("name", "description", "overlap", "review_rate", "publish_names"),
    *("hints", "hints_in_calibration"),
)
MATCHING = ("match_threshold", "actor_synonyms")
MEASURING = ("kappa_threshold", "kappa_statistic", *MATCHING, "layers")
NEXT_ROUND = ("label_f1_threshold", "open_fields")
"""A round keeps what holds when it is opened."""

FIELDS = (*TOLD, *MEASURING, *NEXT_ROUND, "event_schema")


class SettingsRefused(RuleError, code="settings_refused"):
    """What a project was set up with cannot be changed so, or not now."""


def of(project: Project) -> dict[str, Any]:
    """The settings as plain JSON; the types of events in their order."""
    return plain({name: getattr(project, name) for name in FIELDS})


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    before, after = plain(before), plain(after)
    return [name for name in FIELDS if json.dumps(before.get(name)) != json.dumps(after.get(name))]


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON keeps it, where the order of the types of events counts."""
    schema = settings.get("event_schema")
    if isinstance(schema, dict):
        schema = [[name, roles] for name, roles in schema.items()]
    return {**settings, "event_schema": schema}


@transaction.atomic
def change(project: Project, *, settings: Mapping[str, Any], by: User) -> list[str]:
    """Store what differs of these; the names of it."""
    locked = projects.lock(project)
    now = of(locked)
    wanted = {**now, **settings}
    # pages begin with the first
    kept = [name for name in now["layers"] if name in wanted["layers"]]
    wanted["layers"] = [*kept, *(name for name in wanted["layers"] if name not in kept)]
    fields = changed(now, wanted)
    if not fields:
        return []
    check(locked, fields, wanted)
    Project.objects.filter(pk=project.pk).update(**{name: wanted[name] for name in fields})
    after = plain(wanted)
    events.record(
        "project.changed",
        project,
        project=project,
        actor=by,
        fields=fields,
        was={name: now[name] for name in fields},
        now={name: after[name] for name in fields},
    )
    follow(project, fields)
    return fields


def follow(project: Project, fields: Collection[str]) -> None:
    """Have workers compute again what was stored under the earlier settings."""
    if not set(MEASURING) & set(fields):
        return
    known = Q(agreement__isnull=False) | Q(measurements__isnull=False)
    measured = project.rounds.filter(known).order_by("number").distinct()
    if not set(MATCHING) & set(fields):
        measured = measured.filter(kind=Round.Kind.FULL)  # the others keep their verdict
    for round_ in measured.only("pk"):
        pending.request(project, measure=round_)
    pending.request(project)


def check(project: Project, fields: Collection[str], settings: Mapping[str, Any]) -> None:
    """Refuse what would give labels that are there another meaning; the project is locked."""
    helps = ("hints_in_calibration", *(["hints"] if project.hints_in_calibration else []))
    for name in ("layers", *MEASURING, "event_schema", *helps):
        if name in fields:
            _refuse_blind(project, name)
    if "layers" in fields:
        _check_layers(project, settings["layers"])
    if "event_schema" in fields and settings["event_schema"]:
        _check_schema(project, settings["event_schema"])


def _refuse_blind(project: Project, field: str) -> None:
    blind = project.rounds.filter(kind=Round.Kind.CALIBRATION, state=Round.State.OPEN).first()
    if blind:
        raise SettingsRefused(
            msgid(
                "Calibration round {number} is open and is measured as it was opened."
                " Change this when it has closed."
            ),
            number=blind.number,
            details={"field": field},
        )


def _check_layers(project: Project, layers: Sequence[str]) -> None:
    """Answers say nothing of a layer that nobody asked for, which would count as “nothing here”."""
    gone = [name for name in project.layers if name not in layers]
    added = [name for name in layers if name not in project.layers]
    for name in gone:
        if _is_used(project, name):
            raise SettingsRefused(
                msgid(
                    "There are labels, decisions or gold of “{title}”: it stays. "
                    "Import the conversations into another project to label them "
                    "without it."
                ),
                title=Fact(f"layer.{name}"),
                details={"field": "layers"},
            )
    if not gone and not added:
        return
    full = project.rounds.filter(state=Round.State.OPEN).order_by("number").first()
    if full:
        raise SettingsRefused(
            msgid("Round {number} is open: close it before you change what is labeled."),
            number=full.number,
            details={"field": "layers"},
        )
    answered = Annotation.objects.filter(
        assignment__round__project=project, status=Annotation.Status.SUBMITTED
    )
    if added and answered.exists():
        raise SettingsRefused(
            msgid(
                "Answers were submitted when nobody was asked for “{title}”; they "
                "would count as “nothing here”. Import the conversations into another"
                " project to label it."
            ),
            title=Fact(f"layer.{added[0]}"),
            details={"field": "layers"},
        )


def _is_used(project: Project, layer: str) -> bool:
    gold = [layer, *([END_TO_END] if LAYERS[layer].is_stage else [])]
    return (
        _labeled(project, layer).exists()
        or Adjudication.objects.filter(conversation__project=project, layer=layer).exists()
        or GoldRelease.objects.filter(project=project, layer__in=gold).exists()
    )


def _labeled(project: Project, layer: str) -> QuerySet[Annotation]:
    """Answers of any kind that hold such a label."""
    key = LAYERS[layer].key
    of_project = Annotation.with_checks.filter(assignment__round__project=project)
    return of_project.filter(payload__has_key=key).exclude(**{f"payload__{key}": []})


def _check_schema(project: Project, schema: Mapping[str, Sequence[str]]) -> None:
    """Keep every type and role that labels and gold use; without types, all are allowed."""
    lacking: dict[str, None] = {}
    for event in _events_of(project):
        kind = str(event.get("type") or "")
        if kind and kind not in schema:
            lacking[kind] = None
            continue
        roles = [str(argument.get("role") or "") for argument in event.get("arguments") or []]
        lacking |= {f"{kind}: {role}": None for role in roles if role and role not in schema[kind]}
    if lacking:
        raise SettingsRefused(
            msgid("Labels or gold use what is not in the list: {names}. Add it again."),
            names=list(lacking)[:5],
            details={"field": "event_schema"},
        )


def _events_of(project: Project) -> Iterator[Mapping[str, Any]]:
    for layer in (name for name in project.layers if LAYERS[name].project_types):
        for payload in _payloads_of(project, layer):
            yield from payload.get(LAYERS[layer].key) or []


def _payloads_of(project: Project, layer: str) -> Iterator[Mapping[str, Any]]:
    """What was labeled, decided and frozen of a layer."""
    yield from _labeled(project, layer).values_list("payload", flat=True).iterator(chunk_size=500)
    decided = Adjudication.objects.filter(conversation__project=project, layer=layer)
    yield from decided.values_list("payload", flat=True).iterator(chunk_size=500)
    frozen = GoldItem.objects.filter(release__project=project, release__layer=layer)
    for item in frozen.iterator(chunk_size=200):
        yield item.content["gold"]
