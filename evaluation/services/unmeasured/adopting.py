"""What a run without gold returned, as suggestions in a project: what it lacks is imported.

The rules are those of suggestions: never on the test split, never where somebody labels blind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from evaluation.layers import GOLD_LAYERS
from evaluation.models import Run, RunConversation
from evaluation.services.launch.spec import sha256_of
from evaluation.services.unmeasured import launching
from evaluation.services.unmeasured.predicting import TrialRefused
from labeling.conversations import conversations
from labeling.conversations.rules.importing import Record, Turn
from labeling.core import events, projects
from labeling.domain.facts import Fact
from labeling.models import Conversation, Project
from labeling.schema import LAYERS
from labeling.work import suggestion_requests as requests
from labeling.work.suggestions import allowed
from pipelines.registry import PIPELINES


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
    if entry is None or not entry.suggests or entry.floor:
        return []
    able = [name for name in project.layers if name in entry.layers and _is_suggested(name)]
    return [name for name in able if name == run.spec.layer or run.spec.layer == "end_to_end"]


def _is_suggested(layer: str) -> bool:
    return layer in GOLD_LAYERS and GOLD_LAYERS[layer].suggested


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
    records = [(run.name, _record(conversation)) for conversation, _ in done]
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
            _, is_new = requests.put(
                target,
                labels,
                project=project,
                layer=layer,
                pipeline=run.pipeline,
                version=version_of(run),
            )
        except requests.UnusableSuggestion as error:
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
