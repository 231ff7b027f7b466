"""Answers to checks: scored by a worker against gold, reported by person."""

from __future__ import annotations

from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Avg, Count, F, Max, OuterRef, QuerySet, Subquery
from django.utils import timezone

from labeling.agreement.matching.matchers import Rules
from labeling.agreement.matching.similarity import Ruler
from labeling.core import events
from labeling.core.projects import synonyms_of
from labeling.domain.facts import Fact
from labeling.domain.stored import Stored
from labeling.gold.rules.gold_checks import compare, mean
from labeling.models import (
    Annotation,
    Assignment,
    CheckPlan,
    GoldCheck,
    GoldItem,
    GoldRelease,
    Pause,
    Project,
)
from labeling.schema import LAYERS
from labeling.schema.targets import END_TO_END
from labeling.screening import tries

Purpose = Assignment.Purpose
ENOUGH = 5
"""With fewer hidden checks a figure says too little to be colored."""


# --- scoring ------------------------------------------------------------------------------------


def score(assignment_pk: int, *, ruler: Ruler) -> GoldCheck | None:
    """Compare the answer with gold, and act on the result. Repeating it changes nothing.

    None while it is unanswered, and for a hidden check that was skipped.
    """
    assignment = Assignment.checks.select_related(
        "round__project", "conversation", "annotator"
    ).get(pk=assignment_pk)
    answer = Annotation.of(assignment).exclude(status="draft").first()
    if answer is None:
        return None
    if answer.status == Annotation.Status.SKIPPED and assignment.purpose == Purpose.HONEYPOT:
        return None
    known = GoldCheck.objects.filter(assignment=assignment, version=answer.version).first()
    figures: Stored = {} if known else _compared(assignment, answer, ruler)
    project, person, purpose = assignment.round.project, assignment.annotator, assignment.purpose
    with transaction.atomic():  # a worker that dies here leaves both steps to the next one
        check, _ = GoldCheck.objects.get_or_create(
            assignment=assignment, version=answer.version, defaults=figures
        )
        if purpose == Purpose.HONEYPOT:
            pause_if_due(project, person)
    if purpose == Purpose.QUALIFICATION:
        tries.decide(project, person)
    return check


def _compared(assignment: Assignment, answer: Annotation, ruler: Ruler) -> Stored:
    """The columns of a check."""
    if answer.status == Annotation.Status.SKIPPED:
        return {"value": 0.0, "reason": Fact("check.skipped")}
    project = assignment.round.project
    items = gold_of(project, assignment.conversation_id)
    rules = Rules(ruler, synonyms_of(project), project.match_threshold)
    layers = {}
    for layer, item in items.items():
        right = {**item.content.get("given", {}), **item.content["gold"]}
        layers[layer] = compare(layer, right, answer.payload, rules=rules)
    return {
        "releases": {layer: str(item.release) for layer, item in items.items()},
        "layers": layers,
        "value": mean(layer_figures["f1"] for layer_figures in layers.values()),
        "reason": None if layers else Fact("check.no_gold"),
    }


def gold_of(project: Project, conversation: int) -> dict[str, GoldItem]:
    """By layer of the project, the newest gold of the conversation, end-to-end gold included."""
    items = (
        GoldItem.objects.filter(
            release__project=project,
            release__layer__in=[*project.layers, END_TO_END],
            conversation=conversation,
        )
        .select_related("release")
        .defer(*(f"release__{name}" for name in GoldRelease.DOCUMENTS))
        .order_by("release__pk")
    )
    newest = {item.release.layer: item for item in items}
    gold = {}
    for layer in project.layers:
        item = newest.get(layer) or newest.get(END_TO_END)
        if item is not None and LAYERS[layer].key in item.content["gold"]:
            gold[layer] = item
    return gold


# --- pausing ------------------------------------------------------------------------------------


@transaction.atomic
def pause_if_due(project: Project, user: User) -> Pause | None:
    """By the last n hidden checks since a lead last lifted a pause."""
    plan = CheckPlan.objects.select_for_update().filter(project=project).first()
    if plan is None or plan.pause_below is None:
        return None
    pauses = Pause.objects.filter(project=project, user=user)
    if pauses.filter(lifted_at__isnull=True).exists():
        return None
    since = pauses.aggregate(at=Max("lifted_at"))["at"]
    rows = newest_checks(project).filter(assignment__annotator=user, value__isnull=False)
    if since:
        rows = rows.filter(scored_at__gt=since)
    values = list(rows.order_by("-pk").values_list("value", flat=True)[: plan.pause_after])
    value = mean(values)
    if value is None or len(values) < plan.pause_after or value >= plan.pause_below:
        return None
    pause = Pause.objects.create(project=project, user=user, value=value, checks=len(values))
    events.record(
        "annotator.paused",
        pause,
        project=project,
        user=user.get_username(),
        value=value,
        checks=len(values),
    )
    return pause


@transaction.atomic
def resume(project: Project, user: User, *, by: User) -> bool:
    """Lift the pause; False when there is none. Earlier checks do not pause again."""
    running = Pause.objects.filter(project=project, user=user, lifted_at__isnull=True)
    lifted = running.update(lifted_at=timezone.now(), lifted_by=by)
    if lifted:
        events.record(
            "annotator.resumed", project, project=project, actor=by, user=user.get_username()
        )
    return bool(lifted)


# --- by person ----------------------------------------------------------------------------------


class GoldAgreement(NamedTuple):
    """How one person does on hidden checks: mean F1 over ``n`` of them."""

    value: float | None
    n: int

    @property
    def is_enough(self) -> bool:
        return self.n >= ENOUGH


def newest_checks(project: Project, purpose: str = Purpose.HONEYPOT) -> QuerySet[GoldCheck]:
    """One of each assignment: an answer that was reopened counts as it is now."""
    same = GoldCheck.objects.filter(assignment=OuterRef("assignment")).order_by("-version")
    rounds = list(project.rounds(manager="with_checks").values_list("pk", flat=True))
    # by an index that holds both; of a join SQLite would read every assignment
    given = Assignment.checks.filter(round__in=rounds, purpose=purpose)
    return GoldCheck.objects.filter(
        assignment__in=given.order_by().values("pk"),
        pk=Subquery(same.values("pk")[:1]),
    )


def by_person(project: Project) -> dict[int, GoldAgreement]:
    rows = newest_checks(project).order_by().values(person=F("assignment__annotator"))
    counted = rows.annotate(mean=Avg("value"), n=Count("value"))
    return {row["person"]: GoldAgreement(row["mean"], row["n"]) for row in counted}
