"""The only place that turns gold rows into what pipelines take, and outputs into rows.

A gold item is a document (``GoldItem.content``); pipelines get a ``Case`` without any label. What
a pipeline returned is checked and cleaned here once, before it is stored, so that scoring and
screens can rely on its shape. What differs by layer is in ``evaluation.layers``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from django.conf import settings

from evaluation.layers import Example, GoldLayer, MalformedOutput, Part, gold_layer
from evaluation.models import CaseRun, Rating, RatingKind, RatingSample, Run, RunConversation
from labeling.agreement.matching.matching import DEFAULT_SYNONYMS
from labeling.domain.facts import Fact
from labeling.gold.rules.content import GoldContent
from labeling.models import Conversation, GoldItem, GoldRelease, Project
from pipelines.errors import PipelineError
from pipelines.types import Case, Message, Output
from pipelines.types import Example as Shown

Ratings = dict[int, dict[int, dict[int, int]]]
EventSchema = dict[str, list[str]]
KEPT_ITEMS = 4  # a chat has many questions, which follow each other
MOST_CHARACTERS = 100_000
"""Of a reply that is stored as it came; a longer one is cut."""
MOST_EXAMPLES, LONGEST_EXAMPLE = 3, 1_500
"""Labels that are shown to a model, and the characters of one with its messages."""
MOST_BITS = 1000  # of a whole number: a longer one is written by no JSON encoder


def content_of(case: CaseRun) -> GoldContent:
    """The gold item's document; cases of one item share it, so it must not be changed."""
    return _content(case.item.sha256, case.item_id)


def to_case(case: CaseRun, layer: GoldLayer) -> Case:
    """What a pipeline may see: the conversation and what is asked, never the labels."""
    if case.talk is not None:
        return _case_of_talk(case, case.talk, layer)
    # as written down when the run was launched: a project may change its own later
    written = Run.objects.filter(pk=case.run_id).values_list("spec__event_schema", flat=True)
    schema: EventSchema | None = written.get() if layer.project_types else None
    shown = case_of(case.item, Part(case.part, case.part_id), layer, schema)
    examples: tuple[Shown, ...] = ()
    if layer.exemplified and case.run.spec.model:
        examples = examples_for(case.item, case.run.release, layer)
    return replace(shown, repetition=case.repetition, examples=examples)


def _case_of_talk(case: CaseRun, talk: RunConversation, layer: GoldLayer) -> Case:
    """Of a run without gold: under the id that gold of this conversation would give it."""
    spec = case.run.spec
    return Case(
        case_id=case.case_id,
        domain=talk.domain,
        messages=messages_of(talk),
        question=spec.questions[case.part] if case.part else None,
        conversation_id=talk.external_id,
        task=layer.name,
        event_schema=spec.event_schema if layer.project_types else None,
    )


def examples_for(item: GoldItem, release: GoldRelease, layer: GoldLayer) -> tuple[Shown, ...]:
    """What a model may be shown of gold when it is asked about ``item``: one label each of a few
    other conversations, of train items alone."""
    known = _examples(release.sha256, release.pk, layer)
    others = (one for one in known if one.conversation_id != item.item_id)
    return tuple(others)[:MOST_EXAMPLES]


def case_of(item: GoldItem, part: Part, layer: GoldLayer, event_schema: EventSchema | None) -> Case:
    content = _content(item.sha256, item.pk)
    requirements = layer.requirements(content)
    return Case(
        case_id=f"{item.item_id}:{part.id}" if part.id else item.item_id,
        domain=content["domain"],
        messages=_messages(item.sha256, item.pk),
        question=layer.question(layer.gold(content, part.uid)),
        conversation_id=item.item_id,
        task=layer.name,
        event_schema=event_schema,
        guideline=_guideline(item.sha256, item.pk),
        requirements=None if requirements is None else tuple(requirements),
    )


def to_example(case: CaseRun, layer: GoldLayer) -> Example:
    content = content_of(case)
    return Example(content, layer.gold(content, case.part), case.output)


def examples(
    cases: Sequence[CaseRun], layer: GoldLayer, ratings: Ratings | None = None
) -> Iterator[Example]:
    """The same of many cases: one query for all their gold items.

    ``ratings`` of the whole run (:func:`ratings_of`); only judges who are done count.
    """
    rows = GoldItem.objects.only("canonical").in_bulk({case.item_id for case in cases})
    content_of_item = lru_cache(maxsize=KEPT_ITEMS)(lambda item: rows[item].content)
    for case in cases:
        content = content_of_item(case.item_id)
        judged = None if ratings is None else _judged(case, layer, ratings)
        yield Example(content, layer.gold(content, case.part), case.output, judged)


def _judged(case: CaseRun, layer: GoldLayer, ratings: Ratings) -> list[list[int]]:
    places = range(len(layer.predicted(case.output)))
    by_judge = ratings.get(case.pk, {}).values()
    return [[scores[at] for at in places] for scores in by_judge if scores.keys() >= set(places)]


def ratings_of(run: Run) -> Ratings | None:
    """Those of a closed sample: by case, rater and position; ``None`` if there is none."""
    if RatingSample.objects.filter(panel__run=run, given_up=True).exists():
        return None
    closed = Rating.objects.filter(case__run=run, kind=RatingKind.NEED, frozen=True)
    rows = closed.order_by("case", "rater", "position")
    ratings: Ratings = {}
    for case, judge, position, score in rows.values_list("case", "rater", "position", "score"):
        ratings.setdefault(case, {}).setdefault(judge, {})[position] = score
    return ratings or None


def messages_of(conversation: Conversation | RunConversation) -> tuple[Message, ...]:
    """What is stored of a conversation without gold, as a pipeline reads it."""
    return _read(
        {**message._asdict(), "time": message.time.isoformat() if message.time else None}
        for message in conversation.messages
    )


def _read(messages: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    """Who has no name is called by the role."""
    return tuple(
        Message(
            **{name: each[name] for name in ("index", "role", "content", "time")},
            speaker=each["speaker"] or each["role"],
        )
        for each in messages
    )


def synonyms_of(project: Project) -> list[list[str]]:
    """The groups that hold for every project, then the project's own."""
    return [sorted(group) for group in (*DEFAULT_SYNONYMS, *project.actor_synonyms)]


class OutputTooLarge(MalformedOutput):
    """The pipeline returned more than is stored of a case; it would again."""


def checked_output(output: Any, layer: str, *, message_count: int) -> Output:
    """The output ready to be stored, or ``MalformedOutput``."""
    if not isinstance(output, Mapping):
        raise MalformedOutput("output.nothing")
    try:
        cleaned: Output = storable(output)
    except RecursionError:
        raise MalformedOutput("output.too_deep") from None
    check_size(cleaned)
    gold_layer(layer).check(cleaned, message_count=message_count)
    return cleaned


def check_size(output: Output | str) -> None:
    megabytes = len(json.dumps(output, ensure_ascii=False).encode()) / 1024**2
    limit = settings.MAX_OUTPUT_MB
    if megabytes > limit:
        raise OutputTooLarge("output.too_large", size=round(megabytes, 1), limit=limit)


def kept_text(text: str) -> str:
    """What a model wrote, as much of it as is stored, with its true length if that is less."""
    text = storable(text)
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}… [{len(text)}]"


def fact_of(error: PipelineError) -> Fact:
    """What a pipeline said, as a fact that can be stored."""
    return Fact.from_json(storable(error.as_json()))


def storable(value: Any) -> Any:
    """A copy that both databases can store as JSON.

    PostgreSQL takes neither NUL nor half of a surrogate pair, and neither takes NaN.
    """
    if isinstance(value, Mapping):
        return {storable(str(key)): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise MalformedOutput("output.number_too_long", bits=MOST_BITS)
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise MalformedOutput("output.no_json_value", value=f"{value!r}")


@lru_cache(maxsize=KEPT_ITEMS)
def _guideline(sha256: str, item_id: int) -> str:
    """Of its release, which never changes; empty where gold came without one."""
    rows = GoldItem.objects.filter(pk=item_id, sha256=sha256)
    return rows.values_list("release__guideline__body", flat=True).first() or ""


@lru_cache(maxsize=KEPT_ITEMS)
def _examples(sha256: str, release_id: int, layer: GoldLayer) -> tuple[Shown, ...]:
    """In an order that is always the same, and one more than are shown: one may be asked about."""
    rows = GoldItem.objects.filter(release=release_id, split=Conversation.Split.TRAIN)
    found: list[Shown] = []
    for item in rows.order_by("sha256").iterator(chunk_size=20):
        found += _short_examples(item, layer)[:1]
        if len(found) > MOST_EXAMPLES:
            break
    return tuple(found)


def _short_examples(item: GoldItem, layer: GoldLayer) -> list[Shown]:
    content = item.content
    by_index = {message.index: message for message in _read(content["conversation"])}
    examples = []
    for label in layer.gold(content, ""):
        cited = [by_index[at] for at in label.get("source_messages", ()) if at in by_index]
        length = len(str(dict(label))) + sum(len(message.content) for message in cited)
        if cited and length <= LONGEST_EXAMPLE:
            examples.append(Shown(item.item_id, tuple(cited), label))
    return examples


@lru_cache(maxsize=KEPT_ITEMS)
def _content(sha256: str, item_id: int) -> GoldContent:
    """Frozen rows never change; the hash distinguishes equal numbers of two databases."""
    return GoldItem.objects.get(pk=item_id, sha256=sha256).content


@lru_cache(maxsize=KEPT_ITEMS)
def _messages(sha256: str, item_id: int) -> tuple[Message, ...]:
    """One tuple for all questions of a chat, by which a pipeline can know it again."""
    return _read(_content(sha256, item_id)["conversation"])
