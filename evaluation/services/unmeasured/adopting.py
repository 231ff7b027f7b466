"""What a run without gold returned, as suggestions in a project: what it lacks is imported.

A lead asks for such a run over what people label now, or takes over what a trial returned. The
rules are those of suggestions: never on the test split, never where somebody labels blind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from evaluation.layers import GOLD_LAYERS
from evaluation.models import Run, RunConversation
from evaluation.services.launch.spec import sha256_of
from evaluation.services.unmeasured import launching, predicting
from evaluation.services.unmeasured.launching import Wish
from evaluation.services.unmeasured.predicting import TrialRefused
from labeling.conversations import conversations
from labeling.conversations.rules.importing import Record, Turn
from labeling.core import events, projects
from labeling.domain.facts import Fact
from labeling.models import Conversation, Project
from labeling.schema import LAYERS
from labeling.work import suggestions
from labeling.work.suggestions import allowed
from pipelines.registry import PIPELINES, Entry

MOST_AT_ONCE = 1000
"""Conversations of one run that is asked for; asking again goes on with the others."""


@dataclass(slots=True)
class Adopted:
    """What came of it; ``left_out`` says of a conversation why it has no suggestion."""

    imported: int = 0
    made: int = 0
    known: int = 0
    left_out: dict[str, Fact] = field(default_factory=dict)


def layers_for(run: Run, project: Project) -> list[str]:
    """The layers of the project that the run has labels of."""
    entry = PIPELINES.get(run.pipeline)
    able = _able(entry, project) if entry else []
    return [name for name in able if run.spec.layer in (name, predicting.WHOLE)]


def _able(entry: Entry, project: Project) -> list[str]:
    """The layers of the project that the pipeline can suggest; floors would only mislead."""
    if entry.floor or not entry.suggests:
        return []
    shown = {name for name, layer in GOLD_LAYERS.items() if layer.suggested}
    return [name for name in project.layers if name in shown.intersection(entry.layers)]


def offered(project: Project) -> list[Entry]:
    """The pipelines that can make suggestions for the project."""
    return [entry for entry in PIPELINES.values() if _able(entry, project)]


def ask(project: Project, pipeline: str, *, by: Any, **budget: Any) -> Run:
    """A run over what is labeled now and has no suggestion of the pipeline; else over all of it."""
    entry = PIPELINES.get(pipeline)
    able = _able(entry, project) if entry else []
    if entry is None or not able:
        known = [f"“{each.name}”" for each in offered(project)]
        raise TrialRefused(
            "suggestions.unsuitable",
            pipeline=pipeline,
            what=Fact("suggestions.for_project"),
            known=known or Fact("suggestions.no_pipeline"),
        )
    is_whole = len(able) > 1 and predicting.WHOLE in entry.layers
    task = predicting.checked_task(
        pipeline,
        {},
        layer=predicting.WHOLE if is_whole else able[0],
        event_schema=project.event_schema,
    )
    wanted = suggestions.wanted(project)
    without = wanted.exclude(suggestions__pipeline=pipeline)
    chosen = list(without.order_by("pk")[:MOST_AT_ONCE] or wanted.order_by("pk")[:MOST_AT_ONCE])
    if not chosen:
        raise TrialRefused("suggestion.no_conversations")
    return launching.on_all(Wish(by, task, project.name, project, **budget), chosen)


def adopt(run: Run, project: Project, *, by: Any) -> Adopted:
    """All conversations are in the project afterwards, or, if one cannot be, nothing is changed."""
    layers = layers_for(run, project)
    if not layers:
        raise TrialRefused(
            "trial.no_layer",
            pipeline=run.pipeline,
            project=project.slug,
            layer=run.spec.layer,
        )
    done = list(_done(run))
    if not done:
        raise TrialRefused("trial.nothing_done")
    adopted = Adopted()
    with transaction.atomic():
        conversations.lock_imports()
        locked = projects.lock(project)
        stored = _stored(run, locked, done, adopted, by)
        pks = [target.pk for target in stored.values()]
        may = set(allowed(Conversation.objects.filter(pk__in=pks)).values_list("pk", flat=True))
        for conversation, output in done:
            target = stored[conversation.external_id]
            if target.pk not in may:
                adopted.left_out[target.external_id] = Fact("suggestion.test_or_blind")
            else:
                _suggest(run, locked, target, output, layers, adopted)
        events.record(
            "suggestions.adopted",
            locked,
            project=locked,
            actor=by,
            pipeline=run.pipeline,
            run=run.pk,
            conversations=adopted.imported,
            made=adopted.made,
            left_out=len(adopted.left_out),
        )
    return adopted


def _done(run: Run) -> Any:
    """Each conversation with its output; a run of questions has no labels to suggest."""
    rows = launching.done_cases(run).select_related("talk__conversation__transcript")
    return ((case.talk, case.output or {}) for case in rows)


def _stored(
    run: Run,
    project: Project,
    done: list[tuple[RunConversation, Mapping[str, Any]]],
    adopted: Adopted,
    by: Any,
) -> dict[str, Conversation]:
    """The conversations of the project, by id; what is not there is imported."""
    records = [
        (run.name, _record(talk))
        for talk, _ in done
        if talk.conversation is None or talk.conversation.project_id != project.pk
    ]
    report = conversations.store_records(project=project, records=records, actor=by)
    adopted.imported = report.new
    if report.has_changes:
        conversations.record_import(project, [run.name], report, by)
    ids = [conversation.external_id for conversation, _ in done]
    rows = project.conversations.filter(external_id__in=ids)
    return {conversation.external_id: conversation for conversation in rows}


def _record(conversation: RunConversation) -> Record:
    turns = tuple(
        Turn(message.role, message.content, message.speaker, message.time)
        for message in conversation.messages
    )
    return Record(conversation.external_id, turns, domain=conversation.domain)


def _suggest(
    run: Run,
    project: Project,
    target: Conversation,
    output: Mapping[str, Any],
    layers: list[str],
    adopted: Adopted,
) -> None:
    for layer in layers:
        if GOLD_LAYERS[layer].project_types:  # which may be in a model's raw reply
            labels: Any = GOLD_LAYERS[layer].predicted(output)
        else:
            labels = output.get(LAYERS[layer].key)
        if not isinstance(labels, list):
            continue
        try:
            _, is_new = suggestions.put(
                target,
                labels,
                project=project,
                layer=layer,
                pipeline=run.pipeline,
                version=version_of(run),
            )
        except suggestions.UnusableSuggestion as error:
            adopted.left_out[target.external_id] = error.fact
        else:
            adopted.made += is_new
            adopted.known += not is_new


def version_of(run: Run) -> str:
    """With other settings than the usual ones a pipeline suggests something else."""
    entry = PIPELINES[run.pipeline]
    if run.config == entry.config().model_dump(mode="json"):
        return run.pipeline_version[:50]
    mark = f"~{sha256_of(run.config)[:8]}"
    return run.pipeline_version[: 50 - len(mark)] + mark
