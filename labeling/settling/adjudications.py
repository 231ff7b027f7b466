"""Deciding the labels of a conversation where its annotators disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.shortcuts import get_object_or_404

from labeling.agreement.matching.merging import (
    Cluster,
    attributed,
    numbered,
    overrules_everybody,
    plain,
)
from labeling.agreement.matching.references import heading_of
from labeling.core import events, projects
from labeling.core.rules.reasons import reason_in
from labeling.domain.errors import RuleError
from labeling.gold import looks
from labeling.jobs import pending
from labeling.models import (
    Adjudication,
    Annotation,
    Conversation,
    Membership,
    Merge,
    Project,
    Round,
)
from labeling.schema import LAYERS, check_payload
from labeling.schema.links import NOT_THERE
from labeling.settling import merges
from labeling.work import blindness
from labeling.work.annotations import InvalidPayload, ReasonMissing

Kind = Adjudication.Kind
Labels = Sequence[Mapping[str, Any]]


class OwnWorkAlone(RuleError, code="own_work_alone"):
    """Nobody may decide alone about labels that only they gave."""


class Blind(RuleError, code="blind"):
    """A calibration round is open: until it closes, nobody may see or decide anything in it."""


class AnswersChanged(RuleError, code="answers_changed"):
    """The decision is about answers that have changed since."""


class Decision(NamedTuple):
    """What an adjudicator decided about the clusters of one conversation and layer.

    ``labels`` has one entry for each cluster, None to leave it out; ``added`` are labels that
    nobody had. ``answers_sha256`` names the answers that were looked at.
    """

    answers_sha256: str
    labels: Sequence[Mapping[str, Any] | None]
    added: Sequence[Mapping[str, Any]] = ()
    kind: str = ""
    note: str = ""
    guideline_flag: bool = False


def readable(user: Any, pk: int) -> Conversation:
    """For leads and researchers who do not label it blind, and may see what was answered."""
    readers = (Membership.Role.LEAD, Membership.Role.RESEARCHER)
    rows = Conversation.objects.filter(project__in=Project.objects.with_role(user, *readers))
    conversation = get_object_or_404(rows.select_related("project"), pk=pk)
    blindness.refuse(user, Conversation.objects.filter(pk=pk))
    looks.require_answers(user, conversation)
    return conversation


@transaction.atomic
def decide_clusters(
    conversation: Conversation, layer: str, decision: Decision, *, by: User
) -> Adjudication:
    """Decide about each cluster. Where no annotator's label is used, the note must say why."""
    clusters = merges.read(_merge_seen(conversation, layer, decision)).clusters
    check_choice(clusters, layer, decision)
    pairs = zip(decision.labels, clusters, strict=True)
    chosen = [attributed(label, cluster) for label, cluster in pairs if label is not None]
    added = [{**label, "adopted_from": []} for label in decision.added]
    return decide(
        conversation=conversation,
        layer=layer,
        payload={LAYERS[layer].key: numbered([*chosen, *added])},
        reason=reason_in(decision.note),
        kind=decision.kind,
        guideline_flag=decision.guideline_flag,
        by=by,
    )


def check_choice(clusters: Sequence[Cluster], layer: str, decision: Decision) -> None:
    """Raise if a cluster is not decided, or what nobody gave is not explained."""
    if len(decision.labels) != len(clusters):
        raise InvalidPayload(
            "adjudication.wrong_count", clusters=len(clusters), labels=len(decision.labels)
        )
    if not decision.kind and any(cluster.how == "disputed" for cluster in clusters):
        raise ReasonMissing("adjudication.no_kind")
    pairs = zip(decision.labels, clusters, strict=True)
    overruled = [cluster for chosen, cluster in pairs if overrules_everybody(chosen, cluster)]
    if (overruled or decision.added) and not reason_in(decision.note):
        raise ReasonMissing(
            "adjudication.no_note",
            details={"labels": [heading_of(layer, cluster.label) for cluster in overruled]},
        )


def _merge_seen(conversation: Conversation, layer: str, decision: Decision) -> Merge:
    _refuse_blind(conversation)
    seen = Merge.objects.filter(
        conversation=conversation, layer=layer, answers_sha256=decision.answers_sha256
    ).first()
    ready = merges.ready(conversation.project, layer, among=[conversation.pk])
    now = ready[conversation.pk].answers_sha256 if ready else ""
    if seen is None or now != decision.answers_sha256:
        raise AnswersChanged("adjudication.answers_changed")
    return seen


@transaction.atomic
def decide(
    *,
    conversation: Conversation,
    layer: str,
    payload: Mapping[str, Any],
    reason: str,
    by: User,
    kind: str = "",
    guideline_flag: bool = False,
) -> Adjudication:
    """Record the decided labels. An earlier decision is kept; the newest one counts.

    A label may carry ``adopted_from``, the annotator or annotators whose label it is; without it
    the label was written or edited by the adjudicator. ``uids`` are the annotators' own labels
    that it replaces.
    """
    decision = Adjudication(
        conversation=conversation,
        layer=layer,
        guideline=conversation.project.guidelines.all()[0],
        payload=payload,
        reason=reason,
        kind=kind,
        guideline_flag=guideline_flag,
        decided_by=by,
    )
    check(decision, base=merges.base_of(conversation, layer))
    store(decision)
    return decision


def store(decision: Adjudication) -> None:
    """Record it, with its event; what refers to the layer is compared again."""
    record(decision)
    conversation = decision.conversation
    events.record(
        "adjudication.decided",
        decision,
        project=conversation.project,
        actor=decision.decided_by,
        conversation=conversation.external_id,
        layer=decision.layer,
        version=decision.version,
    )
    pending.request(conversation.project, conversation=conversation.pk)


def check(decision: Adjudication, *, base: Mapping[str, Labels] | None) -> None:
    """Raise if the decision is not allowed.

    ``base`` are the labels that the decided ones may refer to, by layer; None: they are not here,
    so references are not checked.
    """
    _refuse_blind(decision.conversation)
    _check_labels(decision, base)
    _refuse_own_work(decision.conversation, decision.decided_by)


def record(decision: Adjudication) -> None:
    """Store a decision as the newest about its conversation and layer."""
    conversation = Conversation.objects.select_for_update(no_key=True).get(
        pk=decision.conversation_id
    )  # one after the other
    previous = Adjudication.objects.filter(conversation=conversation, layer=decision.layer).last()
    decision.version = previous.version + 1 if previous else 1
    decision.save(force_insert=True)


def _check_labels(decision: Adjudication, base: Mapping[str, Labels] | None) -> None:
    """The labels must be complete, and refer only to settled ones."""
    is_linked, base = base is not None, base or {}
    conversation, layer = decision.conversation, decision.layer
    project, key = conversation.project, LAYERS[layer].key
    labels = {
        name: [plain(label) for label in decided] for name, decided in decision.payload.items()
    }
    problems = check_payload(
        {LAYERS[need].key: known for need, known in base.items()} | labels,
        layers=[*base, layer],
        message_count=conversation.n_messages,
        complete=True,
        empty=not any(labels.values()) and not any(base.values()),
        messages=[message.content for message in conversation.messages],
        event_schema=project.event_schema,
        open_fields=projects.open_fields(project),
    )
    problems = [row for row in problems if row.path.partition(".")[0] in (key, "empty")]
    problems = [row for row in problems if is_linked or row.fact != NOT_THERE]
    if problems:
        raise InvalidPayload(
            "adjudication.incomplete",
            conversation=str(conversation),
            path=problems[0].path,
            message=problems[0].fact,
            details={"problems": [problem.as_json() for problem in problems]},
        )


class Case(NamedTuple):
    """A conversation that everybody has answered, with its newest decision where that is shown."""

    merge: Merge
    is_decided: bool
    decision: Adjudication | None = None

    @property
    def tab(self) -> str:
        if self.is_decided:
            return "decided"
        return "disputed" if self.merge.state == "disputed" else "agreed"

    @property
    def place(self) -> tuple[float, int]:
        """The lowest agreement comes first."""
        return self.merge.agreement, self.merge.conversation_id


class Workload(NamedTuple):
    """The cases of a layer, by lowest agreement.

    ``preparing`` are complete, but a worker has to merge them. ``waiting`` refer to labels that are
    not settled, which have to be decided first.
    """

    everything: list[Case]
    preparing: int
    waiting: int

    def numbers(self) -> Counter[str]:
        """How many cases each tab has."""
        return Counter(case.tab for case in self.everything)

    def cases(self, tab: str) -> list[Case]:
        return [case for case in self.everything if case.tab == tab]


def workload(project: Project, layer: str) -> Workload:
    everything = merges.ready(project, layer)
    ready = {pk: state for pk, state in everything.items() if not state.waits_for}
    current = merges.current(project, layer, ready)
    decisions = Adjudication.objects.of_answers().filter(conversation__project=project, layer=layer)
    decided = set(decisions.values_list("conversation", flat=True))
    overridden = set(decisions.exclude(kind=Kind.ACCEPTED).values_list("conversation", flat=True))
    cases = [
        # what was accepted counts as long as it is agreed
        Case(merge, pk in (overridden if merge.state == "disputed" else decided))
        for pk, merge in current.items()
    ]
    cases.sort(key=attrgetter("place"))
    return Workload(cases, len(ready) - len(current), len(everything) - len(ready))


def with_decisions(layer: str, cases: Sequence[Case]) -> list[Case]:
    """These cases, each with the newest decision about it."""
    shown = [case.merge.conversation_id for case in cases if case.is_decided]
    rows = Adjudication.objects.filter(conversation__in=shown, layer=layer)
    people = rows.select_related("decided_by").defer("payload").order_by("version")
    newest = {row.conversation_id: row for row in people}
    return [case._replace(decision=newest.get(case.merge.conversation_id)) for case in cases]


def next_disputed(project: Project, layer: str, *, after: int | None = None) -> int | None:
    """The disputed conversation with the lowest agreement; ``after``, the one that follows it."""
    work = workload(project, layer)
    places = [case.place for case in work.cases("disputed")]
    left = [case.place for case in work.everything if case.place[1] == after]
    others = [place for place in places if place not in left]
    following = [place for place in others if left and place > left[0]]
    return next((pk for _, pk in following or others), None)


def _refuse_blind(conversation: Conversation) -> None:
    newest = conversation.rounds.order_by("-number").first()
    if newest and (newest.kind, newest.state) == (Round.Kind.CALIBRATION, Round.State.OPEN):
        raise Blind("adjudication.blind", number=newest.number)


def _refuse_own_work(conversation: Conversation, by: User) -> None:
    submitted = Annotation.objects.filter(
        assignment__conversation=conversation, status=Annotation.Status.SUBMITTED
    )
    people = set(submitted.values_list("assignment__annotator", flat=True))
    if people == {by.pk}:
        raise OwnWorkAlone("adjudication.own_work_alone")
