"""What a trial returned as suggestions in a project: its conversations are imported if needed.

The rules are those of suggestions: never on the test split, never where somebody labels blind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from evaluation.layers import GOLD_LAYERS
from evaluation.models import Trial, TrialConversation
from evaluation.services.launch.spec import sha256_of
from evaluation.services.trials import trials
from evaluation.services.trials.predicting import TrialRefused
from labeling.domain.exchange.importing import Record, Turn
from labeling.domain.facts import Fact
from labeling.domain.schema import LAYERS
from labeling.models import Conversation, Project
from labeling.services import events, projects
from labeling.services.exchange import conversations
from labeling.services.work import suggestion_requests as requests
from labeling.services.work.suggestions import allowed
from pipelines.registry import PIPELINES


@dataclass(slots=True)
class Adopted:
    """What came of it; ``left_out`` says of a conversation why it has no suggestion."""

    imported: int = 0
    made: int = 0
    known: int = 0
    left_out: dict[str, Fact] = field(default_factory=dict)


def layers_for(trial: Trial, project: Project) -> list[str]:
    """The layers of the project that the trial has labels of."""
    entry = PIPELINES.get(trial.pipeline)
    if entry is None or not entry.suggests or entry.floor:
        return []
    able = [name for name in project.layers if name in entry.layers and _is_suggested(name)]
    return [name for name in able if name == trial.layer or trial.layer == "end_to_end"]


def _is_suggested(layer: str) -> bool:
    return layer in GOLD_LAYERS and GOLD_LAYERS[layer].suggested


def adopt(trial: Trial, project: Project, *, by: Any) -> Adopted:
    """All conversations are in the project afterwards, or, if one cannot be, nothing is changed."""
    layers = layers_for(trial, project)
    if not layers:
        raise TrialRefused(
            "trial.no_layer", pipeline=trial.pipeline, project=project.slug, layer=trial.layer
        )
    done = list(_done(trial))
    if not done:
        raise TrialRefused("trial.nothing_done")
    adopted = Adopted()
    with transaction.atomic():
        conversations.lock_imports()
        locked = projects.lock(project)
        stored = _stored(trial, locked, done, adopted, by)
        pks = [target.pk for target in stored.values()]
        may = set(allowed(Conversation.objects.filter(pk__in=pks)).values_list("pk", flat=True))
        for conversation, output in done:
            target = stored[conversation.external_id]
            if target.pk not in may:
                adopted.left_out[target.external_id] = Fact("suggestion.test_or_blind")
            else:
                _suggest(trial, locked, target, output, layers, adopted)
        events.record(
            "suggestions.adopted",
            locked,
            project=locked,
            actor=by,
            pipeline=trial.pipeline,
            trial=trial.pk,
            conversations=adopted.imported,
            made=adopted.made,
            left_out=len(adopted.left_out),
        )
    return adopted


def _done(trial: Trial) -> Any:
    """Each conversation with its output; a trial of questions has no labels to suggest."""
    rows = trials.done_cases(trial).select_related("conversation__conversation__transcript")
    return ((case.conversation, case.output or {}) for case in rows.order_by("pk"))


def _stored(
    trial: Trial,
    project: Project,
    done: list[tuple[TrialConversation, Mapping[str, Any]]],
    adopted: Adopted,
    by: Any,
) -> dict[str, Conversation]:
    """The conversations of the project, by id; what is not there is imported."""
    records = [(trial.name, _record(conversation)) for conversation, _ in done]
    report = conversations.store_records(project=project, records=records, actor=by)
    adopted.imported = report.new
    if report.has_changes:
        conversations.record_import(project, [trial.name], report, by)
    ids = [conversation.external_id for conversation, _ in done]
    rows = project.conversations.filter(external_id__in=ids)
    return {conversation.external_id: conversation for conversation in rows}


def _record(conversation: TrialConversation) -> Record:
    turns = tuple(
        Turn(message.role, message.content, message.speaker, message.time)
        for message in conversation.messages
    )
    return Record(conversation.external_id, turns, domain=conversation.domain)


def _suggest(
    trial: Trial,
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
                pipeline=trial.pipeline,
                version=version_of(trial),
            )
        except requests.UnusableSuggestion as error:
            adopted.left_out[target.external_id] = error.fact
        else:
            adopted.made += is_new
            adopted.known += not is_new


def version_of(trial: Trial) -> str:
    """With other settings than the usual ones a pipeline suggests something else."""
    entry = PIPELINES[trial.pipeline]
    if trial.config == entry.config().model_dump(mode="json"):
        return trial.pipeline_version
    mark = f"~{sha256_of(trial.config)[:8]}"
    return trial.pipeline_version[: 50 - len(mark)] + mark
