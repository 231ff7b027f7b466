"""Where the labels of a settled conversation come from: who gave them, and who disagrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from labeling.domain.exchange.origins import FIELDS as ORIGIN_FIELDS
from labeling.domain.exchange.origins import is_assisted, is_same
from labeling.domain.facts import Fact
from labeling.domain.matching.consensus import Settlement
from labeling.domain.matching.references import Base, ResolvedLabels, in_terms_of
from labeling.domain.schema import LAYERS
from labeling.models import Adjudication, Annotation, Assignment, Conversation, Review, Round

Labels = list[dict[str, Any]]


class Answers(NamedTuple):
    """The annotators' answers in a conversation's newest round."""

    conversation: Conversation
    round: Round
    submitted: list[Assignment]
    skipped: list[Assignment]
    missing: int  # answers that are still to come


def labels_by(answers: Answers, layer: str) -> dict[str, Labels]:
    """By annotator: the labels as submitted, or as a reviewer fixed them."""
    key = LAYERS[layer].key
    annotations = {
        assignment.annotator.get_username(): assignment.annotation
        for assignment in answers.submitted
    }
    fixed = {name: fix_of(annotation) for name, annotation in annotations.items()}
    return {
        name: ((fixed[name] or annotation).payload or {}).get(key, [])
        for name, annotation in annotations.items()
    }


def resolved_by(answers: Answers, layer: str, base: Base) -> dict[str, ResolvedLabels]:
    """The same in terms of the settled labels, with those that refer to none of them apart."""
    own = labels_by(answers, layer)
    if not LAYERS[layer].needs:
        return {name: ResolvedLabels(list(labels), []) for name, labels in own.items()}
    return {name: in_terms_of(base, layer, labels, name) for name, labels in own.items()}


def fix_of(annotation: Annotation) -> Review | None:
    """The newest review, if it corrected the labels that are submitted now.

    A fix replaces that annotator's answer in settling and in gold. Agreement is measured on what
    was submitted: a reviewer's fix must not make people look as if they had agreed.
    """
    verdicts: list[Review] = annotation.verdicts  # type: ignore[attr-defined]
    newest = verdicts[0] if verdicts else None
    if newest is None or newest.version != annotation.version:
        return None
    return newest if newest.verdict == Review.Verdict.FIXED else None


def of_agreed(
    answers: Answers,
    settlement: Settlement,
    resolved: Mapping[str, ResolvedLabels],
    accepted: Adjudication | None,
) -> dict[str, Any]:
    labels = {name: of_person.labels for name, of_person in resolved.items()}
    provenance = {
        "how": settlement.state,
        "labels": {
            str(each.label["uid"]): each.provenance
            | _origins(_labels_of_holders(each.uids, labels))
            for each in settlement.agreed
        },
        "adjudicated_by": None,
        "reason": None,
        **_who(answers),
        **_lost(resolved),
    }
    if accepted:
        provenance["accepted_by"] = accepted.decided_by.get_username()
    return provenance


def of_decided(
    answers: Answers, layer: str, resolved: Mapping[str, ResolvedLabels], decision: Adjudication
) -> dict[str, Any]:
    decided: Labels = decision.payload.get(LAYERS[layer].key, [])
    labels = {name: of_person.labels for name, of_person in resolved.items()}
    return {
        "how": "adjudicated",
        "labels": {str(label["uid"]): _adopted(label, layer, labels) for label in decided},
        "adjudicated_by": decision.decided_by.get_username(),
        "reason": decision.reason or None,
        **({"reason_code": decision.why.code} if isinstance(decision.why, Fact) else {}),
        "answers": labels,  # the dissent is kept whole
        **_who(answers),
        **_lost(resolved),
        "guideline_version": decision.guideline.version,
    }


def _lost(resolved: Mapping[str, ResolvedLabels]) -> dict[str, Any]:
    """Labels that were dropped because nothing that they refer to is settled."""
    lost = {name: labels.lost for name, labels in resolved.items() if labels.lost}
    return {"without_reference": lost} if lost else {}


def _labels_of_holders(
    uids: Mapping[str, str | None], labels_by: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, Mapping[str, Any]]:
    """Each holder's own label."""
    return {
        person: label
        for person, uid in uids.items()
        for label in labels_by[person]
        if label.get("uid") == uid
    }


def _origins(labels: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Who took the label over from a suggestion; nothing where everybody typed it."""
    assisted = {
        person: {field: label.get(field) for field in ORIGIN_FIELDS}
        for person, label in labels.items()
        if is_assisted(label)
    }
    return {"origins": assisted} if assisted else {}


def _adopted(
    label: Mapping[str, Any], layer: str, labels_by: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, Any]:
    source = label.get("adopted_from") or []
    by = [source] if isinstance(source, str) else list(source)
    sources = {
        person: own
        for person in by
        for own in labels_by.get(person, [])
        if is_same(layer, own, label)
    }
    uids = {"uids": label["uids"]} if "uids" in label else {}
    return {"how": "adjudicated", "by": by, **uids, "dissent": [], **_origins(sources)}


def _who(answers: Answers) -> dict[str, Any]:
    """Who answered, under which guideline, and who skipped with what reason."""
    return {
        "annotators": [
            {
                "username": assignment.annotator.get_username(),
                "guideline_version": assignment.annotation.guideline.version,
                "submitted_at": assignment.annotation.submitted_at.isoformat(),
                **_fixed_by(assignment.annotation),
            }
            for assignment in answers.submitted
            if assignment.annotation.submitted_at
        ],
        "skipped": [
            {
                "username": assignment.annotator.get_username(),
                "reason": assignment.annotation.skip_reason,
            }
            for assignment in answers.skipped
        ],
        "guideline_version": _newest_guideline(answers.submitted),
        "round": answers.submitted[0].round.number if answers.submitted else None,
    }


def _fixed_by(annotation: Annotation) -> dict[str, str]:
    fix = fix_of(annotation)
    return {"fixed_by": fix.reviewer.get_username()} if fix else {}


def _newest_guideline(submitted: Sequence[Assignment]) -> int | None:
    return max((assignment.annotation.guideline.version for assignment in submitted), default=None)
