"""Asking for suggestions, and storing what a pipeline made.

Which pipelines there are and how they run is not known here: evaluation runs them, and calls this.
What is left to do follows from the suggestions that exist, so the work may stop anywhere, start
again anywhere, and a repeated result changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from labeling.core import events
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.jobs import queue
from labeling.models import Conversation, Project, Round, Suggestion, SuggestionRequest
from labeling.schema import LAYERS
from labeling.schema.labels import StoredLabel
from labeling.schema.origins import plain
from labeling.work.checking import problems_of
from labeling.work.suggestions import allowed

KIND = "suggestions"
MAX_TRIES = 3
GIVEN_UP = Fact("suggestions.given_up", tries=MAX_TRIES)


class NothingToSuggest(RuleError):
    """No conversation may have suggestions."""

    code = "nothing_to_suggest"


class UnusableSuggestion(RuleError):
    """What the pipeline returned is not a list of labels of this layer."""

    code = "unusable_suggestion"


class Progress(NamedTuple):
    """How far a request has come, in conversations."""

    wanted: int
    done: int
    failed: int


def wanted(project: Project) -> QuerySet[Conversation]:
    """The conversations of open full labeling, without the test split and blind ones."""
    open_rounds = project.rounds.filter(kind=Round.Kind.FULL, state=Round.State.OPEN)
    return allowed(Conversation.objects.filter(pk__in=open_rounds.values("places__conversation")))


@transaction.atomic
def request(
    project: Project,
    *,
    layer: str,
    pipeline: str,
    by: User | None,
    budget_cost: float | None = None,
    budget_tokens: int | None = None,
) -> SuggestionRequest:
    """Ask for suggestions. While the same request runs, asking again changes nothing."""
    _refuse_without_work(project, layer)
    asked = {"project": project, "layer": layer, "pipeline": pipeline}
    running = SuggestionRequest.objects.filter(**asked, finished_at=None).first()
    if running:
        return running
    try:
        with transaction.atomic():
            created = SuggestionRequest.objects.create(
                **asked, requested_by=by, budget_cost=budget_cost, budget_tokens=budget_tokens
            )
    except IntegrityError:  # somebody asked for the same just now
        return SuggestionRequest.objects.get(**asked, finished_at=None)
    _record("suggestions.requested", created, conversations=wanted(project).count())
    return created


def _refuse_without_work(project: Project, layer: str) -> None:
    if layer not in project.layers:
        raise NothingToSuggest(
            "gold.unknown_layer",
            slug=project.slug,
            layer=layer,
            layers=list(project.layers),
        )
    if not wanted(project).exists():
        raise NothingToSuggest("suggestion.no_conversations")


def progress(asked: SuggestionRequest) -> Progress:
    conversations = wanted(asked.project)
    done = conversations.filter(pk__in=_made(asked)).count()
    return Progress(conversations.count(), done, len(asked.failures))


def left(asked: SuggestionRequest) -> list[int]:
    """The conversations that have neither a suggestion nor a failure yet."""
    failed = [int(pk) for pk in asked.failures]
    waiting = wanted(asked.project).exclude(pk__in=_made(asked)).exclude(pk__in=failed)
    return list(waiting.order_by("pk").values_list("pk", flat=True))


def _made(asked: SuggestionRequest) -> QuerySet[Suggestion, int]:
    return Suggestion.objects.filter(
        conversation__project=asked.project_id,
        layer=asked.layer,
        pipeline=asked.pipeline,
        pipeline_version=asked.pipeline_version,
    ).values_list("conversation", flat=True)


def due() -> QuerySet[SuggestionRequest, int]:
    return SuggestionRequest.objects.filter(finished_at=None).values_list("pk", flat=True)


def begin(asked: SuggestionRequest, conversation: int, owner: UUID) -> bool:
    """Count the try before it starts, so that one that always kills its worker is given up.

    False when it was given up, or when somebody else has taken the request over.
    """
    tries = asked.tries.get(str(conversation), 0)
    if tries >= MAX_TRIES:
        fail(asked, conversation, owner, GIVEN_UP)
        return False
    asked.tries[str(conversation)] = tries + 1
    return _held(asked.pk, owner).update(tries=asked.tries) == 1


def fail(asked: SuggestionRequest, conversation: int, owner: UUID, why: Fact) -> None:
    asked.failures[str(conversation)] = why.as_json()
    _held(asked.pk, owner).update(failures=asked.failures)


def store(
    asked: SuggestionRequest, conversation: Conversation, labels: Sequence[Any]
) -> Suggestion:
    """Store the pipeline's labels. A repeated result changes nothing: the first one stays."""
    suggestion, _ = put(
        conversation,
        labels,
        project=asked.project,
        layer=asked.layer,
        pipeline=asked.pipeline,
        version=asked.pipeline_version,
    )
    return suggestion


def put(
    conversation: Conversation,
    labels: Sequence[Any],
    *,
    project: Project,
    layer: str,
    pipeline: str,
    version: str,
) -> tuple[Suggestion, bool]:
    """The suggestion of this pipeline for the conversation, and whether it is new."""
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


@transaction.atomic
def finish(asked: SuggestionRequest, owner: UUID, *, failure: Fact | None = None) -> bool:
    """End the request: everything is done, or ``failure`` says why nothing can be."""
    ended = _held(asked.pk, owner).update(finished_at=timezone.now(), failure=failure)
    if not ended:
        return False
    if failure:
        _record("suggestions.broke_off", asked, reason=failure.as_json())
    else:
        came = progress(asked)
        _record("suggestions.made", asked, conversations=came.done, failed=came.failed)
    return True


def _held(request_id: int, owner: UUID) -> QuerySet[SuggestionRequest]:
    held = SuggestionRequest.objects.filter(queue.held_by(KIND, owner))
    return held.filter(pk=request_id, finished_at=None)


def _record(verb: str, asked: SuggestionRequest, **data: Any) -> None:
    events.record(
        verb,
        asked,
        project=asked.project,
        actor=asked.requested_by,
        pipeline=asked.pipeline,
        layer=asked.layer,
        **data,
    )
