"""Projects and who does what in them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from labeling.domain.errors import RuleError, StaleVersion
from labeling.domain.schema import LAYERS
from labeling.domain.sentences import say
from labeling.domain.targets import END_TO_END, STAGES
from labeling.models import (
    Adjudication,
    Annotation,
    GoldItem,
    GoldRelease,
    Membership,
    Project,
    Round,
)
from labeling.services import events, projects
from labeling.services.agreement import agreement
from labeling.services.settling import merges


class SlugTaken(RuleError):
    """Another project has this short name."""

    code = "slug_taken"


class UnknownUser(RuleError):
    """Nobody has this user name."""

    code = "unknown_user"


class LastLead(RuleError):
    """A project must keep somebody who may change it."""

    code = "last_lead"


class RoleHeld(RuleError):
    """The person has this role already, beside the one that should become it."""

    code = "role_held"


@transaction.atomic
def create(
    *,
    slug: str,
    name: str,
    by: User,
    description: str = "",
    layers: Sequence[str] = ("extraction",),
    kappa_threshold: float = 0.75,
    kappa_statistic: str = Project.Statistic.MIN,
    overlap: int = 3,
) -> Project:
    """Create a project; who creates it leads it."""
    try:
        with transaction.atomic():
            project = Project.objects.create(
                slug=slug,
                name=name,
                description=description,
                layers=list(layers),
                kappa_threshold=kappa_threshold,
                kappa_statistic=kappa_statistic,
                overlap=overlap,
            )
    except IntegrityError:
        if not Project.objects.filter(slug=slug).exists():
            raise
        raise SlugTaken(
            say("There is a project “{slug}” already: choose another short name.", slug=slug)
        ) from None
    Membership.objects.create(project=project, user=by, role=Membership.Role.LEAD)
    events.record("project.created", project, project=project, actor=by, name=name)
    return project


@transaction.atomic
def add_member(*, project: Project, username: str, role: str, by: User) -> Membership:
    """Give somebody a role. Giving it again changes nothing."""
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise UnknownUser(
            say(
                "Nobody is called “{username}” here. Invite them by link: whoever opens it "
                "joins, with a new account too.",
                username=username,
            )
        )
    membership, added = Membership.objects.get_or_create(project=project, user=user, role=role)
    if added:
        events.record(
            "member.added", membership, project=project, actor=by, user=user.username, role=role
        )
    return membership


@transaction.atomic
def change_role(*, membership: Membership, role: str, by: User) -> None:
    """Give a member another role instead of this one. The same again changes nothing."""
    if membership.role == role:
        return
    project, user = membership.project, membership.user.get_username()
    keep_a_lead(project, without=[membership.pk])
    if project.memberships.filter(user=membership.user_id, role=role).exists():
        raise RoleHeld(
            say(
                "{user} is {role} here already: remove {user} as {role2} instead.",
                user=user,
                role=role,
                role2=membership.role,
            )
        )
    Membership.objects.filter(pk=membership.pk).update(role=role)
    events.record(
        "member.changed",
        membership,
        project=project,
        actor=by,
        user=user,
        role=role,
        before=membership.role,
    )
    membership.role = role


@transaction.atomic
def remove_member(*, membership: Membership, by: User) -> None:
    """Take a role away. What the person has labelled, and was given to label, stays theirs."""
    project = membership.project
    keep_a_lead(project, without=[membership.pk])
    events.record(
        "member.removed",
        membership,
        project=project,
        actor=by,
        user=membership.user.get_username(),
        role=membership.role,
    )
    Membership.objects.filter(pk=membership.pk).delete()


def lock(project: Project) -> Project:
    """One transaction at a time changes it; on SQLite it is so anyway.

    Whoever only refers to it need not wait, as every event does: answers come in during a freeze.
    """
    return Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def keep_a_lead(project: Project, *, without: Collection[int], added: int = 0) -> None:
    """Refuse what would take the last lead with an open account from a project that has a lead.

    ``without`` are the memberships that go, ``added`` the leads that come instead. The project is
    locked until the transaction ends: two leads cannot remove each other at once.
    """
    lock(project)
    leads = project.memberships.filter(role=Membership.Role.LEAD)
    if not leads.filter(pk__in=without).exists():
        return
    stay = leads.filter(user__is_active=True).exclude(pk__in=without)
    if not added and not stay.exists():
        raise LastLead("A project needs a lead: give somebody else the role first.")


def led_alone_by(user: User) -> list[Project]:
    """The projects that nobody could change any more without this person."""
    lead = Membership.objects.filter(role=Membership.Role.LEAD)
    others = lead.exclude(user=user).filter(user__is_active=True)
    own = lead.filter(user=user).exclude(project__in=others.values("project"))
    return list(Project.objects.filter(pk__in=own.values("project")))


# --- changing the settings ------------------------------------------------------------------------


TOLD = ("name", "description", "overlap", "review_rate")
MATCHING = ("match_threshold", "actor_synonyms")
MEASURING = ("kappa_threshold", "kappa_statistic", *MATCHING, "layers")
FIELDS = (*TOLD, *MEASURING, "event_schema")


class SettingsRefused(RuleError):
    """What a project was set up with cannot be changed so, or not now."""

    code = "settings_refused"


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
def change(
    project: Project, *, settings: Mapping[str, Any], base: Mapping[str, Any], by: User
) -> list[str]:
    """Store what differs; the names of it. ``base`` is what its author has seen before."""
    locked = projects.lock(project)
    now = of(locked)
    if changed(base, now):
        raise StaleVersion(
            "Somebody has changed these settings meanwhile. Nothing of yours is stored yet: look "
            "at it below, beside what holds now, and save again.",
            fields=changed(base, now),
        )
    fields = changed(now, settings)
    if not fields:
        return []
    check(locked, fields, settings)
    Project.objects.filter(pk=project.pk).update(**{name: settings[name] for name in fields})
    after = plain(settings)
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
    """Have workers compute anew what was stored under the settings of before."""
    if not set(MEASURING) & set(fields):
        return
    measured = project.rounds.filter(agreement__isnull=False).order_by("number")
    if not set(MATCHING) & set(fields):
        measured = measured.filter(kind=Round.Kind.FULL)  # the others keep their verdict
    for one in measured.only("pk"):
        agreement.request(one)
    merges.request(project)


def check(project: Project, fields: Collection[str], settings: Mapping[str, Any]) -> None:
    """Refuse what would give labels that are there another meaning; the project is locked."""
    for name in ("layers", *MEASURING, "event_schema"):
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
            say(
                "Calibration round {number} is open and is measured as it was opened. Change this "
                "when it has closed.",
                number=blind.number,
            ),
            field=field,
        )


def _check_layers(project: Project, layers: Sequence[str]) -> None:
    """Answers say nothing of a layer that nobody asked for, which would count as “nothing here”."""
    gone = [name for name in project.layers if name not in layers]
    added = [name for name in layers if name not in project.layers]
    for name in gone:
        if _is_used(project, name):
            raise SettingsRefused(
                say(
                    "There are labels, decisions or gold of “{title}”: it stays. Import the "
                    "conversations into another project to label them without it.",
                    title=say(LAYERS[name].title),
                ),
                field="layers",
            )
    if not gone and not added:
        return
    full = project.rounds.filter(state=Round.State.OPEN).order_by("number").first()
    if full:
        raise SettingsRefused(
            say(
                "Round {number} is open: close it before you change what is labelled.",
                number=full.number,
            ),
            field="layers",
        )
    answered = Annotation.objects.filter(
        assignment__round__project=project, status=Annotation.Status.SUBMITTED
    )
    if added and answered.exists():
        raise SettingsRefused(
            say(
                "Answers were submitted when nobody was asked for “{title}”; they would count as "
                "“nothing here”. Import the conversations into another project to label it.",
                title=say(LAYERS[added[0]].title),
            ),
            field="layers",
        )


def _is_used(project: Project, layer: str) -> bool:
    gold = [layer, *([END_TO_END] if layer in STAGES else [])]
    return (
        _labelled(project, layer).exists()
        or Adjudication.objects.filter(conversation__project=project, layer=layer).exists()
        or GoldRelease.objects.filter(project=project, layer__in=gold).exists()
    )


def _labelled(project: Project, layer: str) -> QuerySet[Annotation]:
    """Answers of any kind that hold such a label."""
    key = LAYERS[layer].key
    of_project = Annotation.every.filter(assignment__round__project=project)
    return of_project.filter(payload__has_key=key).exclude(**{f"payload__{key}": []})


def _check_schema(project: Project, schema: Mapping[str, Sequence[str]]) -> None:
    """Every type and role that labels and gold name stays known; without types all are."""
    lacking: dict[str, None] = {}
    for event in _events_of(project):
        kind = str(event.get("type") or "")
        if kind and kind not in schema:
            lacking[kind] = None
            continue
        roles = [str(one.get("role") or "") for one in event.get("arguments") or []]
        lacking |= {f"{kind}: {role}": None for role in roles if role and role not in schema[kind]}
    if lacking:
        raise SettingsRefused(
            say(
                "Labels or gold use what is not in the list: {names}. Add it again.",
                names="; ".join(list(lacking)[:5]),
            ),
            field="event_schema",
        )


def _events_of(project: Project) -> Iterator[Mapping[str, Any]]:
    for payload in _payloads_of(project, "events"):
        yield from payload.get("events") or []


def _payloads_of(project: Project, layer: str) -> Iterator[Mapping[str, Any]]:
    """What was labelled, decided and frozen of a layer."""
    yield from _labelled(project, layer).values_list("payload", flat=True).iterator(chunk_size=500)
    decided = Adjudication.objects.filter(conversation__project=project, layer=layer)
    yield from decided.values_list("payload", flat=True).iterator(chunk_size=500)
    frozen = GoldItem.objects.filter(release__project=project, release__layer=layer)
    for item in frozen.iterator(chunk_size=200):
        yield item.content["gold"]
