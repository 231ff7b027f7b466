"""What annotators see of suggestions, and when: never before their own first pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, QuerySet

from labeling.core import events
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.models import (
    Annotation,
    Assignment,
    Conversation,
    FirstPass,
    Project,
    Round,
    Suggestion,
)
from labeling.schema import LAYERS
from labeling.schema.labels import StoredLabel
from labeling.schema.origins import Suggested, claims, plain, verified
from labeling.work.checking import problems_of


class SuggestionsHidden(RuleError, code="suggestions_hidden"):
    """This person may not see suggestions here."""


class UnusableSuggestion(RuleError, code="unusable_suggestion"):
    """What the pipeline returned is not a list of labels of this layer."""


class FirstPassEmpty(RuleError, code="first_pass_empty"):
    """Nothing was labeled yet, so the first pass cannot be over."""


class Sight(NamedTuple):
    """Whether somebody sees suggestions: ``off``, ``waiting`` for their first pass, or ``shown``.

    ``reason`` says why there are none.
    """

    state: Literal["off", "waiting", "shown"]
    reason: Fact | None = None


def allowed(conversations: QuerySet[Conversation]) -> QuerySet[Conversation]:
    """Those that may have suggestions: not the test split, and not what is labeled blind."""
    blind = Round.objects.blind().values("places__conversation")
    return conversations.exclude(split=Conversation.Split.TEST).exclude(pk__in=blind)


def wanted(project: Project) -> QuerySet[Conversation]:
    """The conversations of open full labeling, without the test split and blind ones."""
    open_rounds = project.rounds.filter(kind=Round.Kind.FULL, state=Round.State.OPEN)
    return allowed(Conversation.objects.filter(pk__in=open_rounds.values("places__conversation")))


def sight(assignment: Assignment) -> Sight:
    reason = _why_off(assignment)
    if reason:
        return Sight("off", reason)
    return Sight("shown" if FirstPass.objects.filter(assignment=assignment).exists() else "waiting")


def _why_off(assignment: Assignment) -> Fact | None:
    if assignment.round.kind != Round.Kind.FULL:
        return Fact("suggestion.calibration")
    if not assignment.round.project.suggestions:
        return Fact("suggestion.switched_off")
    if assignment.round.state != Round.State.OPEN:
        return Fact("suggestion.round_ended")
    if not _of(assignment).exists():
        return Fact("suggestion.none")
    if not allowed(Conversation.objects.filter(pk=assignment.conversation_id)).exists():
        return Fact("suggestion.test_or_blind")
    return None


def shown(assignment: Assignment) -> list[Suggestion]:
    """The newest suggestion of each layer; none before the annotator's own first pass."""
    if sight(assignment).state != "shown":
        return []
    newest: dict[str, Suggestion] = {}
    for suggestion in _of(assignment).order_by("-pk"):
        newest.setdefault(suggestion.layer, suggestion)
    return [newest[layer] for layer in assignment.round.project.layers if layer in newest]


def put(
    conversation: Conversation,
    labels: Sequence[Any],
    *,
    project: Project,
    layer: str,
    pipeline: str,
    version: str,
) -> tuple[Suggestion, bool]:
    """The suggestion of the pipeline for the conversation, and whether it is new."""
    key = LAYERS[layer].key
    payload = {key: [_named(layer, label, n) for n, label in enumerate(labels, start=1)]}
    problems = problems_of(
        payload, project=project, conversation=conversation, complete=False, empty=not labels
    )
    if problems:
        raise UnusableSuggestion(
            "suggestion.unusable", path=problems[0].path, message=problems[0].fact
        )
    return Suggestion.objects.get_or_create(
        conversation=conversation,
        layer=layer,
        pipeline=pipeline,
        pipeline_version=version,
        defaults={"payload": payload},
    )


def _named(layer: str, label: Any, number: int) -> StoredLabel:
    """A label of the schema: pipelines set no uid, and may add fields that annotators lack."""
    if not isinstance(label, Mapping):
        raise UnusableSuggestion("suggestion.not_an_object", number=number)
    shape = LAYERS[layer]
    known = {name: value for name, value in label.items() if name in shape.label.model_fields}
    named = {"uid": f"s{number}"}
    if "id" in shape.label.model_fields:
        named["id"] = f"{shape.prefix}-{number:03d}"
    return plain(known) | named


class Made(NamedTuple):
    """How many conversations one version of a pipeline has suggested something for."""

    layer: str
    pipeline: str
    version: str
    conversations: int


def made(project: Project) -> list[Made]:
    of_project = Suggestion.objects.filter(conversation__project=project)
    named = of_project.values_list("layer", "pipeline", "pipeline_version")
    counted = named.annotate(Count("pk")).order_by("pipeline", "pipeline_version", "layer")
    return [Made(*row) for row in counted]


def _of(assignment: Assignment) -> QuerySet[Suggestion]:
    return Suggestion.objects.filter(
        conversation=assignment.conversation_id, layer__in=assignment.round.project.layers
    )


@transaction.atomic
def declare_first_pass(assignment: Assignment) -> FirstPass:
    """The annotator's word that they have labeled what they see; saying it again changes nothing.

    What they had labeled by then stays readable: it is that revision of their answer.
    """
    known = FirstPass.objects.filter(assignment=assignment).first()
    if known:
        return known
    reason = _why_off(assignment)
    if reason:
        raise SuggestionsHidden(reason)
    answer = Annotation.of(assignment).select_for_update().first()
    layers = assignment.round.project.layers
    if answer is None or not (any(answer.payload.values()) or _says_nothing(answer, layers)):
        raise FirstPassEmpty("suggestion.first_pass_empty")
    if answer.status == Annotation.Status.SUBMITTED:
        raise SuggestionsHidden("suggestion.submitted")
    first_pass, is_new = FirstPass.objects.get_or_create(
        assignment=assignment, defaults={"version": answer.version}
    )
    if is_new:
        _record("annotation.first_pass", assignment, version=answer.version)
    return first_pass


def _says_nothing(answer: Annotation, layers: Sequence[str]) -> bool:
    """Whether "nothing here" is said, of the whole or of a layer."""
    unanswered = answer.unanswered
    return answer.empty or (unanswered is not None and not set(layers) <= set(unanswered))


def known_to(assignment: Assignment) -> Suggested:
    """Every suggested label of the conversation, for somebody who has done their first pass."""
    if not FirstPass.objects.filter(assignment=assignment).exists():
        return {}
    by_layer: dict[str, dict[tuple[int, str], StoredLabel]] = {}
    for suggestion in _of(assignment):
        labels = {
            (suggestion.pk, label["uid"]): label
            for label in suggestion.payload[LAYERS[suggestion.layer].key]
        }
        by_layer.setdefault(suggestion.layer, {}).update(labels)
    return by_layer


def with_origins(annotation: Annotation, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The payload with corrected origins of its labels, regardless of what it claims."""
    if not claims(payload) and not claims(annotation.payload):
        return payload
    return verified(payload, suggested=known_to(annotation.assignment), before=annotation.payload)


@transaction.atomic
def switch(project: Project, *, on: bool, by: User) -> None:
    """Show or hide suggestions in the whole project. Labels that were taken over stay so."""
    if Project.objects.filter(pk=project.pk).exclude(suggestions=on).update(suggestions=on):
        if on:
            events.record("suggestions.switched_on", project, project=project, actor=by)
        else:
            events.record("suggestions.switched_off", project, project=project, actor=by)


def _record(verb: str, assignment: Assignment, **data: Any) -> None:
    events.record(
        verb,
        assignment.annotation,
        project=assignment.round.project,
        actor=assignment.annotator,
        conversation=assignment.conversation.external_id,
        **data,
    )
