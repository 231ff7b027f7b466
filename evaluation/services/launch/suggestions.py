"""Running a pipeline over conversations that people are labeling, as suggestions to them.

Labeling doesn't know about pipelines; this runs one and hands its labels to labeling. The rows say
what is left to do, so the work may stop anywhere and start again anywhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import OperationalError

from evaluation import adapters
from evaluation.layers import GOLD_LAYERS
from evaluation.services.language_models import budgets
from evaluation.services.language_models.metering import PaidModel, too_long
from evaluation.services.launch import launch
from evaluation.services.work import working
from labeling.agreement.vectors import StoredVectors
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.gold import releases
from labeling.jobs import queue as jobs
from labeling.jobs.queue import JobLease, KeepAlive
from labeling.models import Conversation, Project, SuggestionRequest
from labeling.schema import LAYERS
from labeling.work import suggestion_requests as requests
from labeling.work.suggestion_requests import KIND
from pipelines import registry
from pipelines.chat.endpoint import DEFAULT
from pipelines.encoder import MiniLM
from pipelines.errors import PipelineError
from pipelines.registry import Entry
from pipelines.types import Case, Message, Pipeline

logger = logging.getLogger(__name__)


Progress = Callable[[], None]


class PipelineUnsuitable(RuleError):
    """This pipeline doesn't produce labels that could be suggested here."""

    code = "pipeline_unsuitable"


class BrokenOff(RuleError):
    """The model won't answer for the other conversations either."""

    code = "suggestions_broke_off"


class _Lost(Exception):
    """Somebody else has taken the request over."""


@dataclass(frozen=True, slots=True)
class RequestLease(JobLease):
    """The lease on a request for suggestions, for one conversation."""

    conversation_id: int

    def end_late(self) -> None:
        asked = SuggestionRequest.objects.get(pk=self.key)
        requests.fail(asked, self.conversation_id, self.owner, working.fact_of(too_long()))
        self.give_back()


def offered(project: Project) -> list[Entry]:
    """The pipelines that can make suggestions for the project; floors would only mislead."""
    return [
        entry
        for entry in registry.PIPELINES.values()
        if not entry.floor and _layers_of(entry, project)
    ]


def layers_for(project: Project) -> list[str]:
    """Layers of the project for which there is such a pipeline."""
    known = {layer for entry in offered(project) for layer in _layers_of(entry, project)}
    return [layer for layer in project.layers if layer in known]


def _is_suggested(layer: str) -> bool:
    return layer in GOLD_LAYERS and GOLD_LAYERS[layer].suggested


def _layers_of(entry: Entry, project: Project) -> list[str]:
    if not entry.suggests:
        return []
    return [name for name in project.layers if name in entry.layers and _is_suggested(name)]


def ask(
    project: Project,
    *,
    pipeline: str,
    layer: str = "",
    by: Any,
    queue: bool = True,
    budget_cost: float | None = None,
    budget_tokens: int | None = None,
) -> SuggestionRequest:
    """Ask for suggestions of a pipeline, on a layer (default: the project's first that it makes).

    A worker makes them, unless the caller does (``queue`` false).
    """
    entry = _entry(pipeline)
    layers = _layers_of(entry, project)
    if entry.floor or not layers or (layer and layer not in layers):
        raise PipelineUnsuitable(_unsuitable(entry, project, layer), pipeline=pipeline)
    launch.check_model(entry, asks_model=entry.needs_model)
    launch.check_budget(entry, budget_cost, budget_tokens, asks_model=entry.needs_model)
    asked = requests.request(
        project,
        layer=layer or layers[0],
        pipeline=pipeline,
        by=by,
        budget_cost=budget_cost,
        budget_tokens=budget_tokens,
    )
    if queue:
        jobs.ask(KIND, asked.pk)
    return asked


def asks_model(asked: SuggestionRequest) -> bool:
    entry = registry.PIPELINES.get(asked.pipeline)
    return entry is not None and entry.needs_model


def _entry(pipeline: str) -> Entry:
    try:
        return registry.entry_for(pipeline)
    except PipelineError as error:
        raise PipelineUnsuitable(
            adapters.fact_of(error), details=adapters.details_of(error)
        ) from error


def _unsuitable(entry: Entry, project: Project, layer: str) -> Fact:
    able = [f"“{pipeline.name}”" for pipeline in offered(project)]
    return Fact(
        "suggestions.unsuitable",
        pipeline=entry.name,
        what=Fact("suggestions.for_layer", layer=layer)
        if layer
        else Fact("suggestions.for_project"),
        known=able or Fact("suggestions.no_pipeline"),
    )


def work(request_id: int, owner: UUID, *, progress: Progress | None = None) -> None:
    """Make what is left to make, unless somebody else is at it."""
    lease = jobs.claim(KIND, request_id, owner)
    if lease is None:
        return
    asked = SuggestionRequest.objects.select_related("project", "requested_by").get(pk=request_id)
    try:
        if asked.finished_at is None:
            _make_all(asked, lease, progress)
    except _Lost:
        logger.warning("Suggestions %s were taken over.", request_id)
    except RuleError as error:
        requests.finish(asked, owner, failure=error.fact)
    except BaseException:  # Ctrl-C, the database is away, or the process is told to end
        lease.give_back()
        raise
    lease.finish()


def _make_all(asked: SuggestionRequest, lease: JobLease, progress: Progress | None) -> None:
    model = PaidModel.named(DEFAULT, check=lambda: budgets.check_suggestions(asked.pk))
    if model:
        model.begin(asked)
    pipeline = _build(asked, model)
    for pk in requests.left(asked):
        _make(asked, pipeline, Conversation.objects.get(pk=pk), lease)
        if model and model.stopped:
            raise BrokenOff("suggestions.stopped", text=working.fact_of(model.stopped))
        if progress:
            progress()
    requests.finish(asked, lease.owner)


def _build(asked: SuggestionRequest, model: PaidModel | None) -> Pipeline:
    """A new version of the pipeline begins again; the older suggestions stay."""
    encoder = MiniLM(StoredVectors("pipeline"))
    try:
        pipeline = registry.build(asked.pipeline, {}, encoder=encoder, model=model)
    except PipelineError as error:
        raise PipelineUnsuitable(
            adapters.fact_of(error), details=adapters.details_of(error)
        ) from error
    except Exception as error:  # a pipeline is anybody's code: the lead who asked learns why
        logger.exception("Pipeline %s cannot be built.", asked.pipeline)
        raise PipelineUnsuitable("run.cannot_build", text=working.fact_of(error)) from error
    asked.pipeline_version = pipeline.version
    asked.save(update_fields=["pipeline_version"])
    return pipeline


def _make(
    asked: SuggestionRequest, pipeline: Pipeline, conversation: Conversation, lease: JobLease
) -> None:
    owner = lease.owner
    if not lease.renew():
        raise _Lost
    if not requests.begin(asked, conversation.pk, owner):
        return
    with KeepAlive(RequestLease(KIND, asked.pk, owner, conversation.pk)):
        try:
            labels = _labels(pipeline.run(_case(conversation, asked.layer)), asked.layer)
            requests.store(asked, conversation, labels)
        except OperationalError:  # the database is busy or away: a later try will do
            raise
        except Exception as error:  # the others get theirs: the request says why this one failed
            working.log_failure(logger, f"The suggestion for {conversation}", error)
            requests.fail(asked, conversation.pk, owner, working.fact_of(error))


def _case(conversation: Conversation, layer: str) -> Case:
    return Case(
        case_id=conversation.external_id,
        domain=conversation.domain,
        messages=tuple(
            Message(**(message | {"speaker": message["speaker"] or message["role"]}))
            for message in releases.messages_of(conversation)
        ),
        conversation_id=conversation.external_id,
        task=layer,
    )


def _labels(output: Any, layer: str) -> list[Any]:
    key = LAYERS[layer].key
    labels = adapters.storable(output).get(key) if isinstance(output, Mapping) else None
    if not isinstance(labels, list):
        raise adapters.MalformedOutput("output.no_list", key=key)
    return labels
