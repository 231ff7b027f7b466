"""One case laid open: gold and prediction side by side, and where the gold comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from evaluation import adapters
from evaluation.layers import GoldLayer, gold_layer
from evaluation.layers.events import Events
from evaluation.layers.memory import Memory
from evaluation.metrics.alignment import AlignmentRow
from evaluation.metrics.registry import METRICS, Metric
from evaluation.models import CaseRun, Run, Score
from evaluation.services import looks
from evaluation.services.run import yardsticks
from evaluation.services.run.primary_metrics import primary_of
from evaluation.templatetags import present
from evaluation.views.answers import answer_of
from evaluation.views.document import document_of
from evaluation.views.events import events_of
from evaluation.views.evidence import evidence_of
from evaluation.views.run_cases import failures
from evaluation.views.unmeasured import unmeasured_case
from labeling.agreement.matching.matching import same_actor
from labeling.core import access
from labeling.core.views.markdown import ShownGuideline, shown_guideline
from labeling.domain.facts import Fact
from labeling.gold import pseudonyms
from labeling.gold.rules.content import GoldMessage, LabelOrigin, Provenance
from labeling.models import Annotation, Conversation, Guideline
from labeling.schema import LAYERS, form_fields
from labeling.translation import lazy as _
from labeling.translation import translated, translated_keys
from labeling.words import words_of
from labeling.work import blindness
from labeling.work.rules.keys import CASE_KEYS

Label = Mapping[str, Any]


class Shown(NamedTuple):
    """How the labels of a case are put before a reader."""

    fields: Sequence[tuple[str, str]]
    synonyms: Sequence[Sequence[str]]
    names: Mapping[str, str]
    layer: str


class FieldRow(NamedTuple):
    """One field of a pair of labels."""

    title: str
    gold: Any
    predicted: Any
    is_list: bool
    is_messages: bool
    differs: bool


class PairRow(NamedTuple):
    """A gold label next to a predicted one, or either of them alone."""

    number: int
    kind: str
    title: str
    badge: str
    why_not: str
    similarity: float | None
    shows_similarity: bool
    gold: Label | None
    predicted: Label | None
    fields: list[FieldRow]
    sources: list[int]
    layer: str
    place: int | None
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
    def uid(self) -> str:
        """Of the label of gold; empty: gold has none."""
        return str(self.gold["uid"]) if self.gold else ""

    def label(self, side: str) -> Label | None:
        return self.gold if side == "gold" else self.predicted


def _named(label: Label | None) -> str:
    """What a label says in a line: its title, or the text that takes its place."""
    if label is None:
        return ""
    return str(next((label[name] for name in NAMED_BY if label.get(name)), ""))


NAMED_BY = ("title", "message", "requirement", "action")


class CitedMessage(GoldMessage):
    """A message with the numbers of the rows whose gold, and whose prediction, cites it."""

    gold: list[int]
    predicted: list[int]


class LabelPeople(NamedTuple):
    """Who holds a gold label, whose own one says it in other words, and who has none like it."""

    number: int
    label: Label
    how: str
    by: list[str]
    differently: list[str]
    without: list[str]


COMPARED = {
    "type",
    "actor",
    "priority",
    "source_messages",
    "inference_type",
    "necessity",
    "requirement",
    "issue_type",
    "field",
    "severity",
}
"""Free text is compared by similarity, not by letter."""

LISTS = {"acceptance_criteria", "triggered_by"}

KINDS = {
    "matched": (_("Matched"), "ok"),
    "near": (_("Not matched"), "warn"),
    "missed": (_("Missed"), "bad"),
    "extra": (_("Extra"), "bad"),
}


def rows_of(case: CaseRun, scores: Sequence[Score]) -> list[PairRow]:
    """The pairs of gold and prediction, as the matcher decided (or unpaired before scoring)."""
    layer = gold_layer(case.run.release.layer)
    gold = layer.gold(adapters.content_of(case), case.part)
    predicted = layer.predicted(case.output)
    synonyms = case.run.spec.matching.synonyms
    (name,) = [each.name for each in LAYERS.values() if each.key == layer.key]
    shown = Shown(_shown_fields(layer), synonyms, _names(case, layer), name)
    return [
        _row(number, pair, gold, predicted, shown)
        for number, pair in enumerate(_pairs(scores, len(gold), len(predicted)), start=1)
    ]


def _shown_fields(layer: GoldLayer) -> list[tuple[str, str]]:
    """The fields of a layer's labels that the page shows, with their titles."""
    (schema,) = [each.name for each in LAYERS.values() if each.key == layer.key]
    titles = {field["name"]: field["label"] for field in form_fields(schema)}
    return [(name, translated(titles[name])) for name in layer.shown]


def conversation_of(case: CaseRun, rows: Sequence[PairRow]) -> list[CitedMessage]:
    """The messages, each with the rows whose gold or prediction cites it."""
    return [
        {
            **message,
            "speaker": message["speaker"] or message["role"],
            "gold": _citing(rows, "gold", message["index"]),
            "predicted": _citing(rows, "predicted", message["index"]),
        }
        for message in adapters.content_of(case)["conversation"]
    ]


def _pairs(scores: Sequence[Score], n_gold: int, n_predicted: int) -> Sequence[Mapping[str, Any]]:
    """The stored alignment; before scoring, and without one, every label is alone."""
    for score in scores:
        if "alignment" in score.detail:
            alignment: list[AlignmentRow] = score.detail["alignment"]
            return alignment
    return [
        *({"gold": index, "predicted": None} for index in range(n_gold)),
        *({"gold": None, "predicted": index} for index in range(n_predicted)),
    ]


def _row(
    number: int,
    pair: Mapping[str, Any],
    gold: Sequence[Label],
    predicted: Sequence[Label],
    shown: Shown,
) -> PairRow:
    left = gold[pair["gold"]] if pair["gold"] is not None else None
    right = predicted[pair["predicted"]] if pair["predicted"] is not None else None
    kind = _kind(pair)
    title, badge = KINDS[kind]
    return PairRow(
        number=number,
        kind=kind,
        title=title,
        badge=badge,
        why_not=words_of(pair.get("why_not")),
        similarity=pair.get("similarity"),
        shows_similarity=not _is_too_different(pair),
        gold=left,
        predicted=right,
        fields=_fields(left, right, shown),
        sources=sorted(_sources(left) | _sources(right)),
        layer=shown.layer,
        place=pair["predicted"],
    )


def _fields(left: Label | None, right: Label | None, shown: Shown) -> list[FieldRow]:
    return [
        FieldRow(
            title=title,
            gold=_shown(field, left, shown.names),
            predicted=_shown(field, right, shown.names),
            is_list=field in LISTS,
            is_messages=field == "source_messages",
            differs=_differs(field, left, right, shown.synonyms),
        )
        for field, title in shown.fields
    ]


def _is_too_different(pair: Mapping[str, Any]) -> bool:
    """Then the reason names the similarity."""
    why = pair.get("why_not")
    return why is not None and Fact.from_json(why).code == "pair.not_similar"


def _kind(pair: Mapping[str, Any]) -> str:
    if pair.get("matched"):
        return "matched"
    if pair["gold"] is None:
        return "extra"
    return "missed" if pair["predicted"] is None else "near"


def _shown(field: str, label: Label | None, names: Mapping[str, str]) -> Any:
    """As a reader knows it: a requirement by its title, a piece of text by its words."""
    if label is None:
        return None
    value = label.get(field)
    if field == "source_messages":
        return sorted(_sources(label))
    if field == "triggered_by":
        return [names.get(uid, uid) for uid in value or []]
    if field == "requirement":
        return names.get(str(value), value)
    return value.get("text") if isinstance(value, Mapping) else value


def _names(case: CaseRun, layer: GoldLayer) -> dict[str, str]:
    """Titles of the requirements that labels of the case refer to."""
    requirements = layer.requirements(adapters.content_of(case)) or []
    return {
        str(requirement.get("uid")): str(requirement.get("title")) for requirement in requirements
    }


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


def _citing(rows: Sequence[PairRow], side: str, index: int) -> list[int]:
    return [row.number for row in rows if index in _sources(row.label(side))]


# --- from a score to the people behind the gold ---------------------------------------------------


@require_GET
def run_case(request: HttpRequest, run_pk: int, pk: int) -> HttpResponse:
    if Run.objects.filter(pk=run_pk, release__isnull=True).exists():
        return unmeasured_case(request, run_pk, pk)
    cases = CaseRun.objects.filter(run__in=Run.objects.visible_to(request.user))
    related = ("item", "run__release__project", "run__requested_by")
    case = get_object_or_404(cases.select_related(*related), run__pk=run_pk, pk=pk)
    blindness.refuse(request.user, Conversation.objects.filter(pk=case.item.conversation_id))
    looks.require_case(request.user, case)
    scores = current_scores(case)
    layer = gold_layer(case.run.release.layer)
    own_page = isinstance(layer, Memory | Events)
    rows = [] if own_page else rows_of(case, scores)
    provenance = _provenance(request, case)
    primary = primary_of(case.run.release.project, layer.name).metric
    submitted = _submitted(case, provenance)
    document = document_of(case)
    context = {
        "run": case.run,
        "case": case,
        "synthetic": case.run.release.items.synthetic().filter(pk=case.gold_item_id).exists(),
        "badge": present.color(case.state),
        "failed": case.state == CaseRun.State.FAILED,
        "earlier_failures": case.earlier_failures,
        "evidence": evidence_of(case, layer) if isinstance(layer, Memory) else None,
        "written": answer_of(case),
        "events": events_of(case, layer, scores) if isinstance(layer, Events) else None,
        "rows": rows,
        "is_scored": bool(scores),
        "conversation": [] if own_page else conversation_of(case, rows),
        "provenance": provenance,
        "annotators": [
            {**annotator, "submitted": submitted.get(annotator["username"])}
            for annotator in provenance.get("annotators", [])
        ],
        "label_provenance": _label_provenance(rows, provenance),
        "guideline": _guideline(case, provenance),
        "has_document": document is not None,
        "notice": document.get("notice", "") if document else "",
        "steps": [] if own_page else present.steps_of(case.output),
        "scores": [(score, _cell(score, case)) for score in scores],
        "raw": present.as_json(case.output) if case.output else "",
        "keys": translated_keys(CASE_KEYS),
        **_head(case, scores, primary),
        **_neighbours(case, primary),
    }
    return render(request, "evaluation/run_case.html", context)


def _provenance(request: HttpRequest, case: CaseRun) -> Provenance:
    """With the names of people for a lead, who may see them."""
    project = case.run.release.project
    names = pseudonyms.names_of(project) if access.leads(request.user, project) else {}
    return pseudonyms.content_of(case.item, names)["provenance"]


def _submitted(case: CaseRun, provenance: Provenance) -> dict[str, datetime]:
    """When each person submitted; no time is part of an item, and pseudonyms have none."""
    answers = Annotation.objects.filter(
        assignment__conversation=case.item.conversation_id,
        assignment__round__number=provenance.get("round") or 0,
        submitted_at__isnull=False,
    )
    rows = answers.values_list("assignment__annotator__username", "submitted_at")
    return {name: at for name, at in rows if at}


def current_scores(case: CaseRun) -> list[Score]:
    return [score for score in case.scores.all() if _is_current(score)]


def _is_current(score: Score) -> bool:
    metric = METRICS.get(score.metric)
    return metric is not None and metric.version == score.metric_version


def _cell(score: Score, case: CaseRun) -> present.Cell:
    return present.score_cell(score, failed=case.state == CaseRun.State.FAILED)


def _label_provenance(rows: list[PairRow], provenance: Provenance) -> list[LabelPeople]:
    labels = provenance.get("labels", {})
    return [
        _people(row.number, row.gold, labels[row.gold["uid"]])
        for row in rows
        if row.gold and row.gold.get("uid") in labels
    ]


def _people(number: int, label: Label, origin: LabelOrigin) -> LabelPeople:
    dissent = origin.get("dissent", [])
    return LabelPeople(
        number=number,
        label=label,
        how=origin.get("how", ""),
        by=origin.get("by", []),
        differently=[annotator["annotator"] for annotator in dissent if annotator["label"]],
        without=[annotator["annotator"] for annotator in dissent if not annotator["label"]],
    )


def _guideline(case: CaseRun, provenance: Provenance) -> ShownGuideline | None:
    version = provenance.get("decided_under") or provenance.get("guideline_version")
    if version is None:
        return None
    guideline = Guideline.objects.filter(project=case.run.release.project, version=version).first()
    return shown_guideline(guideline)


def _neighbours(case: CaseRun, primary: Metric) -> dict[str, CaseRun | None]:
    """Cases are created in the order of the gold, so the key gives the order."""
    others = CaseRun.objects.filter(run=case.run).only("pk", "run_id")
    failing = failures(others, primary)
    return {
        "previous": others.filter(pk__lt=case.pk).order_by("-pk").first(),
        "next": others.filter(pk__gt=case.pk).order_by("pk").first(),
        "previous_failure": failing.filter(pk__lt=case.pk).order_by("-pk").first(),
        "next_failure": failing.filter(pk__gt=case.pk).order_by("pk").first(),
    }


def _head(case: CaseRun, scores: Sequence[Score], primary: Metric) -> dict[str, Any]:
    """The primary figure of the case, and what people reach on it."""
    own = next((score for score in scores if score.metric == primary.id), None)
    return {
        "primary": own,
        "primary_cell": _cell(own, case) if own else None,
        "people": yardsticks.reached_by_people(case, primary),
    }
