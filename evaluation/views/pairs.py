"""The labels of one case: gold and prediction in pairs, or, without gold, what was returned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evaluation import adapters
from evaluation.layers import gold_layer
from evaluation.metrics.registry import METRICS, Metric
from evaluation.models import CaseRun, Score
from evaluation.services.unmeasured.predicting import labels_in, sources_of
from evaluation.templatetags.present import Cell, score_cell
from labeling.agreement.matching.matching import same_actor
from labeling.domain.facts import Fact
from labeling.schema import LAYERS, form_fields
from labeling.translation import lazy as _
from labeling.translation import translated
from labeling.words import words_of
from pipelines.requirements.labels import sureness_of

Label = Mapping[str, Any]

NAMED_BY = ("title", "message", "requirement", "action")
COMPARED = {
    *("type", "actor", "priority", "source_messages", "inference_type", "necessity"),
    *("requirement", "issue_type", "field", "severity"),
}
"""Free text is compared by similarity, not by letter."""
KINDS = {
    "matched": (_("Matched"), "ok"),
    "near": (_("Not matched"), "warn"),
    "missed": (_("Missed"), "bad"),
    "extra": (_("Extra"), "bad"),
}
RETURNED = {
    "requirement": (_("Requirement"), "extraction"),
    "inferred requirement": (_("Inferred requirement"), "inference"),
    "issue": (_("Issue"), "validation"),
    "event": (_("Event"), "events"),
    "phase": (_("Messages returned"), ""),
}
"""Of what a pipeline returns: its title, and the layer whose fields it has."""


class FieldRow(NamedTuple):
    """One field of a pair of labels."""

    title: str
    gold: Any
    predicted: Any
    is_messages: bool = False
    differs: bool = False

    @property
    def is_list(self) -> bool:
        return isinstance(self.gold, list) or isinstance(self.predicted, list)


class PairRow(NamedTuple):
    """A gold label next to a predicted one, or either of them alone."""

    number: int
    kind: str
    title: str
    badge: str
    gold: Label | None
    predicted: Label | None
    fields: list[FieldRow]
    sources: list[int]
    layer: str
    why_not: str = ""
    similarity: float | None = None
    place: int | None = None
    """Of the predicted label in the output."""

    @property
    def differing(self) -> list[FieldRow]:
        return [field for field in self.fields if field.differs]

    @property
    def gold_name(self) -> str:
        return _named(self.gold)

    @property
    def predicted_name(self) -> str:
        return _named(self.predicted)

    @property
    def sureness(self) -> float | None:
        """Of the pipeline: the chance that somebody wants it, or the confidence that it states."""
        sure = sureness_of(self.predicted) if self.predicted else None
        return float(sure) if isinstance(sure, int | float) else None

    @property
    def uid(self) -> str:
        """Of the label of gold; empty: gold has none."""
        return str(self.gold["uid"]) if self.gold else ""


def _named(label: Label | None) -> str:
    """What a label says in a line: its title, or the text that takes its place."""
    said = label or {}
    trigger = said.get("trigger")
    if isinstance(trigger, Mapping):
        return f"{said.get('type') or ''}: {trigger.get('text') or ''}"
    return str(next((said[name] for name in NAMED_BY if said.get(name)), ""))


def current_scores(case: CaseRun) -> list[Score]:
    versions = {metric.id: metric.version for metric in METRICS.values()}
    return [row for row in case.scores.all() if versions.get(row.metric) == row.metric_version]


def score_of(case: CaseRun, metric: Metric) -> Cell:
    found = (score for score in current_scores(case) if score.metric == metric.id)
    return score_cell(next(found, None), failed=case.state == CaseRun.State.FAILED)


def rows_of(case: CaseRun, scores: Sequence[Score]) -> list[PairRow]:
    """The pairs of gold and prediction, as the matcher decided (or unpaired before scoring)."""
    layer = gold_layer(case.run.release.layer)
    content = adapters.content_of(case)
    gold, predicted = layer.gold(content, case.part), layer.predicted(case.output)
    (name,) = [each.name for each in LAYERS.values() if each.key == layer.key]
    titles = {field["name"]: translated(field["label"]) for field in form_fields(name)}
    requirements = layer.requirements(content) or []
    names = {str(label.get("uid")): str(label.get("title")) for label in requirements}
    rows = []
    for number, pair in enumerate(_pairs(scores, len(gold), len(predicted)), start=1):
        left = gold[pair["gold"]] if pair["gold"] is not None else None
        right = predicted[pair["predicted"]] if pair["predicted"] is not None else None
        kind, why = _kind(pair), pair.get("why_not")
        says = why is not None and Fact.from_json(why).code == "pair.not_similar"
        rows.append(
            PairRow(
                number,
                kind,
                *KINDS[kind],
                gold=left,
                predicted=right,
                fields=[
                    FieldRow(
                        titles[field],
                        _shown(field, left, names),
                        _shown(field, right, names),
                        is_messages=field == "source_messages",
                        differs=_differs(field, left, right, case.run.spec.matching.synonyms),
                    )
                    for field in layer.shown
                ],
                sources=sorted(_sources(left) | _sources(right)),
                layer=name,
                why_not=words_of(why),
                similarity=None if says else pair.get("similarity"),
                place=pair["predicted"],
            )
        )
    return rows


def _pairs(scores: Sequence[Score], n_gold: int, n_predicted: int) -> Sequence[Mapping[str, Any]]:
    """The stored alignment; before scoring, and without one, every label is alone."""
    for score in scores:
        if "alignment" in score.detail:
            alignment: Sequence[Mapping[str, Any]] = score.detail["alignment"]
            return alignment
    return [
        *({"gold": index, "predicted": None} for index in range(n_gold)),
        *({"gold": None, "predicted": index} for index in range(n_predicted)),
    ]


def _kind(pair: Mapping[str, Any]) -> str:
    if pair.get("matched"):
        return "matched"
    if pair["gold"] is None:
        return "extra"
    return "missed" if pair["predicted"] is None else "near"


def _shown(field: str, label: Label | None, names: Mapping[str, str]) -> Any:
    """As a reader knows it: a requirement by its title, a piece of text by its words."""
    value = (label or {}).get(field)
    if label is not None and field == "source_messages":
        return sorted(_sources(label))
    if field == "triggered_by":
        return [names.get(str(uid), uid) for uid in value or []]
    return names.get(str(value), value) if field == "requirement" else _text(value)


def _text(value: Any) -> Any:
    """Spans by their words, arguments by role and words."""
    if isinstance(value, list):
        return [_text(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return f"{value.get('role')}: {_text(value['span'])}" if "span" in value else value.get("text")


def _differs(
    field: str, left: Label | None, right: Label | None, synonyms: Sequence[Sequence[str]]
) -> bool:
    """Whether a metric sees a difference."""
    if left is None or right is None or field not in COMPARED:
        return False
    if field == "actor":
        return not same_actor(left.get(field), right.get(field), synonyms)
    if field == "source_messages":
        return _sources(left) != _sources(right)
    return bool(left.get(field) != right.get(field))


def _sources(label: Label | None) -> set[int]:
    return set(label.get("source_messages") or []) if label else set()


# --- without gold ---------------------------------------------------------------------------------


def returned_rows(case: CaseRun) -> list[PairRow]:
    """Every label of the output, of any kind. What cites nothing has the messages of what it
    follows from."""
    layer = case.run.spec.layer
    listed = list(labels_in(case.output, layer)) if case.output else []
    known = {
        str(each.label[key]): each.label
        for each in listed
        for key in ("id", "uid")
        if each.label.get(key)
    }
    names = {name: _named(label) for name, label in known.items()}
    rows = []
    for number, each in enumerate(listed, start=1):
        title, own_layer = RETURNED[each.kind]
        causes = each.label.get("triggered_by") or [each.label.get("requirement")]
        sources = sources_of(each.label, layer) or [
            at
            for cause in (causes if isinstance(causes, list) else [])
            for at in sources_of(known.get(str(cause), {}), layer)
        ]
        rows.append(
            PairRow(
                number,
                "returned",
                title,
                "info",
                gold=None,
                predicted=each.label,
                fields=list(_fields(each.label, own_layer, names)),
                sources=sorted(set(sources)),
                layer=own_layer,
            )
        )
    return rows


def _fields(label: Label, layer: str, names: Mapping[str, str]) -> Iterator[FieldRow]:
    """Those that it has; its messages are above them."""
    for field in form_fields(layer) if layer else ():
        name = field["name"]
        if name != "source_messages" and label.get(name) not in (None, "", []):
            yield FieldRow(translated(field["label"]), None, _shown(name, label, names))


# --- the conversation next to them ----------------------------------------------------------------


class CitedMessage(NamedTuple):
    """A message with the numbers of the rows whose gold, and whose prediction, cites it."""

    message: Any
    gold: list[int]
    predicted: list[int]


def messages_of(case: CaseRun) -> Sequence[Any]:
    return case.talk.messages if case.talk else adapters.content_of(case)["conversation"]


def conversation_of(case: CaseRun, rows: Sequence[PairRow]) -> list[CitedMessage]:
    def citing(at: int, side: str) -> list[int]:
        if side == "predicted" and case.talk:
            return [row.number for row in rows if at in row.sources]
        return [row.number for row in rows if at in _sources(getattr(row, side))]

    return [
        CitedMessage(message, citing(at, "gold"), citing(at, "predicted"))
        for at, message in enumerate(messages_of(case))
    ]
