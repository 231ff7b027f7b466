"""Items of gold that look wrong: reopened with a reason, decided blind."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple
from uuid import uuid4

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from labeling.agreement.matching.matching import first_place
from labeling.agreement.matching.merging import Cluster, Side
from labeling.core import events, projects
from labeling.core.rules.reasons import reason_in
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.gold import pseudonyms
from labeling.gold.models.reopenings import ReopeningSource
from labeling.gold.rules.corrections import UNSEEN, blind, changes, says
from labeling.models import (
    Adjudication,
    Annotation,
    Conversation,
    GoldItem,
    Membership,
    Reopening,
)
from labeling.schema import LAYERS, check_payload, form_fields
from labeling.schema.labels import StoredLabel
from labeling.schema.origins import plain
from labeling.schema.sameness import differing
from labeling.schema.targets import stages_of
from labeling.settling import adjudications
from labeling.settling.adjudications import AnswersChanged, Decision

JUDGES = (Membership.Role.LEAD, Membership.Role.RESEARCHER)
State = Reopening.State


class ReopeningRefused(RuleError, code="reopening_refused"):
    """The doubt, or the answer to it, makes no sense, or not now."""


class NotTheJudge(RuleError, code="not_the_judge"):
    """Somebody else has to decide about this item."""


def labels_in(item: GoldItem, layer: str) -> list[StoredLabel]:
    return [plain(label) for label in item.content["gold"].get(LAYERS[layer].key, [])]


def label_of(item: GoldItem, layer: str, uid: str) -> StoredLabel | None:
    return next((label for label in labels_in(item, layer) if label.get("uid") == uid), None)


# --- reopened -------------------------------------------------------------------------------------


@transaction.atomic
def ask(
    *,
    item: GoldItem,
    layer: str,
    uid: str = "",
    proposal: Mapping[str, Any] | None = None,
    reason: str,
    by: User,
    source: ReopeningSource | None = None,
) -> Reopening:
    """Say that a label of gold looks wrong: the item is reopened.

    ``uid`` "": one is missing, or it is about the layer as a whole.
    """
    project = item.release.project
    projects.lock(project)  # one doubt about one label
    if layer not in stages_of(item.content["layer"]):
        raise ReopeningRefused("reopening.other_layer", layer=layer, release=str(item.release))
    if uid and label_of(item, layer, uid) is None:
        raise ReopeningRefused("reopening.no_label", item=item.item_id)
    if not reason_in(reason):
        raise ReopeningRefused("reopening.no_reason", details={"field": "reason"})
    label = None if proposal is None else _proposal(item, layer, uid, plain(proposal))
    same = Reopening.objects.unsettled().filter(
        item__release__name=item.release.name,
        item__conversation=item.conversation_id,
        layer=layer,
        label_uid=uid,
    )
    if uid and (earlier := same.first()):
        raise ReopeningRefused("reopening.open_already", number=earlier.pk)
    reopening = Reopening.objects.create(
        item=item,
        layer=layer,
        label_uid=uid,
        proposal=label,
        reason=reason_in(reason),
        source=source or {},
        asked_by=by,
        state=State.OPEN,
    )
    _record("reopening.asked", reopening, by)
    return reopening


def _proposal(item: GoldItem, layer: str, uid: str, label: StoredLabel) -> StoredLabel:
    """As it would be in gold: a label that is there keeps its names, another one gets new ones."""
    labels = labels_in(item, layer)
    gold = next((each for each in labels if uid and each["uid"] == uid), None)
    if gold is None:
        new = {**label, "uid": uuid4().hex, **_next_id(labels)}
        check(item, layer, [*labels, new])
        return new
    label = {**label, **{name: gold[name] for name in ("uid", "id") if name in gold}}
    if says(layer, label, gold):
        raise ReopeningRefused("reopening.nothing_changed")
    check(item, layer, [label if each is gold else each for each in labels])
    return label


def _next_id(labels: Sequence[StoredLabel]) -> dict[str, str]:
    """Behind the ids of gold, where its labels have some."""
    ids = [str(label["id"]).partition("-") for label in labels if label.get("id")]
    highest = max((int(number) for _, _, number in ids if number.isdecimal()), default=0)
    return {"id": f"{ids[0][0]}-{highest + 1:03d}"} if ids else {}


def check(item: GoldItem, layer: str, labels: Sequence[StoredLabel]) -> None:
    """Raise if these labels break the schema where those of gold do not."""
    known = _problems(item, layer, labels_in(item, layer))
    problems = [problem for problem in _problems(item, layer, labels) if problem not in known]
    if problems:
        _, path, fact = problems[0]
        raise ReopeningRefused("reopening.broken_label", path=path, why=fact)


def _problems(
    item: GoldItem, layer: str, labels: Sequence[StoredLabel]
) -> list[tuple[str, str, Fact]]:
    """The label, the field, and what is wrong with it."""
    content, key = item.content, LAYERS[layer].key
    around: dict[str, Any] = {**_given(item), **content["gold"], key: list(labels)}
    by_key = {known.key: name for name, known in LAYERS.items()}
    problems = check_payload(
        around,
        layers=[by_key[name] for name in around],
        message_count=len(content["conversation"]),
        complete=True,
        empty=not any(around.values()),
        messages=[message["content"] for message in content["conversation"]],
        event_schema=item.release.project.event_schema,
    )
    rows = []
    for problem in problems:
        of, _, path = problem.path.partition(".")
        number, _, field = path.partition(".")
        if of == key and number.isdecimal():
            rows.append((str(labels[int(number)].get("uid")), field, problem.fact))
    return rows


def _given(item: GoldItem) -> dict[str, Any]:
    return {**item.content.get("given", {})}


@transaction.atomic
def withdraw(reopening: Reopening, *, reason: str, by: User) -> None:
    """By who doubted, or by a lead, as long as it is not settled."""
    project = reopening.item.release.project
    projects.lock(project)
    reopening.refresh_from_db(fields=["state"])
    if by.pk != reopening.asked_by_id and Membership.Role.LEAD not in project.roles_of(by):
        raise NotTheJudge("reopening.not_yours")
    if reopening.is_settled:
        raise ReopeningRefused("reopening.answered")
    reopening.state, reopening.answer = State.WITHDRAWN, reason_in(reason)
    reopening.answered_by, reopening.answered_at = by, timezone.now()
    reopening.save(update_fields=["state", "answer", "answered_by", "answered_at"])
    _record("reopening.withdrawn", reopening, by)


# --- decided blind --------------------------------------------------------------------------------


class Pair(NamedTuple):
    """A label as gold has it, and as it was proposed; None where one side lacks it."""

    gold: StoredLabel | None
    proposal: StoredLabel | None


@dataclass(frozen=True, slots=True)
class Desk:
    """A reopened item for one judge: each label twice, under letters that are drawn for them."""

    item: GoldItem
    layer: str
    reopened: list[Reopening]
    pairs: list[Pair]
    clusters: list[Cluster]

    state: ClassVar = "disputed"
    agreement: ClassVar = None

    @property
    def base(self) -> dict[str, list[StoredLabel]]:
        """What its labels may refer to, by layer."""
        known = {**_given(self.item), **self.item.content["gold"]}
        needs = LAYERS[self.layer].needs
        return {name: known[LAYERS[name].key] for name in needs if LAYERS[name].key in known}

    @property
    def answers_sha256(self) -> str:
        seen = [self.item.sha256, *(str(reopening.pk) for reopening in self.reopened)]
        return hashlib.sha256(" ".join(seen).encode()).hexdigest()


def open_about(conversation: Conversation, layer: str) -> list[Reopening]:
    """What is reopened of the layer, of one item at a time."""
    rows = list(
        Reopening.objects.unsettled()
        .filter(item__conversation=conversation, layer=layer)
        .select_related("item__release__project", "asked_by")
    )
    return [row for row in rows if row.item_id == rows[0].item_id]


def desk(conversation: Conversation, layer: str, judge: Any) -> Desk | None:
    """None where nothing is reopened."""
    reopened = open_about(conversation, layer)
    if not reopened:
        return None
    item = reopened[0].item
    gold = labels_in(item, layer)
    doubted = {row.uid: row.proposal for row in reopened if row.uid}
    pairs = [Pair(label, doubted.pop(label["uid"], None)) for label in gold]
    contested = {row.label_uid for row in reopened}
    pairs = [
        pair._replace(proposal=pair.gold) if pair.gold["uid"] not in contested else pair  # type: ignore[index]
        for pair in pairs
    ]
    pairs += [Pair(None, label) for label in doubted.values() if label]
    pairs.sort(key=lambda pair: min(first_place(label) for label in pair if label))
    clusters = [
        _cluster(layer, pair, at, _is_turned(item, layer, pair, judge))
        for at, pair in enumerate(pairs, start=1)
    ]
    return Desk(item, layer, reopened, pairs, clusters)


def _is_turned(item: GoldItem, layer: str, pair: Pair, judge: Any) -> bool:
    """Whether B is gold. The same whenever this judge looks; nobody can work it out."""
    label = pair.gold or pair.proposal or {}
    drawn = salted_hmac("assay.reopened", f"{item.pk} {layer} {label['uid']} {judge.pk}")
    return drawn.digest()[0] % 2 == 1


def _cluster(layer: str, pair: Pair, at: int, is_turned: bool) -> Cluster:
    a, b = (
        None if label is None else {**blind(layer, label), **_shown_id(label, at)}
        for label in (reversed(pair) if is_turned else pair)
    )
    sides = [Side("A", a), Side("B", b)]
    differs = differing([a, b], [field["name"] for field in form_fields(layer)])
    return Cluster("unanimous" if a == b else "disputed", a or b or {}, sides, differs)


def _shown_id(label: StoredLabel, at: int) -> dict[str, str]:
    """By its place: the id in gold would tell which label is new."""
    prefix = str(label.get("id") or "").partition("-")[0]
    return {"id": f"{prefix}-{at:03d}"} if prefix else {}


def refusal(desk: Desk, user: User) -> Fact | None:
    """Why somebody else has to decide: who doubted it never does, nor who knows gold's side."""
    if any(row.asked_by_id == user.pk for row in desk.reopened):
        return Fact("reopening.own")
    conversation, layer = desk.item.conversation_id, desk.layer
    involved = {
        *(row.asked_by_id for row in desk.reopened),
        *(row.answered_by_id for row in desk.reopened),
        *Annotation.with_checks.filter(
            assignment__conversation=conversation, status=Annotation.Status.SUBMITTED
        ).values_list("assignment__annotator", flat=True),
        *Adjudication.objects.filter(conversation=conversation, layer=layer).values_list(
            "decided_by", flat=True
        ),
    }
    judges = Membership.objects.filter(
        project=desk.item.release.project, role__in=JUDGES, user__is_active=True
    )
    if user.pk in involved and judges.exclude(user__in=involved - {None}).exists():
        return Fact("reopening.knows_gold")
    return None


@transaction.atomic
def decide(conversation: Conversation, layer: str, decision: Decision, *, by: User) -> Adjudication:
    """What becomes of a reopened item, as a decision of adjudication: the newest one counts."""
    project = conversation.project
    projects.lock(project)  # nothing is decided twice
    now = desk(conversation, layer, by)
    if now is None or now.answers_sha256 != decision.answers_sha256:
        raise AnswersChanged("adjudication.answers_changed")
    if why_not := refusal(now, by):
        raise NotTheJudge(why_not)
    adjudications.check_choice(now.clusters, layer, decision)
    pairs = zip(decision.labels, now.pairs, strict=True)
    chosen = [_chosen(layer, label, pair) for label, pair in pairs if label is not None]
    for label in decision.added:
        chosen.append({**plain(label), "uid": uuid4().hex, **_next_id(chosen)})
    check(now.item, layer, chosen)
    adjudication = adjudications.Adjudication(
        conversation=conversation,
        layer=layer,
        guideline=project.guidelines.all()[0],
        payload={LAYERS[layer].key: _attributed(now.item, chosen)},
        reason=reason_in(decision.note),
        kind=decision.kind,
        guideline_flag=decision.guideline_flag,
        decided_by=by,
    )
    adjudications.store(adjudication)
    is_corrected = bool(changes(labels_in(now.item, layer), chosen))
    for reopening in now.reopened:
        reopening.state = State.CORRECTED if is_corrected else State.KEPT
        reopening.decision = adjudication
        reopening.save(update_fields=["state", "decision"])
        _record(f"reopening.{reopening.state}", reopening, by)
    return adjudication


def _chosen(layer: str, label: Mapping[str, Any], pair: Pair) -> StoredLabel:
    """A side as it is stored, or the judge's own label with what no judge is shown."""
    for side in pair:
        if side is not None and says(layer, label, side):
            return side
    like = pair.gold or pair.proposal or {}
    unseen = {name: like[name] for name in (*UNSEEN, "uid") if name in like}
    return {**plain(label), **unseen}


def _attributed(item: GoldItem, labels: Sequence[StoredLabel]) -> list[StoredLabel]:
    """With whose labels they are: gold names who has those that stay as they are."""
    project = item.release.project
    origins = pseudonyms.content_of(item, pseudonyms.names_of(project))["provenance"]["labels"]
    kept = [label for gold in item.content["gold"].values() for label in gold]
    rows = []
    for label in labels:
        origin = origins.get(label["uid"])
        named: dict[str, Any] = {"adopted_from": []}
        if origin and "uids" in origin:
            named["uids"] = origin["uids"]
        if origin and label in kept:
            named["adopted_from"] = origin["by"]
        rows.append({**label, **named})
    return rows


def _record(verb: str, reopening: Reopening, by: User) -> None:
    release = reopening.item.release
    events.record(
        verb,
        reopening,
        project=release.project,
        actor=by,
        reopening=reopening.pk,
        release=str(release),
        item=reopening.item.item_id,
        layer=reopening.layer,
    )
