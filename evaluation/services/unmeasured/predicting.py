"""A pipeline on conversations without gold: what it is asked, and what it returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evaluation import adapters
from evaluation.adapters import EventSchema
from evaluation.layers.events import spans_of
from evaluation.services.launch import launch
from labeling.domain.errors import RuleError
from pipelines.chat.endpoint import DEFAULT
from pipelines.registry import MEMORY, PIPELINES, Entry
from pipelines.types import Config

WHOLE = "end_to_end"
"""Of the layers of requirements the one whose output has everything, the document too."""

MOST_QUESTIONS = 200
LONGEST_QUESTION = 2000  # characters


class TrialRefused(RuleError, code="trial_refused"):
    """Such a pipeline cannot be run without gold, or not on this."""


class Question(NamedTuple):
    """``conversation`` is empty where the question is asked of each."""

    id: str
    text: str
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of each conversation. Checked by :func:`checked_task`."""

    entry: Entry
    layer: str
    config: Config
    questions: tuple[Question, ...] = ()
    event_schema: EventSchema | None = None
    model: str = DEFAULT

    @property
    def asks_model(self) -> bool:
        return self.entry.asks_model(self.config)


def offered() -> list[Entry]:
    """The pipelines that are worth a trial; floors would only mislead."""
    return [entry for entry in PIPELINES.values() if not entry.floor]


def checked_task(
    pipeline: str,
    config: Mapping[str, Any],
    *,
    layer: str = "",
    questions: Sequence[Question] = (),
    event_schema: EventSchema | None = None,
    model: str = DEFAULT,
) -> Task:
    """What shall be done, or why it cannot be: nothing is computed for a wrong setting."""
    known = PIPELINES.get(pipeline)
    able = known.layers if known else (WHOLE,)
    layer = layer or (WHOLE if WHOLE in able else able[0])  # what shows most of a pipeline
    entry, full = launch.checked_pipeline(pipeline, config, layer)
    asks_model = entry.asks_model(full)
    launch.check_model(entry, model, asks_model=asks_model)
    if model != DEFAULT and not asks_model:
        raise TrialRefused("launch.model_without_need", pipeline=pipeline)
    if layer in MEMORY:
        _check_questions(questions, pipeline)
    elif questions:
        raise TrialRefused("trial.asks_no_questions", pipeline=pipeline)
    typed = adapters.gold_layer(layer).project_types
    if typed and not event_schema:
        raise TrialRefused("trial.no_event_types", pipeline=pipeline)
    return Task(entry, layer, full, tuple(questions), event_schema if typed else None, model)


def _check_questions(questions: Sequence[Question], pipeline: str) -> None:
    if not questions:
        raise TrialRefused("trial.needs_questions", pipeline=pipeline)
    if len(questions) > MOST_QUESTIONS and not any(question.conversation for question in questions):
        raise TrialRefused("trial.too_many_questions", most=MOST_QUESTIONS)
    asked: dict[str, set[str]] = {}
    for question in questions:
        if len(question.text) > LONGEST_QUESTION:
            raise TrialRefused("trial.question_too_long", id=question.id, most=LONGEST_QUESTION)
        of = asked.setdefault(question.id, set())
        if question.conversation in of or (of and "" in {question.conversation, *of}):
            raise TrialRefused("trial.question_twice", id=question.id)  # cases of one name
        of.add(question.conversation)


def questions_in(text: str) -> tuple[Question, ...]:
    """One question a line, asked of each conversation.

    Examples
    --------
    >>> [question.id for question in questions_in("Who pays?\\n\\nWhen?")]
    ['Q-001', 'Q-002']
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return tuple(Question(f"Q-{number:03d}", line) for number, line in enumerate(lines, start=1))


# --- what an output holds -------------------------------------------------------------------------

KINDS = {
    "requirements": "requirement",
    "inferred_requirements": "inferred requirement",
    "issues": "issue",
    "events": "event",
    "phases": "phase",
}
"""The lists of labels in an output, by key, and what one of them is called in a table."""


class OutputLabel(NamedTuple):
    """A label with its kind and its number among those of its kind, from 1."""

    kind: str
    number: int
    label: Mapping[str, Any]


def labels_in(output: Mapping[str, Any], layer: str) -> Iterator[OutputLabel]:
    """Every label of an output in the order of its document."""
    if layer in MEMORY:
        phases = output.get("phases") or [{"title": "", "evidence": output.get("evidence") or []}]
        for number, phase in enumerate(phases, start=1):
            yield OutputLabel("phase", number, phase)
        return
    for key, kind in KINDS.items():
        for number, label in enumerate(_labels(output, key, layer), start=1):
            if isinstance(label, Mapping):
                yield OutputLabel(kind, number, label)


def _labels(output: Mapping[str, Any], key: str, layer: str) -> Sequence[Any]:
    shape = adapters.gold_layer(layer)
    if shape.project_types and key == shape.key:
        return shape.predicted(output)  # also out of a model's raw reply
    labels = output.get(key)
    return labels if isinstance(labels, list) else ()


def sources_of(label: Mapping[str, Any], layer: str) -> list[int]:
    """The messages that a label cites, as 0-based positions."""
    if layer in MEMORY:
        return [number - 1 for number in _integers(label.get("evidence"))]
    spans = spans_of(label) if adapters.gold_layer(layer).project_types else []
    named = [span.get("message") for span in spans]
    return sorted({*_integers(label.get("source_messages")), *_integers(named)})


def _integers(values: Any) -> list[int]:
    listed = values if isinstance(values, list) else []
    return [value for value in listed if type(value) is int]


def counted(output: Mapping[str, Any], layer: str) -> dict[str, int]:
    """How many labels of each kind."""
    counts: dict[str, int] = {}
    for label in labels_in(output, layer):
        counts[label.kind] = counts.get(label.kind, 0) + 1
    return counts
