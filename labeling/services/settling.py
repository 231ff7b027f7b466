"""Which conversations of a project are settled, with what labels, and where these come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Prefetch, QuerySet

from labeling.domain.consensus import Settlement, settle
from labeling.domain.matching import DEFAULT_SYNONYMS, Synonyms, texts_to_prime
from labeling.domain.origins import FIELDS as ORIGIN_FIELDS
from labeling.domain.origins import is_assisted, is_same, plain
from labeling.domain.schema import LAYERS
from labeling.domain.similarity import Ruler
from labeling.models import (
    Adjudication,
    Annotation,
    Assignment,
    Conversation,
    Project,
    Review,
    Round,
)

SETTLED = ("extraction",)
"""Layers whose labels are matched between people; the others cannot become gold by agreement."""


class SettledConversation(NamedTuple):
    """The labels of one conversation that may become gold."""

    conversation: Conversation
    layer: str
    payload: dict[str, Any]
    provenance: dict[str, Any]


class Answers(NamedTuple):
    """What the annotators of a conversation's newest round gave."""

    conversation: Conversation
    round: Round
    submitted: list[Assignment]
    skipped: list[Assignment]
    missing: int  # answers that are still to come


LeftOut = dict[str, str]


def settle_project(
    project: Project, layer: str, *, ruler: Ruler
) -> tuple[list[SettledConversation], list[LeftOut]]:
    """Every labelled conversation, either settled or left out with a reason, ordered by id.

    A decision by an adjudicator stands above the annotators' labels. Otherwise everybody who was
    asked must have answered, and each label must be held by a strict majority.
    """
    everything = [answers_of(each) for each in labelled(project.conversations.all(), layer)]
    prime(ruler, everything, layer)
    settled: list[SettledConversation] = []
    left_out: list[LeftOut] = []
    for answers in everything:
        outcome = _outcome(answers, project, layer, ruler)
        if isinstance(outcome, str):
            left_out.append({"conversation": answers.conversation.external_id, "reason": outcome})
        else:
            settled.append(outcome)
    return settled, left_out


def prime(ruler: Ruler, everything: Sequence[Answers], layer: str) -> None:
    """Encode the texts of all these answers in one batch."""
    given = [labels for answers in everything for labels in labels_by(answers, layer).values()]
    ruler.prime(texts_to_prime(label for labels in given for label in labels))


def labelled(conversations: QuerySet[Conversation], layer: str) -> QuerySet[Conversation]:
    """Those with answers, ready for :func:`answers_of`, ordered by their id."""
    verdicts = Review.objects.select_related("reviewer").order_by("-pk")
    assignments = (
        Assignment.objects.with_answered()
        .select_related("annotation__guideline", "annotator", "round")
        .prefetch_related(Prefetch("annotation__reviews", verdicts, to_attr="verdicts"))
        .order_by("-round__number", "annotator__username")
    )
    decisions = Adjudication.objects.filter(layer=layer).select_related("decided_by", "guideline")
    return (
        conversations.filter(assignments__isnull=False)
        .distinct()
        .order_by("external_id")
        .prefetch_related(
            "messages",
            Prefetch("assignments", assignments, to_attr="given"),
            Prefetch("adjudications", decisions.order_by("-version"), to_attr="decisions"),
        )
    )


def answers_of(conversation: Conversation) -> Answers:
    given: list[Assignment] = conversation.given  # type: ignore[attr-defined]
    newest = [one for one in given if one.round_id == given[0].round_id]
    by_status = {
        status: [one for one in newest if _status(one) == status]
        for status in (Annotation.Status.SUBMITTED, Annotation.Status.SKIPPED)
    }
    submitted = by_status[Annotation.Status.SUBMITTED]
    skipped = by_status[Annotation.Status.SKIPPED]
    answered = sum(one.is_answer for one in newest)  # type: ignore[attr-defined]
    missing = given[0].round.overlap - answered
    return Answers(conversation, given[0].round, submitted, skipped, missing)


def _status(assignment: Assignment) -> str:
    return assignment.annotation.status if hasattr(assignment, "annotation") else ""


def _outcome(
    answers: Answers, project: Project, layer: str, ruler: Ruler
) -> SettledConversation | str:
    """The settled labels, or the reason why there are none."""
    conversation = answers.conversation
    if answers.round.is_blind:
        return f"calibration round {answers.round.number} is open: its answers are blind until then"
    decisions: list[Adjudication] = conversation.decisions  # type: ignore[attr-defined]
    decision = decisions[0] if decisions else None
    if decision and decision.kind != Adjudication.Kind.ACCEPTED:
        return _adjudicated(answers, layer, decision)
    if not answers.submitted:
        return "nobody has submitted labels"
    if answers.missing > 0:
        return f"{len(answers.submitted)} of {answers.round.overlap} annotators have submitted"
    settlement = settlement_of(answers, project, layer, ruler=ruler)
    if settlement.state == "disputed":
        return f"disputed: {_shown(settlement)}; decide in adjudication"
    return _agreed(answers, layer, settlement, accepted=decision)


def settlement_of(answers: Answers, project: Project, layer: str, *, ruler: Ruler) -> Settlement:
    """What the annotators agree on, by the project's rules."""
    return settle(
        labels_by(answers, layer),
        ruler=ruler,
        synonyms=synonyms_of(project),
        threshold=project.match_threshold,
    )


def synonyms_of(project: Project) -> Synonyms:
    """The built-in actor synonyms and the project's own groups."""
    return [*DEFAULT_SYNONYMS, *(frozenset(group) for group in project.actor_synonyms)]


def labels_by(answers: Answers, layer: str) -> dict[str, list[dict[str, Any]]]:
    """By annotator: the labels as submitted, or as a reviewer fixed them."""
    key = LAYERS[layer].key
    given = {one.annotator.get_username(): one.annotation for one in answers.submitted}
    fixed = {name: fix_of(annotation) for name, annotation in given.items()}
    return {
        name: ((fixed[name] or annotation).payload or {}).get(key, [])
        for name, annotation in given.items()
    }


def fix_of(annotation: Annotation) -> Review | None:
    """The newest review, if it corrected the labels that are submitted now.

    A fix stands for that annotator's answer in settling and in gold. Agreement is measured on
    what was submitted: a reviewer's hand must not make people look as if they had agreed.
    """
    verdicts: list[Review] = annotation.verdicts  # type: ignore[attr-defined]
    newest = verdicts[0] if verdicts else None
    if newest is None or newest.version != annotation.version:
        return None
    return newest if newest.verdict == Review.Verdict.FIXED else None


def _shown(settlement: Settlement) -> str:
    """Which labels no majority held."""
    titles = [str(each.label.get("title")) for each in settlement.disputed]
    more = f" and {len(titles) - 2} more" if len(titles) > 2 else ""
    return ", ".join(f"“{title}”" for title in titles[:2]) + more


def _agreed(
    answers: Answers, layer: str, settlement: Settlement, *, accepted: Adjudication | None
) -> SettledConversation:
    given = labels_by(answers, layer)
    labels = {
        str(each.label["uid"]): each.provenance | _origins(_held_by(each.uids, given))
        for each in settlement.agreed
    }
    provenance = {
        "how": settlement.state,
        "labels": labels,
        "adjudicated_by": None,
        "reason": None,
        **_who(answers),
    }
    if accepted:
        provenance["accepted_by"] = accepted.decided_by.get_username()
    gold = {key: [plain(label) for label in agreed] for key, agreed in settlement.payload.items()}
    return SettledConversation(answers.conversation, layer, gold, provenance)


def _held_by(
    uids: Mapping[str, str | None], given: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, Mapping[str, Any]]:
    """Each holder's own label."""
    return {
        person: label
        for person, uid in uids.items()
        for label in given[person]
        if label.get("uid") == uid
    }


def _origins(held: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Who took the label over from a suggestion; nothing where everybody typed it."""
    assisted = {
        person: {field: label.get(field) for field in ORIGIN_FIELDS}
        for person, label in held.items()
        if is_assisted(label)
    }
    return {"origins": assisted} if assisted else {}


def _adjudicated(answers: Answers, layer: str, decision: Adjudication) -> SettledConversation:
    key = LAYERS[layer].key
    decided: list[dict[str, Any]] = decision.payload.get(key, [])
    given = labels_by(answers, layer)
    provenance = {
        "how": "adjudicated",
        "labels": {str(label["uid"]): _adopted(label, layer, given) for label in decided},
        "adjudicated_by": decision.decided_by.get_username(),
        "reason": decision.reason,
        "answers": given,  # the dissent is kept whole
        **_who(answers),
        "guideline_version": decision.guideline.version,
    }
    gold = [{k: v for k, v in plain(label).items() if k != "adopted_from"} for label in decided]
    return SettledConversation(answers.conversation, layer, {key: gold}, provenance)


def _adopted(
    label: dict[str, Any], layer: str, given: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, Any]:
    source = label.get("adopted_from") or []
    by = [source] if isinstance(source, str) else list(source)
    held = {
        person: own for person in by for own in given.get(person, []) if is_same(layer, own, label)
    }
    return {"how": "adjudicated", "by": by, "dissent": [], **_origins(held)}


def _who(answers: Answers) -> dict[str, Any]:
    """Who answered, under which guideline, and who skipped with what reason."""
    return {
        "annotators": [
            {
                "username": one.annotator.get_username(),
                "guideline_version": one.annotation.guideline.version,
                "submitted_at": one.annotation.submitted_at.isoformat(),
                **_fixed_by(one.annotation),
            }
            for one in answers.submitted
            if one.annotation.submitted_at
        ],
        "skipped": [
            {"username": one.annotator.get_username(), "reason": one.annotation.skip_reason}
            for one in answers.skipped
        ],
        "guideline_version": _newest_guideline(answers.submitted),
        "round": answers.submitted[0].round.number if answers.submitted else None,
    }


def _fixed_by(annotation: Annotation) -> dict[str, str]:
    fix = fix_of(annotation)
    return {"fixed_by": fix.reviewer.get_username()} if fix else {}


def _newest_guideline(submitted: Sequence[Assignment]) -> int | None:
    return max((one.annotation.guideline.version for one in submitted), default=None)
