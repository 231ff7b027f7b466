"""What newcomers calibrate on, and how their labels are compared with what it came to.

They label conversations of closed rounds without seeing what others labeled; the figures and
thresholds are those of a calibration round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypedDict

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from labeling.agreement import agreement, conversations
from labeling.agreement.matching.matchers import Rules
from labeling.agreement.matching.similarity import Ruler
from labeling.agreement.rules.agreement import Agreement, Outcome
from labeling.core import projects
from labeling.domain.facts import Fact, StoredFact
from labeling.models import (
    Annotation,
    Assignment,
    Event,
    Membership,
    Project,
    Qualification,
    Round,
)
from labeling.schema import LAYERS
from labeling.schema.labels import Payload
from labeling.screening import check_turns
from labeling.settling import merges

READERS = (Membership.Role.LEAD, Membership.Role.RESEARCHER)
Outcomes = dict[str, Payload]
"""By layer, what one conversation came to."""

SETTLED = ""
"""Stands for a name where a newcomer is compared with what a conversation came to."""

LOOKED_AT = 50
"""Conversations of a round whose outcome is looked up at a time."""


class LayerResult(TypedDict):
    """What the gate says of a newcomer on one layer; ``reason`` where there is no figure."""

    outcome: Outcome
    measure: str
    value: float | None
    threshold: float
    reason: StoredFact | None
    f1: float | None
    f1_threshold: float | None


def has_read(user: User, project: Project) -> bool:
    """Whether the user may read labels of others here, or once might: roles come and go."""
    if check_turns.reads_gold(user, project):
        return True
    lost = Q(verb="member.changed", data__before__in=READERS)
    lost |= Q(verb="member.removed", data__role__in=READERS)
    return Event.objects.filter(lost, project=project, data__user=user.get_username()).exists()


def choose(project: Project, user: User, layers: Sequence[str], wanted: int) -> dict[int, Outcomes]:
    """Settled conversations that the user never had, and what they came to.

    Those with labels on more layers come first.
    """
    settled: dict[int, int] = {}
    right: dict[int, Outcomes] = {}
    for ids in _closed(project, user):
        for pk, by_layer in outcomes(project, layers, ids).items():
            if not check_turns.made_by(user, project, pk):
                used = (bool(by_layer[layer].get(LAYERS[layer].key)) for layer in layers)
                settled[pk] = sum(used)
                right[pk] = by_layer
        if len(settled) >= wanted and sum(map(bool, settled.values())) >= wanted:
            break
    return {pk: right[pk] for pk in sorted(settled, key=lambda pk: -settled[pk])[:wanted]}


def _closed(project: Project, user: User) -> Iterator[list[int]]:
    """Conversations of closed rounds, passed calibration first, in an order of the user's.

    None of rounds in which the user answered anything: their discussions show every label.
    """
    closed = project.rounds.exclude(state=Round.State.OPEN)
    ranked = sorted(closed, key=lambda round_: (round_.state != Round.State.PASSED, -round_.number))
    open_rounds = project.rounds.filter(state=Round.State.OPEN)
    discussed = Assignment.objects.answered_by(user).order_by().values("round")
    for round_ in ranked:
        here = project.conversations.filter(rounds=round_).exclude(rounds__in=open_rounds)
        here = here.exclude(rounds__in=discussed)
        ids = check_turns.unknown_to(user, here).values_list("pk", flat=True)
        order = sorted(ids, key=lambda pk: check_turns.draw("calibrate", user.pk, pk))
        for start in range(0, len(order), LOOKED_AT):
            yield order[start : start + LOOKED_AT]


def held_to(part: Assignment) -> Outcomes:
    """By layer, what the conversation had come to when the user began to calibrate on it."""
    tried = Qualification.objects.get(
        project=part.round.project_id, user=part.annotator_id, kind=Qualification.Kind.CALIBRATION
    )
    kept: Outcomes = tried.outcomes.get(str(part.conversation_id), {})
    return kept


def outcomes(
    project: Project, layers: Sequence[str], among: Collection[int]
) -> dict[int, Outcomes]:
    """What those conversations came to that are settled on all the layers."""
    found: dict[int, Outcomes] = {pk: {} for pk in among}
    for layer in layers:
        for conversation, outcome in merges.outcomes_of_project(project, layer, among=among):
            if not isinstance(outcome, Fact):
                found[conversation.pk][layer] = {**outcome.base_payload, **outcome.payload}
    return {pk: by_layer for pk, by_layer in found.items() if len(by_layer) == len(layers)}


# --- the verdict ----------------------------------------------------------------------------------


def compared(
    tried: Qualification, of_try: QuerySet[Assignment], ruler: Ruler
) -> dict[str, LayerResult]:
    """By layer, the newcomer against what the conversations came to. A skip leaves no figure.

    The layers are those that the try began with: another one takes a separate try.
    """
    project, user = tried.project, tried.user
    parts = list(of_try.select_related("conversation", "annotation"))
    kept: dict[str, Outcomes] = tried.outcomes
    settled = {int(pk): by_layer for pk, by_layer in kept.items()}
    layers = list(next(iter(settled.values()), {}))
    answered = [
        part
        for part in parts
        if part.annotation.status == Annotation.Status.SUBMITTED and part.conversation_id in settled
    ]
    if len(answered) < len(parts):
        reason = Fact("calibration.incomplete", answered=len(answered), parts=len(parts))
        return {layer: without_figure(project, reason) for layer in layers}
    rules = Rules(ruler, projects.synonyms_of(project), project.match_threshold)
    return {
        layer: _result(_against(project, user, layer, answered, settled, rules), layer)
        for layer in layers
    }


def _against(
    project: Project,
    user: User,
    layer: str,
    answered: Sequence[Assignment],
    settled: Mapping[int, Mapping[str, Payload]],
    rules: Rules,
) -> Agreement:
    added = [
        conversations.added_by(
            layer,
            part.conversation.external_id,
            {SETTLED: settled[part.conversation_id][layer], user.username: part.annotation.payload},
            size=part.conversation.n_messages,
            rules=rules,
        )
        for part in answered
    ]
    # of one pair the lowest is the mean, too
    bar: agreement.Bar = {"threshold": project.kappa_threshold, "statistic": "min"}
    return agreement.compare(layer, added, bar, label_f1_threshold=project.label_f1_threshold)


def _result(figures: Agreement, layer: str) -> LayerResult:
    reason = figures.reasons.get("value")
    content = figures.content
    return {
        "outcome": figures.outcome,
        "measure": figures.measure,
        "value": figures.value,
        "threshold": figures.threshold,
        "reason": reason.as_json() if reason else None,
        "f1": content.value if content else None,
        "f1_threshold": content.threshold if content and content.threshold else None,
    }


def without_figure(project: Project, reason: Fact) -> LayerResult:
    return {
        "outcome": "failed",
        "measure": "kappa",
        "value": None,
        "threshold": project.kappa_threshold,
        "reason": reason.as_json(),
        "f1": None,
        "f1_threshold": None,
    }
