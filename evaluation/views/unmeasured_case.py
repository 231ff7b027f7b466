"""What a pipeline returned of one conversation, laid out to be read next to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evaluation.models import CaseRun
from evaluation.services.unmeasured import files
from evaluation.services.unmeasured.predicting import OutputLabel, labels_in, sources_of
from evaluation.templatetags import present
from labeling.conversations.rules.transcripts import Message
from labeling.schema import form_fields
from labeling.translation import lazy, translated_keys
from labeling.work.rules.keys import TRIAL_KEYS
from pipelines.requirements.labels import sureness_of

TITLES = {
    "requirement": lazy("Requirement"),
    "inferred requirement": lazy("Inferred requirement"),
    "issue": lazy("Issue"),
    "event": lazy("Event"),
    "phase": lazy("Messages returned"),
}
LAYERS = {
    "requirement": "extraction",
    "inferred requirement": "inference",
    "issue": "validation",
    "event": "events",
}
HEAD = {"title", "confidence", "wanted", "source_messages", "id", "uid"}
"""Of a label: what is above its fields."""


class FieldRow(NamedTuple):
    title: str
    value: Any
    is_list: bool


class IssueRow(NamedTuple):
    message: str
    severity: str
    fix: str


@dataclass(slots=True)
class LabelCard:
    """A label as a card: its sentence, how sure the pipeline is, its messages, the other fields."""

    number: int
    kind: str
    name: str
    title: str
    sentence: str
    sureness: float | None
    is_chance: bool
    """The sureness is the chance that somebody wants it; otherwise the stated confidence."""
    quoted: bool
    sources: list[int]
    fields: list[FieldRow]
    issues: list[IssueRow] = field(default_factory=list)

    @property
    def kind_title(self) -> str:
        return TITLES[self.kind]


class ShownMessage(NamedTuple):
    message: Message
    cards: list[LabelCard]
    """Those that cite it."""


def context_of(case: CaseRun, layer: str) -> dict[str, Any]:
    output = case.output or {}
    cards = _cards(labels_in(output, layer) if case.output else (), layer)
    conversation = _cited(case.talk.messages if case.talk else (), cards)
    counts: dict[str, int] = {}
    for card in cards:
        counts[card.kind] = counts.get(card.kind, 0) + 1
    return {
        "badge": present.color(case.state),
        "cards": cards,
        "counts": [(TITLES[kind], number) for kind, number in counts.items()],
        "conversation": conversation,
        "answer": output.get("answer") if isinstance(output.get("answer"), str) else "",
        "has_sureness": any(card.sureness is not None for card in cards),
        "has_document": files.document_of(output, case.case_id) is not None,
        "keys": translated_keys(TRIAL_KEYS),
    }


def _cards(output_labels: Iterable[OutputLabel], layer: str) -> list[LabelCard]:
    """Issues are shown at the requirement that they are about, where it is there."""
    listed = list(output_labels)
    issues: dict[str, list[IssueRow]] = defaultdict(list)
    names = {name for each in listed for name in _names(each.label)}
    cards: list[LabelCard] = []
    for each in listed:
        about = str(each.label.get("requirement") or "")
        if each.kind == "issue" and about in names:
            issues[about].append(_issue(each.label))
        else:
            cards.append(_card(len(cards) + 1, each, layer))
    labels = [each.label for each in listed if each.kind != "issue" or _stands_alone(each, names)]
    sources = {
        name: card.sources
        for card, label in zip(cards, labels, strict=True)
        for name in _names(label)
    }
    for card, label in zip(cards, labels, strict=True):
        known = _names(label)
        if not card.sources:  # of what was inferred: the messages of what it follows from
            triggers = label.get("triggered_by")
            causes = triggers if isinstance(triggers, list) else []
            card.sources = sorted({at for name in causes for at in sources.get(str(name), [])})
        card.issues = [issue for name in sorted(known) for issue in issues.get(name, [])]
    return cards


def _names(label: Mapping[str, Any]) -> set[str]:
    """By which other labels refer to it."""
    return {str(label[key]) for key in ("id", "uid") if label.get(key)}


def _stands_alone(output_label: OutputLabel, names: set[str]) -> bool:
    return str(output_label.label.get("requirement") or "") not in names


def _issue(label: Mapping[str, Any]) -> IssueRow:
    return IssueRow(
        str(label.get("message") or label.get("issue_type") or ""),
        str(label.get("severity") or ""),
        str(label.get("suggested_fix") or ""),
    )


def _card(number: int, output_label: OutputLabel, layer: str) -> LabelCard:
    label = output_label.label
    sureness = sureness_of(label)
    return LabelCard(
        number=number,
        kind=output_label.kind,
        name=str(label.get("id") or output_label.number),
        title=_title(output_label),
        sentence=_sentence(output_label),
        sureness=float(sureness) if isinstance(sureness, int | float) else None,
        is_chance=label.get("wanted") is not None,
        quoted=label.get("quoted") is True,
        sources=sources_of(label, layer),
        fields=_fields(output_label),
    )


def _title(output_label: OutputLabel) -> str:
    label = output_label.label
    if output_label.kind == "event":
        return str(label.get("type") or "")
    return str(label.get("title") or label.get("message") or "")


def _sentence(output_label: OutputLabel) -> str:
    label = output_label.label
    if output_label.kind == "event":
        trigger = label.get("trigger")
        return str(trigger.get("text") or "") if isinstance(trigger, Mapping) else ""
    parts = (label.get("actor"), label.get("action"), label.get("condition"))
    return " – ".join(str(part) for part in parts if part)


def _fields(output_label: OutputLabel) -> list[FieldRow]:
    layer = LAYERS.get(output_label.kind)
    if layer is None:
        return []
    rows = []
    for shape in form_fields(layer):
        name, value = shape["name"], output_label.label.get(shape["name"])
        if name in HEAD or value in (None, "", []):
            continue
        shown = _shown(value)
        rows.append(FieldRow(shape["label"], shown, isinstance(shown, list)))
    return rows


def _shown(value: Any) -> Any:
    """Spans by their words, arguments by role and words."""
    if isinstance(value, Mapping):
        if "span" in value:
            return f"{value.get('role')}: {_shown(value['span'])}"
        return str(value.get("text") or "")
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return value


def _cited(messages: Iterable[Message], cards: list[LabelCard]) -> list[ShownMessage]:
    by_message: dict[int, list[LabelCard]] = defaultdict(list)
    for card in cards:
        for index in card.sources:
            by_message[index].append(card)
    return [ShownMessage(message, by_message.get(message.index, [])) for message in messages]
