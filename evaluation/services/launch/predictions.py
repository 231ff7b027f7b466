"""Runs on predictions that were made elsewhere: no pipeline is run, everything else is the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO, NamedTuple, TypedDict

from django.utils import timezone

from evaluation import adapters
from evaluation.layers import MalformedOutput
from evaluation.models import CaseRun
from labeling.domain.canonical import canonical_json
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.formats.answers import LineFault
from labeling.domain.formats.reading import json_lines
from labeling.domain.gold.content import GoldContent
from labeling.domain.matching.references import Base, in_terms_of
from labeling.domain.matching.similarity import Ruler
from labeling.domain.schema import LAYERS
from labeling.domain.schema.labels import StoredLabel
from labeling.models import Assignment, Conversation, FirstPass, GoldItem, GoldRelease
from labeling.services.settling import settling
from labeling.services.settling.provenance import Answers
from pipelines.types import Output

NAME = "predictions"
"""Stands where a run names its pipeline."""

MAX_BYTES = 100 * 1024 * 1024
MAX_EXTRA = 10_000
"""Every id that is left aside is written down with the run, which each of its pages reads."""

MISSING = Fact("case.no_prediction")
SHOWN_FAULTS = 20
SHOWN_CHARACTERS = 200  # of an id that no case has
CHUNK = 1024 * 1024

Line = tuple[int, Any] | LineFault


class PredictionsRefused(RuleError):
    """A prediction cannot be read or scored. ``details`` names lines and reasons."""

    code = "predictions_refused"


@dataclass(frozen=True, slots=True)
class Source:
    """Predictions line by line, and how to know them again."""

    name: str
    sha256: str
    lines: Iterable[Line]


@dataclass(slots=True)
class _Predictions:
    outputs: dict[str, Output] = field(default_factory=dict)
    extra: list[str] = field(default_factory=list)
    faults: list[LineFault] = field(default_factory=list)


def from_file(file: BinaryIO, name: str) -> Source:
    """One prediction a line: ``{"case_id", "output"}``."""
    digest = hashlib.sha256()
    for chunk in iter(lambda: file.read(CHUNK), b""):
        digest.update(chunk)
    file.seek(0)
    return Source(name, digest.hexdigest(), json_lines(file))


def from_list(documents: list[Any]) -> Source:
    """The same from a request; the first one counts as line 1."""
    digest = hashlib.sha256(canonical_json(documents).encode()).hexdigest()
    return Source("request", digest, enumerate(documents, start=1))


def fill(cases: Sequence[CaseRun], source: Source, release: GoldRelease) -> PredictionsReport:
    """Take all predictions or none, and say what the run keeps of it.

    A case without a prediction counts as failed; scoring is still to do.
    """
    by_id = {case.case_id: case for case in cases}
    read = _read(source.lines, by_id, release.layer)
    _refuse_faults(read, by_id, release)
    for case_id, case in by_id.items():
        _fill(case, read.outputs.get(case_id))
    return _report(source, read, by_id)


def _fill(case: CaseRun, output: Output | None) -> None:
    case.finished_at = timezone.now()
    if output is None:
        case.state, case.error = CaseRun.State.FAILED, MISSING
        case.error_class = CaseRun.ErrorClass.PERMANENT
    else:
        case.state, case.output = CaseRun.State.DONE, output


def _read(lines: Iterable[Line], cases: Mapping[str, CaseRun], layer: str) -> _Predictions:
    read = _Predictions()
    seen: dict[str, int] = {}
    counts = {item.pk: len(item.content["conversation"]) for item in _items(cases)}
    for line in lines:
        if isinstance(line, LineFault):
            read.faults.append(line)
            continue
        number, document = line
        try:
            case_id, output = _prediction(document, seen)
            seen[case_id] = number
            if case_id in cases:
                count = counts[cases[case_id].item_id]
                read.outputs[case_id] = adapters.checked_output(output, layer, message_count=count)
            else:
                _leave_aside(case_id, read)
        except MalformedOutput as error:
            read.faults.append(LineFault(number, error.fact))
    return read


def _leave_aside(case_id: str, read: _Predictions) -> None:
    if len(read.extra) == MAX_EXTRA:
        raise PredictionsRefused("predictions.too_many_extra", most=MAX_EXTRA)
    read.extra.append(case_id[:SHOWN_CHARACTERS])


def _items(cases: Mapping[str, CaseRun]) -> Iterable[GoldItem]:
    return {case.item_id: case.item for case in cases.values()}.values()


def _prediction(document: Any, seen: Mapping[str, int]) -> tuple[str, Any]:
    if not isinstance(document, Mapping):
        raise MalformedOutput("prediction.no_object")
    case_id = document.get("case_id")
    if not isinstance(case_id, str) or not case_id:
        raise MalformedOutput("prediction.no_case_id")
    if case_id in seen:
        raise MalformedOutput("prediction.twice", case=case_id, line=seen[case_id])
    if not isinstance(document.get("output"), Mapping):
        raise MalformedOutput("prediction.no_output", case=case_id)
    return case_id, document["output"]


def _refuse_faults(read: _Predictions, cases: Mapping[str, CaseRun], release: GoldRelease) -> None:
    if read.faults:
        raise PredictionsRefused(
            _why_nothing(read.faults),
            details={
                "faults": [
                    {"line": fault.line, "reason": fault.reason.as_json()}
                    for fault in read.faults[:SHOWN_FAULTS]
                ],
                "count": len(read.faults),
            },
        )
    if not read.outputs:
        example = next(iter(cases))
        raise PredictionsRefused(
            "predictions.no_case",
            release=str(release),
            example=example,
            details={"extra": read.extra[:SHOWN_FAULTS]},
        )


def _why_nothing(faults: list[LineFault]) -> Fact:
    """The first of them."""
    first = [
        fault.reason
        if fault.line is None
        else Fact("predictions.line", line=fault.line, why=fault.reason)
        for fault in faults[:3]
    ]
    more = len(faults) - len(first)
    if more:
        return Fact("predictions.nothing_taken_and_more", faults=first, more=more)
    return Fact("predictions.nothing_taken", faults=first)


class PredictionsReport(TypedDict):
    """How a file of predictions fits the gold; stored as ``PredictionsSpec``."""

    file: str
    sha256: str
    taken: int
    missing: list[str]
    extra: list[str]


def _report(source: Source, read: _Predictions, cases: Mapping[str, CaseRun]) -> PredictionsReport:
    return {
        "file": source.name,
        "sha256": source.sha256,
        "taken": len(read.outputs),
        "missing": [case_id for case_id in cases if case_id not in read.outputs],
        "extra": adapters.storable(read.extra),
    }


# --- annotators' own submissions ------------------------------------------------------------------


Labels = list[StoredLabel]


class Submitted(NamedTuple):
    """The labels of one gold item by annotator, in terms of gold; only of those who were blind."""

    item: GoldItem
    content: GoldContent
    labels: dict[str, Labels]


def behind(release: GoldRelease, split: str, *, ruler: Ruler) -> list[Submitted]:
    """Every item of the split in order; without labels where it is not known who gave them.

    People are compared by what they handed in, not by what a reviewer made of it. Who had seen
    suggestions of a pipeline before is left out: these labels are not their own.
    """
    items = release.items.select_related("release__project").order_by("position")
    contents = [(item, item.content) for item in (items.filter(split=split) if split else items)]
    answers = _answers(release, [item for item, _ in contents], ruler)
    return [
        Submitted(
            item, content, _labels(release, content, answers.get(item.conversation_id), ruler)
        )
        for item, content in contents
    ]


def _answers(
    release: GoldRelease, items: Sequence[GoldItem], ruler: Ruler
) -> dict[int, list[Answers]]:
    """By conversation, the answers of each of its rounds."""
    wanted = Conversation.objects.filter(pk__in=[item.conversation_id for item in items])
    by_conversation = {
        conversation.pk: _rounds_of(conversation)
        for conversation in settling.labelled(wanted, release.layer)
    }
    if LAYERS[release.layer].needs:  # what labels refer to is matched, so its texts are compared
        everything = [answers for rounds in by_conversation.values() for answers in rounds]
        settling.prime(ruler, everything, release.layer)
    return by_conversation


def _rounds_of(conversation: Any) -> list[Answers]:
    everything: list[Assignment] = conversation.labelling_assignments
    rounds = dict.fromkeys(assignment.round_id for assignment in everything)
    answers = []
    for round_id in rounds:
        conversation.labelling_assignments = [
            assignment for assignment in everything if assignment.round_id == round_id
        ]
        answers.append(settling.answers_of(conversation))
    return answers


def _labels(
    release: GoldRelease,
    content: GoldContent,
    rounds: Sequence[Answers] | None,
    ruler: Ruler,
) -> dict[str, Labels]:
    number = content["provenance"].get("round")
    answers = next((each for each in rounds or () if each.round.number == number), None)
    if answers is None:
        return {}
    base = _base(release, answers, ruler)
    if base is None:
        return {}
    return {
        assignment.annotator.get_username(): _labels_of(release.layer, base, assignment)
        for assignment in _unassisted(answers.submitted)
    }


def _base(release: GoldRelease, answers: Answers, ruler: Ruler) -> Base | None:
    """What the labels refer to; ``None`` if that does not stand any more."""
    if not LAYERS[release.layer].needs:
        return Base()
    settle = partial(settling.settle_answers, answers, release.project, ruler)
    base = settling.Outcomes(answers, release.project, settle).base(release.layer)
    return None if isinstance(base, Fact) else base


def _labels_of(layer: str, base: Base, assignment: Assignment) -> Labels:
    own: Labels = (assignment.annotation.payload or {}).get(LAYERS[layer].key, [])
    if not LAYERS[layer].needs:
        return own
    return [
        dict(label) for label in in_terms_of(base, layer, own, assignment.annotator.username).labels
    ]


def _unassisted(submitted: Sequence[Assignment]) -> list[Assignment]:
    seen = set(
        FirstPass.objects.filter(assignment__in=submitted).values_list("assignment", flat=True)
    )
    return [assignment for assignment in submitted if assignment.pk not in seen]
