"""Projects: how they begin, and who leads them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from labeling.agreement.matching.matching import DEFAULT_SYNONYMS, Synonyms
from labeling.core import events
from labeling.core.models.projects import limit_of
from labeling.domain.errors import RuleError
from labeling.domain.msgids import msgid
from labeling.models import Membership, Project
from labeling.schema import DEFAULT_LAYER


class SlugTaken(RuleError, code="slug_taken"):
    """Another project has this short name."""


class LastLead(RuleError, code="last_lead"):
    """A project must keep somebody who may change it."""


def open_fields(project: Project) -> dict[str, list[str]]:
    """What labels may lack that were submitted in any of its rounds, or may be from now on."""
    of_rounds = project.rounds(manager="with_checks").exclude(open_fields=None)
    together: dict[str, list[str]] = {}
    for by_layer in (project.open_fields, *of_rounds.values_list("open_fields", flat=True)):
        for layer, fields in (by_layer or {}).items():
            together[layer] = sorted({*together.get(layer, []), *fields})
    return together


def may_create(user: User) -> bool:
    """Staff; and, unless the setting forbids it, people who lead a project or may add one.

    With a token that is limited to projects, nobody.
    """
    if limit_of(user) is not None:
        return False
    if user.is_staff or user.is_superuser:
        return True
    if settings.PROJECT_CREATORS != "leads":
        return False
    leads = Membership.objects.filter(user=user, role=Membership.Role.LEAD)
    return user.has_perm("labeling.add_project") or leads.exists()


@transaction.atomic
def create(
    *,
    name: str,
    by: User,
    slug: str = "",
    description: str = "",
    layers: Sequence[str] = (DEFAULT_LAYER,),
    kappa_threshold: float = 0.75,
    kappa_statistic: str = Project.Statistic.MIN,
    label_f1_threshold: float = 0.5,
    overlap: int = 3,
) -> Project:
    """Create a project, led by its creator; without a short name it gets one from its name."""
    slug = slug or _free_slug(name)
    try:
        with transaction.atomic():
            project = Project.objects.create(
                slug=slug,
                name=name,
                description=description,
                layers=list(layers),
                kappa_threshold=kappa_threshold,
                kappa_statistic=kappa_statistic,
                label_f1_threshold=label_f1_threshold,
                overlap=overlap,
            )
    except IntegrityError:
        if not Project.objects.filter(slug=slug).exists():
            raise
        raise SlugTaken(
            msgid("There is a project “{slug}” already: choose another short name."), slug=slug
        ) from None
    Membership.objects.create(project=project, user=by, role=Membership.Role.LEAD)
    events.record("project.created", project, project=project, actor=by, name=name)
    return project


def _free_slug(name: str) -> str:
    longest = Project._meta.get_field("slug").max_length or 50
    base = slugify(name)[: longest - 6].strip("-_") or "project"
    taken = set(Project.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return next(slug for slug in (base, *numbered) if slug not in taken)


def lock(project: Project) -> Project:
    """One transaction at a time changes it; on SQLite it is so anyway.

    Rows that only refer to it, such as events, don't wait: answers come in during a freeze.
    """
    return Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def keep_a_lead(project: Project, *, without: Collection[int]) -> None:
    """Refuse what would take the last lead with an open account from a project that has a lead.

    ``without`` are the memberships that go. The project is locked until the transaction ends: two
    leads cannot remove each other at once.
    """
    lock(project)
    leads = project.memberships.filter(role=Membership.Role.LEAD)
    if not leads.filter(pk__in=without).exists():
        return
    stay = leads.filter(user__is_active=True).exclude(pk__in=without)
    if not stay.exists():
        raise LastLead(msgid("A project needs a lead: give somebody else the role first."))


def led_alone_by(user: User) -> list[Project]:
    """The projects that nobody could change any more without this person."""
    lead = Membership.objects.filter(role=Membership.Role.LEAD)
    others = lead.exclude(user=user).filter(user__is_active=True)
    own = lead.filter(user=user).exclude(project__in=others.values("project"))
    return list(Project.objects.filter(pk__in=own.values("project")))


def synonyms_of(project: Project) -> Synonyms:
    """The built-in actor synonyms and the project's own groups."""
    return [*DEFAULT_SYNONYMS, *(frozenset(group) for group in project.actor_synonyms)]
