"""Gold that a run contradicts with confidence, or misses by a few messages: where to look first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from evaluation import adapters
from evaluation.layers import Example, GoldLayer, gold_layer
from evaluation.layers.memory import Memory
from evaluation.models import CaseRun, Run, Score
from evaluation.services.work.steering import RunRefused
from labeling.domain.facts import Fact
from labeling.models import Reopening
from labeling.schema.labels import StoredLabel

SuspectKind = Literal["beside", "contradicted", "missing"]

NEAR = 10
"""Messages between evidence and what was returned that still look like a slip."""

HIGH = 10
"""Ranks that count as high."""

CONFIDENT = 0.5
"""From which confidence on a label that gold does not have contradicts it."""

CONFIDENT_RANK = 0.2
"""The same of the first message of a ranking, whose confidences are those of rare events."""


class Suspect(NamedTuple):
    """A label of gold that may be wrong, and what the run says instead.

    Positions of messages count from 0, as gold's do. ``weight`` ranks: the confidence of what
    was returned, halved by each rank class and with the distance.
    """

    case: int
    case_id: str
    item: int
    layer: str
    uid: str
    """Of the label of gold; empty: gold has none."""
    kind: SuspectKind
    weight: float
    why: Fact
    proposal: StoredLabel | None
    reopening: int | None = None
    """The doubt about this label, whatever became of it."""


def suspects_of(run: Run) -> list[Suspect]:
    """Ranked; each label once, by its strongest reason."""
    if run.scored_at is None:
        raise RunRefused("run.unfinished", pk=run.pk, details={"run": run.pk})
    cases = run.cases.filter(repetition=1, state=CaseRun.State.DONE).select_related("item")
    return _among(run, list(cases.defer("item__canonical").order_by("pk")))


def suspects_of_case(case: CaseRun) -> list[Suspect]:
    if case.run.scored_at is None or case.state != CaseRun.State.DONE:
        return []
    return _among(case.run, [case])


def _among(run: Run, cases: list[CaseRun]) -> list[Suspect]:
    layer = gold_layer(run.release.layer)
    if isinstance(layer, Memory):
        suspects = [
            suspect
            for case, example in zip(cases, adapters.examples(cases, layer), strict=True)
            if (suspect := _of_question(case, example, layer))
        ]
    else:
        suspects = list(_of_labels(run, cases, layer))
    doubted = _doubted(run)
    names = {case.item_id: case.item.item_id for case in cases}
    ranked = sorted(suspects, key=lambda suspect: (-suspect.weight, suspect.case, suspect.uid))
    return [
        suspect._replace(reopening=doubted.get((names[suspect.item], suspect.uid)))
        if suspect.uid
        else suspect
        for suspect in ranked
    ]


def _doubted(run: Run) -> dict[tuple[str, str], int]:
    rows = Reopening.objects.filter(item__release__name=run.release.name).order_by("pk")
    return {
        (item, uid): pk for item, uid, pk in rows.values_list("item__item_id", "label_uid", "pk")
    }


# --- questions: what was returned, by rank and confidence -----------------------------------------


class _Returned(NamedTuple):
    position: int
    rank: int
    confidence: float | None


def _of_question(case: CaseRun, example: Example, layer: Memory) -> Suspect | None:
    """The strongest reason to look at the evidence of a question again."""
    returned = _ranked(example.output or {})
    expected = {local_id - 1 for local_id in layer.expected_ids(example)}
    answered = {local_id - 1 for local_id in layer.returned_ids(example)}
    wrong = [each for each in returned if each.position not in expected]
    reasons = [
        *_beside(expected - answered, wrong),
        *_contradicting(expected, returned),
    ]
    if not reasons:
        return None
    kind, weight, why, gone, new = max(reasons, key=lambda reason: reason[1])
    (label,) = example.gold
    evidence = sorted((set(label.get("evidence") or []) - gone) | new)
    return Suspect(
        case=case.pk,
        case_id=case.case_id,
        item=case.gold_item_id,
        layer=layer.name,
        uid=case.part,
        kind=kind,
        weight=round(weight, 6),
        why=why,
        proposal={**label, "evidence": evidence} if "evidence" in label else None,
    )


_Reason = tuple[SuspectKind, float, Fact, set[int], set[int]]


def _ranked(output: Mapping[str, Any]) -> list[_Returned]:
    """The answer first, then what was ranked high; each with its confidence, where it has one."""
    trace = output.get("trace") or {}
    known: dict[int, float] = {}
    for name in ("candidates", "reranked", "selected"):  # the last word counts
        point = trace.get(name) or {}
        known |= dict(zip(point.get("ids") or [], point.get("scores") or [], strict=False))
    order = output.get("ranked") or output.get("evidence") or []
    return [
        _Returned(local_id - 1, rank, known.get(local_id))
        for rank, local_id in enumerate(dict.fromkeys(order), start=1)
        if rank <= HIGH
    ]


def _certainty(returned: _Returned) -> float:
    """A run that gives no confidence is believed by its ranks."""
    confidence = returned.confidence
    sure = min(max(confidence, 0.0), 1.0) if confidence is not None else 0.5
    return sure / returned.rank**0.5


def _beside(missed: set[int], wrong: Sequence[_Returned]) -> Iterator[_Reason]:
    """Evidence that was not returned, and next to it a message that was ranked high."""
    for position in missed:
        for each in wrong:
            distance = abs(each.position - position)
            if 1 <= distance <= NEAR:
                weight = 1 + _certainty(each) / distance**0.5
                why = Fact("suspect.beside", distance=distance, rank=each.rank)
                yield "beside", weight, why, {position}, {each.position}


def _contradicting(expected: set[int], returned: Sequence[_Returned]) -> Iterator[_Reason]:
    """Nothing of gold is ranked high, and the run is sure of something else."""
    first = next(iter(returned), None)
    if first is None or not expected or expected & {each.position for each in returned}:
        return
    if first.confidence is not None and first.confidence < CONFIDENT_RANK:
        return
    confidence = first.confidence
    why = (
        Fact("suspect.nothing_ranked_high", high=HIGH)
        if confidence is None
        else Fact("suspect.confident", confidence=confidence, high=HIGH)
    )
    yield "contradicted", _certainty(first), why, expected, {first.position}


# --- labels: what the matcher did not pair --------------------------------------------------------


def _of_labels(run: Run, cases: Sequence[CaseRun], layer: GoldLayer) -> Iterator[Suspect]:
    """Predicted labels of high confidence that gold has in other words, or not at all."""
    alignments = _alignments(run, cases)
    for case, example in zip(cases, adapters.examples(cases, layer), strict=True):
        predicted = layer.predicted(case.output)
        for row in alignments.get(case.pk, []):
            if row.get("matched") or row["predicted"] is None:
                continue
            label = predicted[row["predicted"]]
            confidence = label.get("confidence")
            if not isinstance(confidence, int | float) or confidence < CONFIDENT:
                continue
            gold = example.gold[row["gold"]] if row["gold"] is not None else None
            yield _of_pair(case, layer, label, gold, float(confidence), row.get("similarity"))


def _of_pair(
    case: CaseRun,
    layer: GoldLayer,
    label: StoredLabel,
    gold: StoredLabel | None,
    confidence: float,
    similarity: float | None,
) -> Suspect:
    kind: SuspectKind = "missing" if gold is None else "contradicted"
    uid = str(gold["uid"]) if gold else ""
    named = {"uid": uid, "id": gold["id"]} if gold and "id" in gold else {"uid": uid}
    return Suspect(
        case=case.pk,
        case_id=case.case_id,
        item=case.gold_item_id,
        layer=layer.name,
        uid=uid,
        kind=kind,
        weight=round(confidence * (0.5 if gold is None else 1 + (similarity or 0.0)), 6),
        why=Fact(f"suspect.{kind}", confidence=confidence),
        proposal={**label, **named},
    )


def _alignments(run: Run, cases: Sequence[CaseRun]) -> dict[int, Sequence[Mapping[str, Any]]]:
    """How the matcher has paired the labels of each case, where the layer is scored by pairs."""
    scores = Score.objects.filter(case__run=run, detail__has_key="alignment").order_by("pk")
    if len(cases) == 1:
        scores = scores.filter(case=cases[0])
    return dict(scores.values_list("case", "detail__alignment"))
