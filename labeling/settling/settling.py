"""Which conversations of a project are settled, with what labels, and where these come from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from labeling.agreement.matching.consensus import Settled, Settlement, settle
from labeling.agreement.matching.matchers import texts_of
from labeling.agreement.matching.merging import plain as undecided
from labeling.agreement.matching.merging import settlement_of
from labeling.agreement.matching.references import Base, heading_of, quoting, unresolved
from labeling.agreement.matching.similarity import Ruler, compared
from labeling.core.projects import synonyms_of
from labeling.domain.batches import batches
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.gold.rules.content import Provenance
from labeling.models import (
    Adjudication,
    Admission,
    Annotation,
    Assignment,
    Conversation,
    GoldRelease,
    Merge,
    Project,
    Reopening,
    Review,
)
from labeling.schema import LAYERS
from labeling.schema.labels import Payload, StoredLabel
from labeling.schema.origins import plain
from labeling.schema.targets import END_TO_END, stages_of
from labeling.settling import provenance
from labeling.settling.provenance import Answers, resolved_by
from labeling.work.admission import CALIBRATED

BATCH = 200


class SettledConversation(NamedTuple):
    """The labels of one conversation that may become gold.

    ``base_payload`` has the labels of other layers that these refer to, by the layers' keys.
    """

    conversation: Conversation
    layer: str
    payload: Payload
    provenance: Provenance
    base_payload: Payload


class NotMerged(RuleError, code="not_merged"):
    """A worker has to merge the answers of a conversation first."""


JUST_IN = Fact("gold.answer_just_in")
"""Why an answer that no worker has merged yet is left out."""

Fits = Callable[[Merge], bool]
"""Whether a stored merge is of the current answers."""

SettlementOf = Callable[[str, Base], Settlement]
"""What the annotators of one conversation agree on, by layer and what its labels may refer to."""


def parts(project: Project, among: Collection[int] | None = None) -> Iterator[list[int]]:
    """The conversations of the project, or these of them, a few at a time."""
    if among is not None:
        yield from batches(sorted(among), BATCH)
        return
    last = 0
    rows = project.conversations.order_by("pk").values_list("pk", flat=True)
    while part := list(rows.filter(pk__gt=last)[:BATCH]):
        yield part
        last = part[-1]


def stored(answers: Answers, fits: Fits) -> SettlementOf:
    """Reads the settlements that a worker stored; their digests cover what labels refer to."""
    merges: list[Merge] = answers.conversation.stored_merges  # type: ignore[attr-defined]
    by_layer = {merge.layer: merge for merge in merges if fits(merge)}

    def read(layer: str, base: Base) -> Settlement:
        if layer not in by_layer:
            raise NotMerged("gold.not_merged_yet")
        merge = by_layer[layer]
        answered = answering(answers, layer).submitted
        people = sorted(assignment.annotator.get_username() for assignment in answered)
        return settlement_of(layer, merge.state, people, merge.clusters)

    return read


def settle_answers(
    answers: Answers, project: Project, ruler: Ruler, layer: str, base: Base
) -> Settlement:
    """What the annotators agree on, by the project's rules."""
    resolved = resolved_by(answering(answers, layer), layer, base)
    labels_of = {name: labels.labels for name, labels in resolved.items()}
    if not resolved:  # stored as settled without a label, which no gold is made of
        labels_of = {each.annotator.get_username(): [] for each in answers.submitted}
    return settle(
        labels_of,
        ruler=ruler,
        layer=layer,
        synonyms=synonyms_of(project),
        threshold=project.match_threshold,
        order=list(base.labels),
    )


def answering(answers: Answers, layer: str) -> Answers:
    """Without those who left the layer open: they say nothing of it, not even "nothing here"."""
    submitted = [each for each in answers.submitted if each.annotation.answers(layer)]
    return answers._replace(submitted=submitted)


def needs_of(project: Project, layer: str) -> list[str]:
    """The layers of the project that labels of this layer refer to."""
    return [name for name in LAYERS[layer].needs if name in project.layers]


def prime(ruler: Ruler, everything: Sequence[Answers], *layers: str) -> None:
    """Encode the texts that these answers are compared by, in one batch."""
    names = {name for layer in layers for name in (layer, *LAYERS[layer].needs)}
    ruler.prime(
        text
        for answers in everything
        for name in sorted(names)
        for text in compared(
            texts_of(name, labels) for labels in provenance.labels_by(answers, name).values()
        )
    )


def labeled(conversations: QuerySet[Conversation], *layers: str) -> QuerySet[Conversation]:
    """Those with answers, ready for :func:`answers_of`, ordered by their id."""
    needed = {name for layer in layers for name in (layer, *LAYERS[layer].needs)}
    verdicts = Review.objects.select_related("reviewer").order_by("-pk")
    let_in = Admission.objects.exclude(how__in=CALIBRATED).filter(layer__in=needed)
    assignments = (
        Assignment.objects.with_answered()
        .select_related("annotation__guideline", "annotator", "round")
        .defer("round__agreement", "annotation__guideline__body")  # long, and in each row
        .prefetch_related(
            Prefetch("annotation__reviews", verdicts, to_attr="verdicts"),
            Prefetch("annotator__admissions", let_in, to_attr="not_calibrated"),
        )
        .order_by("-round__number", "annotator__username")
    )
    decisions = (
        Adjudication.objects.of_answers()
        .filter(layer__in=needed)
        .select_related("decided_by", "guideline")
        .prefetch_related(
            Prefetch(
                "reopenings",
                Reopening.objects.select_related("item__release").defer(
                    *(f"item__release__{name}" for name in GoldRelease.DOCUMENTS)
                ),
            )
        )
    )
    of_conversation = Assignment.objects.filter(conversation=OuterRef("pk"))
    return (
        conversations.filter(Exists(of_conversation))
        .order_by("external_id")
        .prefetch_related(
            "transcript",
            Prefetch("assignments", assignments, to_attr="labeling_assignments"),
            Prefetch("adjudications", decisions.order_by("-version"), to_attr="decisions"),
            Prefetch("merges", Merge.objects.filter(layer__in=needed), to_attr="stored_merges"),
        )
    )


def answers_of(conversation: Conversation) -> Answers:
    assignments: list[Assignment] = conversation.labeling_assignments  # type: ignore[attr-defined]
    newest = [
        assignment for assignment in assignments if assignment.round_id == assignments[0].round_id
    ]
    by_status = {
        status: [assignment for assignment in newest if _status(assignment) == status]
        for status in (Annotation.Status.SUBMITTED, Annotation.Status.SKIPPED)
    }
    submitted = by_status[Annotation.Status.SUBMITTED]
    skipped = by_status[Annotation.Status.SKIPPED]
    answered = sum(assignment.is_answer for assignment in newest)  # type: ignore[attr-defined]
    missing = assignments[0].round.overlap - answered
    return Answers(conversation, assignments[0].round, submitted, skipped, missing)


def _status(assignment: Assignment) -> str:
    return assignment.annotation.status if hasattr(assignment, "annotation") else ""


class Outcomes:
    """The outcome of one conversation, layer by layer; each is looked up once."""

    def __init__(self, answers: Answers, project: Project, settlement_of: SettlementOf) -> None:
        self.answers, self.project, self.settlement_of = answers, project, settlement_of
        self._outcomes: dict[str, SettledConversation | Fact] = {}

    def of(self, layer: str) -> SettledConversation | Fact:
        """The settled labels, or the reason why there are none."""
        if layer not in self._outcomes:
            find = self._whole if layer == END_TO_END else self._settled
            self._outcomes[layer] = find(layer)
        return self._outcomes[layer]

    def base(self, layer: str) -> Base | Fact:
        """What labels of the layer may refer to, or why that is not settled."""
        base = Base()
        for need in needs_of(self.project, layer):
            outcome = self.of(need)
            if isinstance(outcome, Fact):
                return Fact(
                    "gold.base_not_settled", layer=Fact(f"layer_within.{need}"), why=outcome
                )
            people = [assignment.annotator.get_username() for assignment in self.answers.submitted]
            for label in outcome.payload[LAYERS[need].key]:
                base.add(label, holders_of(label, outcome.provenance, people))
        return base

    def base_labels(self, layer: str) -> dict[str, list[StoredLabel]]:
        """The settled labels that those of the layer may refer to, by their layers."""
        settled = {need: self.of(need) for need in needs_of(self.project, layer)}
        return {
            need: list(outcome.payload[LAYERS[need].key])
            for need, outcome in settled.items()
            if not isinstance(outcome, Fact)
        }

    def _settled(self, layer: str) -> SettledConversation | Fact:
        answers = answering(self.answers, layer)
        if answers.round.is_blind:
            return Fact("gold.calibration_open", number=answers.round.number)
        decision = decision_on(answers, layer)
        decided = decision if decision and decision.overrides else None
        if not decided and not self.answers.submitted:
            return Fact("gold.nobody_submitted")
        if not decided and not answers.submitted:
            return Fact("gold.layer_not_answered")
        if not decided and answers.missing > 0:
            return Fact(
                "gold.not_all_submitted",
                submitted=len(answers.submitted),
                overlap=answers.round.overlap,
            )
        base = self.base(layer)
        if isinstance(base, Fact):
            return base
        if decided:
            return self._decided(layer, base, decided)
        settlement = self.settlement_of(layer, base)
        if settlement.state == "disputed":
            return _disputed(settlement, base)
        resolved = resolved_by(answers, layer, base)
        origin = provenance.of_agreed(answers, settlement, resolved, decision)
        labels = [plain(label) for label in settlement.payload[LAYERS[layer].key]]
        return self._with(layer, labels, origin)

    def _decided(
        self, layer: str, base: Base, decision: Adjudication
    ) -> SettledConversation | Fact:
        decided = decision.payload.get(LAYERS[layer].key, [])
        labels = [undecided(plain(label)) for label in decided]
        if unresolved(layer, labels, base.labels):
            return Fact("gold.decision_outdated")
        answers = answering(self.answers, layer)
        resolved = resolved_by(answers, layer, base)
        origin = provenance.of_decided(answers, layer, resolved, decision)
        origin = provenance.stated(origin, decision)
        return self._with(layer, [quoting(base, label) for label in labels], origin)

    def _with(
        self, layer: str, labels: list[StoredLabel], origin: Provenance
    ) -> SettledConversation:
        base = self.base_labels(layer)
        base_payload: Payload = {LAYERS[need].key: settled for need, settled in base.items()}
        payload = {LAYERS[layer].key: labels}
        return SettledConversation(self.answers.conversation, layer, payload, origin, base_payload)

    def _whole(self, layer: str) -> SettledConversation | Fact:
        """Every stage from the conversation to the document, in one item."""
        parts: dict[str, SettledConversation] = {}
        for stage in stages_of(layer):
            outcome = self.of(stage)
            if isinstance(outcome, Fact):
                return Fact(
                    "gold.stage_not_settled", layer=Fact(f"layer_within.{stage}"), why=outcome
                )
            parts[stage] = outcome
        parts = _with_unique_uids(parts)
        origin = provenance.of_stages({stage: part.provenance for stage, part in parts.items()})
        payload = {key: labels for part in parts.values() for key, labels in part.payload.items()}
        return SettledConversation(
            self.answers.conversation, layer, payload, origin, base_payload={}
        )


def _with_unique_uids(parts: dict[str, SettledConversation]) -> dict[str, SettledConversation]:
    """Make uids unique in the whole: they are in one answer, but labels of two people may clash.

    Requirements come first and keep theirs; nothing refers to the labels that are renamed.
    """
    taken: set[str] = set()
    renamed = {}
    for stage, part in parts.items():
        renamed[stage] = _renamed(part, taken)
        taken |= {label["uid"] for label in renamed[stage].payload[LAYERS[stage].key]}
    return renamed


def _renamed(part: SettledConversation, taken: set[str]) -> SettledConversation:
    key = LAYERS[part.layer].key
    known = taken | {label["uid"] for label in part.payload[key]}
    names: dict[str, str] = {}
    for uid in sorted(taken & {label["uid"] for label in part.payload[key]}):
        numbers = (f"{uid}-{number}" for number in count(2))
        names[uid] = next(name for name in numbers if name not in known)
        known.add(names[uid])
    labels = [
        {**label, "uid": names.get(label["uid"], label["uid"])} for label in part.payload[key]
    ]
    rows = {names.get(uid, uid): row for uid, row in part.provenance["labels"].items()}
    origin: Provenance = {**part.provenance, "labels": rows}
    return part._replace(payload={key: labels}, provenance=origin)


def holders_of(
    label: StoredLabel, origin: Provenance, people: Sequence[str]
) -> dict[str, str | None]:
    """By which uid each annotator calls a settled label; without a record, all by its own uid."""
    uid = str(label["uid"])
    row = origin["labels"].get(uid)
    known = row.get("uids") if row else None
    return dict.fromkeys(people, uid) if known is None else known


def decision_on(answers: Answers, layer: str) -> Adjudication | None:
    """The newest decision on the layer."""
    decisions: list[Adjudication] = answers.conversation.decisions  # type: ignore[attr-defined]
    return next((decision for decision in decisions if decision.layer == layer), None)


def _disputed(settlement: Settlement, base: Base) -> Fact:
    """The labels that no majority holds, or in whose fields there is none."""
    shown = [_shown(settlement.layer, each, base) for each in settlement.disputed[:2]]
    if more := len(settlement.disputed[2:]):
        return Fact("gold.disputed_and_more", titles=shown, number=more)
    return Fact("gold.disputed", titles=shown)


def _shown(layer: str, disputed: Settled, base: Base) -> Fact:
    title = heading_of(layer, disputed.label, base.labels)
    if not disputed.tied:
        return Fact("text.quoted", text=title)
    fields = [Fact(f"field.{name}") for name in disputed.tied]
    return Fact("gold.tied_fields", title=title, fields=fields)
