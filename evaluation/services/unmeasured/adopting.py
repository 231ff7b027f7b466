"""What a run without gold returned of a project's conversations, as suggestions in the project.

A lead asks for such a run over what people label now, or launches one on what they choose. The
rules are those of suggestions: never on the test split, never where somebody labels blind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from evaluation.layers import GOLD_LAYERS
from evaluation.models import Run
from evaluation.services.launch.spec import sha256_of
from evaluation.services.unmeasured import launching, predicting
from evaluation.services.unmeasured.launching import Wish
from evaluation.services.unmeasured.predicting import TrialRefused
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

    made: int = 0
    known: int = 0
    left_out: dict[str, Fact] = field(default_factory=dict)


def layers_for(run: Run, project: Project) -> list[str]:
    """The layers of the project that the run has labels of."""
    entry = PIPELINES.get(run.pipeline)
    able = _able(entry, project) if entry and run.project_id == project.pk else []
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
    """The labels of the project's own conversations in this run."""
    layers = layers_for(run, project)
    if not layers:
        raise TrialRefused(
            "trial.no_layer",
            pipeline=run.pipeline,
            project=project.slug,
            layer=run.spec.layer,
        )
    rows = launching.done_cases(run).filter(talk__conversation__project=project)
    done = list(rows.select_related("talk__conversation__transcript").defer(None))
    if not done:
        raise TrialRefused("trial.nothing_done")
    adopted = Adopted()
    with transaction.atomic():
        locked = projects.lock(project)
        own = Conversation.objects.filter(run_conversations__run=run)
        may = set(allowed(own).values_list("pk", flat=True))
        for case in done:
            target: Any = case.talk and case.talk.conversation
            if target.pk not in may:
                adopted.left_out[target.external_id] = Fact("suggestion.test_or_blind")
            else:
                _suggest(run, locked, target, case.output or {}, layers, adopted)
        events.record(
            "suggestions.adopted",
            locked,
            project=locked,
            actor=by,
            pipeline=run.pipeline,
            run=run.pk,
            conversations=0,  # none is imported any more
            made=adopted.made,
            left_out=len(adopted.left_out),
        )
    return adopted


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
