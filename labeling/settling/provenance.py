"""Where the labels of a settled conversation come from: who gave them, and who disagrees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from labeling.agreement.matching.consensus import Settled, Settlement
from labeling.agreement.matching.merging import plain as undecided
from labeling.agreement.matching.references import Base, ResolvedLabels, in_terms_of
from labeling.domain.facts import Fact
from labeling.gold.rules.content import (
    AnsweredBy,
    Decided,
    LabelOrigin,
    Provenance,
    SuggestionUse,
)
from labeling.gold.rules.corrections import Correction, changes, with_correction
from labeling.models import (
    Adjudication,
    Admission,
    Annotation,
    Assignment,
    Conversation,
    Reopening,
    Review,
    Round,
)
from labeling.schema import LAYERS, compared_fields
from labeling.schema.labels import StoredLabel
from labeling.schema.origins import is_assisted, is_same, plain
from labeling.schema.sameness import bare

Labels = list[StoredLabel]
WEAKEST_FIRST = ("adjudicated", "single", "majority", "unanimous")


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
    """The same in terms of the settled labels, with those that refer to none of them separately."""
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
) -> Provenance:
    labels = {name: of_person.labels for name, of_person in resolved.items()}
    provenance: Provenance = {
        "how": settlement.state,
        "labels": {str(each.label["uid"]): _agreed(each, labels) for each in settlement.agreed},
        "adjudicated_by": None,
        "reason": None,
        **_who(answers, settlement.layer),  # type: ignore[typeddict-item]
    }
    _add_lost(provenance, resolved)
    if accepted:
        provenance["accepted_by"] = accepted.decided_by.get_username()
    return provenance


def of_decided(
    answers: Answers, layer: str, resolved: Mapping[str, ResolvedLabels], decision: Adjudication
) -> Provenance:
    decided: Labels = decision.payload.get(LAYERS[layer].key, [])
    labels = {name: of_person.labels for name, of_person in resolved.items()}
    provenance: Provenance = {
        **_who(answers, layer),  # type: ignore[typeddict-item]
        "how": "adjudicated",
        "labels": {str(label["uid"]): _adopted(label, layer, labels) for label in decided},
        "adjudicated_by": decision.decided_by.get_username(),
        "reason": decision.reason or None,
        "answers": labels,  # the dissent is kept whole
        "decided_under": decision.guideline.version,
    }
    if isinstance(decision.why, Fact):
        provenance["reason_code"] = decision.why.code
    _add_lost(provenance, resolved)
    return provenance


def _add_lost(provenance: Provenance, resolved: Mapping[str, ResolvedLabels]) -> None:
    """Labels that were dropped because nothing that they refer to is settled."""
    lost = {name: labels.lost for name, labels in resolved.items() if labels.lost}
    if lost:
        provenance["without_reference"] = lost


def _agreed(settled: Settled, labels_by: Mapping[str, Sequence[Mapping[str, Any]]]) -> LabelOrigin:
    origin: LabelOrigin = {
        "how": settled.how,
        "by": settled.by,
        "uids": settled.uids,
        "dissent": settled.dissent,
    }
    if settled.fields:
        origin["fields"] = settled.fields
    holders = {
        person: label
        for person, uid in settled.uids.items()
        for label in labels_by[person]
        if label.get("uid") == uid
    }
    _add_uses(origin, holders)
    return origin


def _add_uses(origin: LabelOrigin, labels: Mapping[str, Mapping[str, Any]]) -> None:
    """Who took the label over from a suggestion; nothing where everybody typed it."""
    uses: dict[str, SuggestionUse] = {
        person: {"origin": label["origin"], "suggestion": label.get("suggestion")}
        for person, label in labels.items()
        if is_assisted(label)
    }
    if uses:
        origin["origins"] = uses


def _adopted(
    label: Mapping[str, Any], layer: str, labels_by: Mapping[str, Sequence[Mapping[str, Any]]]
) -> LabelOrigin:
    source = label.get("adopted_from") or []
    by = [source] if isinstance(source, str) else list(source)
    origin: LabelOrigin = {"how": "adjudicated", "by": by, "dissent": []}
    if "uids" in label:
        origin["uids"] = label["uids"]
    sources = {
        person: own
        for person in by
        for own in labels_by.get(person, [])
        if is_same(layer, own, label)
    }
    _add_uses(origin, sources)
    if not by and (fields := _taken_from(label, layer, labels_by)):
        origin["fields"] = fields
    return origin


def _taken_from(
    label: Mapping[str, Any], layer: str, labels_by: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, list[str]]:
    """Of a label that nobody gave as a whole: by field in which they differ, whose it is."""
    uids = label.get("uids") or {}
    own = {
        person: given
        for person, labels in labels_by.items()
        for given in labels
        if given.get("uid") == uids.get(person)
    }
    fields = {}
    for field in compared_fields(layer):
        name = field["name"]
        decided = bare(name, label.get(name))
        by = [person for person, given in own.items() if bare(name, given.get(name)) == decided]
        if len(by) < len(own):
            fields[name] = by
    return fields


def _who(answers: Answers, layer: str) -> dict[str, Any]:
    """Who answered, under which guideline, and who skipped with what reason."""
    versions = [assignment.annotation.guideline.version for assignment in answers.submitted]
    return {
        "annotators": [_answered_by(assignment, layer) for assignment in answers.submitted],
        "skipped": [
            {
                "username": assignment.annotator.get_username(),
                "reason": assignment.annotation.skip_reason,
            }
            for assignment in answers.skipped
        ],
        "guideline_version": max(versions, default=None),
        "round": answers.submitted[0].round.number if answers.submitted else None,
    }


def _answered_by(assignment: Assignment, layer: str) -> AnsweredBy:
    row: AnsweredBy = {
        "username": assignment.annotator.get_username(),
        "guideline_version": assignment.annotation.guideline.version,
    }
    if fix := fix_of(assignment.annotation):
        row["fixed_by"] = fix.reviewer.get_username()
    if let_in := _not_calibrated(assignment, layer):
        row["without_calibration"] = {layer: {"how": let_in.how, "reason": let_in.reason}}
    return row


def _not_calibrated(assignment: Assignment, layer: str) -> Admission | None:
    """Why the annotator did full labeling on the layer without having calibrated on it."""
    if assignment.round.kind != Round.Kind.FULL:
        return None
    rows: list[Admission] = assignment.annotator.not_calibrated  # type: ignore[attr-defined]
    at = assignment.annotation.submitted_at
    for row in rows:
        if (row.project_id, row.layer) == (assignment.round.project_id, layer):
            is_earlier = row.calibrated_at is None or (at is not None and at < row.calibrated_at)
            return row if is_earlier else None
    return None


def of_stages(origins: Mapping[str, Provenance]) -> Provenance:
    """The origin of each label, and of each stage; the whole counts as its weakest part."""
    first = next(iter(origins.values()))
    whole = {"labels", "annotators", "skipped", "round"}
    stages = {
        name: {key: value for key, value in origin.items() if key not in whole}
        for name, origin in origins.items()
    }
    decided = [origin for origin in origins.values() if origin["adjudicated_by"]]
    versions = [o["guideline_version"] for o in origins.values() if o["guideline_version"]]
    return {
        "how": min((o["how"] for o in origins.values()), key=WEAKEST_FIRST.index),
        "labels": {
            uid: row for origin in origins.values() for uid, row in origin["labels"].items()
        },
        "adjudicated_by": ", ".join(sorted({str(o["adjudicated_by"]) for o in decided})) or None,
        "reason": "; ".join(o["reason"] for o in decided if o["reason"]) or None,
        "stages": cast(dict[str, Decided], stages),
        "guideline_version": max(versions, default=None),
        "annotators": _of_all_stages(origins.values()),
        "skipped": first["skipped"],
        "round": first["round"],
    }


def _of_all_stages(origins: Iterable[Provenance]) -> list[AnsweredBy]:
    """The same people answered each stage; on which they had not calibrated differs."""
    first, *others = [origin["annotators"] for origin in origins]
    people = {row["username"]: row for row in first}
    for row in (row for rows in others for row in rows if "without_calibration" in row):
        known = people.get(row["username"])
        if known is not None:
            layers = {**known.get("without_calibration", {}), **row["without_calibration"]}
            people[row["username"]] = {**known, "without_calibration": layers}
    return list(people.values())


Change = tuple[Correction, StoredLabel | None]
"""A correction, with the label as it was."""


def changes_of(reopening: Reopening, decision: Adjudication) -> list[Change]:
    """What the decision made of the item's labels."""
    item, key = reopening.item, LAYERS[reopening.layer].key
    before = [plain(label) for label in item.content["gold"].get(key, [])]
    after = [plain(undecided(label)) for label in decision.payload.get(key, [])]
    return [
        (
            Correction(
                dispute=reopening.pk,
                layer=reopening.layer,
                uid=str((old or new or {})["uid"]),
                label=new,
                is_new=old is None,
                decided_by=(decision.decided_by.get_username(),),
                reason=decision.reason,
                release=str(item.release),
            ),
            old,
        )
        for old, new in changes(before, after)
    ]


def stated(origin: Provenance, decision: Adjudication) -> Provenance:
    """The provenance that says which labels the decision about a reopened item has changed."""
    for reopening in decision.reopenings.all()[:1]:
        for correction, before in changes_of(reopening, decision):
            origin = with_correction(origin, correction, before)
    return origin
