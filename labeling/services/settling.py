"""Which conversations of a project are settled, with what labels, and where these come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Prefetch, QuerySet

from labeling.domain.consensus import Settlement, settle
from labeling.domain.matching import DEFAULT_SYNONYMS, Synonyms, texts_to_prime
from labeling.domain.schema import LAYERS
from labeling.domain.similarity import Ruler
from labeling.models import Adjudication, Annotation, Assignment, Conversation, Project


class SettledConversation(NamedTuple):
    """The labels of one conversation that may become gold."""

    conversation: Conversation
    layer: str
    payload: dict[str, Any]
    provenance: dict[str, Any]


class _Answers(NamedTuple):
    """What the annotators of a conversation's newest round gave."""

    conversation: Conversation
    wanted: int
    submitted: list[Assignment]
    skipped: list[Assignment]


LeftOut = dict[str, str]


def settle_project(
    project: Project, layer: str, *, ruler: Ruler
) -> tuple[list[SettledConversation], list[LeftOut]]:
    """Every labelled conversation, either settled or left out with a reason, ordered by id.

    A decision by an adjudicator stands above the annotators' labels. Otherwise everybody who was
    asked must have answered, and each label must be held by a strict majority.
    """
    key = LAYERS[layer].key
    everything = [_answers(conversation) for conversation in _labelled(project, layer)]
    ruler.prime(
        texts_to_prime(
            label
            for answers in everything
            for assignment in answers.submitted
            for label in assignment.annotation.payload.get(key, [])
        )
    )
    settled: list[SettledConversation] = []
    left_out: list[LeftOut] = []
    for answers in everything:
        outcome = _outcome(answers, project, layer, ruler)
        if isinstance(outcome, str):
            left_out.append({"conversation": answers.conversation.external_id, "reason": outcome})
        else:
            settled.append(outcome)
    return settled, left_out


def _labelled(project: Project, layer: str) -> QuerySet[Conversation]:
    assignments = Assignment.objects.select_related(
        "annotation__guideline", "annotator", "round"
    ).order_by("-round__number", "annotator__username")
    decisions = Adjudication.objects.filter(layer=layer).select_related("decided_by", "guideline")
    return (
        project.conversations.filter(assignments__isnull=False)
        .distinct()
        .order_by("external_id")
        .prefetch_related(
            "messages",
            Prefetch("assignments", assignments, to_attr="given"),
            Prefetch("adjudications", decisions.order_by("-version"), to_attr="decisions"),
        )
    )


def _answers(conversation: Conversation) -> _Answers:
    given: list[Assignment] = conversation.given  # type: ignore[attr-defined]
    newest = [one for one in given if one.round_id == given[0].round_id]
    by_status = {
        status: [one for one in newest if _status(one) == status]
        for status in (Annotation.Status.SUBMITTED, Annotation.Status.SKIPPED)
    }
    submitted = by_status[Annotation.Status.SUBMITTED]
    skipped = by_status[Annotation.Status.SKIPPED]
    wanted = given[0].round.overlap
    return _Answers(conversation, wanted, submitted, skipped)


def _status(assignment: Assignment) -> str:
    return assignment.annotation.status if hasattr(assignment, "annotation") else ""


def _outcome(
    answers: _Answers, project: Project, layer: str, ruler: Ruler
) -> SettledConversation | str:
    """The settled labels, or the reason why there are none."""
    conversation = answers.conversation
    decisions: list[Adjudication] = conversation.decisions  # type: ignore[attr-defined]
    if decisions:
        return _adjudicated(answers, layer, decisions[0])
    if not answers.submitted:
        return "nobody has submitted labels"
    missing = answers.wanted - len(answers.submitted) - len(answers.skipped)
    if missing > 0:
        return f"{len(answers.submitted)} of {answers.wanted} annotators have submitted"
    settlement = settle(
        _labels(answers, layer),
        ruler=ruler,
        synonyms=synonyms_of(project),
        threshold=project.match_threshold,
    )
    if settlement.state == "disputed":
        return f"disputed: {_shown(settlement)}; decide in adjudication"
    return _agreed(answers, layer, settlement)


def synonyms_of(project: Project) -> Synonyms:
    """The built-in actor synonyms and the project's own groups."""
    return [*DEFAULT_SYNONYMS, *(frozenset(group) for group in project.actor_synonyms)]


def _labels(answers: _Answers, layer: str) -> dict[str, list[dict[str, Any]]]:
    key = LAYERS[layer].key
    return {
        one.annotator.get_username(): one.annotation.payload.get(key, [])
        for one in answers.submitted
    }


def _shown(settlement: Settlement) -> str:
    """Which labels no majority held."""
    titles = [str(each.label.get("title")) for each in settlement.disputed]
    more = f" and {len(titles) - 2} more" if len(titles) > 2 else ""
    return ", ".join(f"“{title}”" for title in titles[:2]) + more


def _agreed(answers: _Answers, layer: str, settlement: Settlement) -> SettledConversation:
    labels = {str(each.label["uid"]): each.provenance for each in settlement.agreed}
    provenance = {
        "how": settlement.state,
        "labels": labels,
        "adjudicated_by": None,
        "reason": None,
        **_who(answers),
    }
    return SettledConversation(answers.conversation, layer, settlement.payload, provenance)


def _adjudicated(answers: _Answers, layer: str, decision: Adjudication) -> SettledConversation:
    key = LAYERS[layer].key
    decided: list[dict[str, Any]] = decision.payload.get(key, [])
    provenance = {
        "how": "adjudicated",
        "labels": {str(label["uid"]): _adopted(label) for label in decided},
        "adjudicated_by": decision.decided_by.get_username(),
        "reason": decision.reason,
        "answers": _labels(answers, layer),  # the dissent is kept whole
        **_who(answers),
        "guideline_version": decision.guideline.version,
    }
    gold = [{k: v for k, v in label.items() if k != "adopted_from"} for label in decided]
    return SettledConversation(answers.conversation, layer, {key: gold}, provenance)


def _adopted(label: dict[str, Any]) -> dict[str, Any]:
    source = label.get("adopted_from")
    return {"how": "adjudicated", "by": [source] if source else [], "dissent": []}


def _who(answers: _Answers) -> dict[str, Any]:
    """Who answered, under which guideline, and who skipped with what reason."""
    return {
        "annotators": [
            {
                "username": one.annotator.get_username(),
                "guideline_version": one.annotation.guideline.version,
                "submitted_at": one.annotation.submitted_at.isoformat(),
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


def _newest_guideline(submitted: Sequence[Assignment]) -> int | None:
    return max((one.annotation.guideline.version for one in submitted), default=None)
