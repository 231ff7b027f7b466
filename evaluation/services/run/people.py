"""Annotators' own labels of gold items, and the gold that is made without each of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import QuerySet

from labeling.agreement.matching.references import Base, in_terms_of
from labeling.agreement.matching.similarity import Ruler
from labeling.domain.facts import Fact
from labeling.gold import pseudonyms
from labeling.gold.rules.content import GoldContent, LabelOrigin
from labeling.gold.rules.normal import labels_in_normal_form
from labeling.models import Assignment, Conversation, FirstPass, GoldItem, GoldRelease
from labeling.schema import LAYERS
from labeling.schema.labels import StoredLabel
from labeling.schema.origins import plain
from labeling.settling import settling
from labeling.settling.provenance import Answers, resolved_by

Labels = list[StoredLabel]

BATCH = 200

OTHERS = 2
"""How many others must have labeled a conversation, so that gold can be made without somebody."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """One gold item as the people labeled it who were blind, in terms of gold."""

    item: GoldItem
    content: GoldContent
    labels: Mapping[str, Labels]
    """What each of them handed in."""
    gold_without: Mapping[str, Labels]
    """The gold without the labels of each of them; labels that gold has keep their uid."""


def behind(release: GoldRelease, items: Sequence[GoldItem], *, ruler: Ruler) -> Iterator[Submitted]:
    """Every one of these items that enough people labeled by themselves, in order.

    People are compared by what they handed in, not by what a reviewer made of it. Who had seen
    suggestions of a pipeline before is left out, on both sides: these labels are not their own.
    """
    names = pseudonyms.names_of(release.project)
    answers = _answers(release, items, ruler)
    for item in items:
        content = pseudonyms.content_of(item, names)
        submitted = _submitted(item, content, answers.get(item.conversation_id), ruler)
        if submitted is not None:
            yield submitted


def in_chunks(items: QuerySet[GoldItem], *, after: int = -1) -> Iterator[list[GoldItem]]:
    """Those after a position, each chunk with a query that is over before the next.

    SQLite refuses to write while an older read is open and another process has written since; who
    works on a chunk stores vectors of its texts.
    """
    while chunk := list(items.filter(position__gt=after).order_by("position")[:BATCH]):
        yield chunk
        after = chunk[-1].position


def _answers(
    release: GoldRelease, items: Sequence[GoldItem], ruler: Ruler
) -> dict[int, list[Answers]]:
    """By conversation, the answers of each of its rounds."""
    wanted = Conversation.objects.filter(pk__in=[item.conversation_id for item in items])
    by_conversation = {
        conversation.pk: _rounds_of(conversation)
        for conversation in settling.labeled(wanted, release.layer)
    }
    everything = [answers for rounds in by_conversation.values() for answers in rounds]
    settling.prime(ruler, everything, release.layer)
    return by_conversation


def _rounds_of(conversation: Any) -> list[Answers]:
    everything: list[Assignment] = conversation.labeling_assignments
    rounds = dict.fromkeys(assignment.round_id for assignment in everything)
    answers = []
    for round_id in rounds:
        conversation.labeling_assignments = [
            assignment for assignment in everything if assignment.round_id == round_id
        ]
        answers.append(settling.answers_of(conversation))
    return answers


def _submitted(
    item: GoldItem, content: GoldContent, rounds: Sequence[Answers] | None, ruler: Ruler
) -> Submitted | None:
    number = content["provenance"].get("round")
    answers = next((each for each in rounds or () if each.round.number == number), None)
    if answers is None:
        return None
    blind = answers._replace(submitted=_unassisted(answers.submitted))
    if len(blind.submitted) <= OTHERS:
        return None
    release = item.release
    base = _base(release, answers, ruler)
    if base is None:
        return None
    without = partial(_gold_without, release, content, blind, base, ruler)
    names = [assignment.annotator.get_username() for assignment in blind.submitted]
    texts = [message.content for message in answers.conversation.messages]
    return Submitted(
        item,
        content,
        {
            name: _labels_of(release.layer, base, assignment, texts)
            for name, assignment in zip(names, blind.submitted, strict=True)
        },
        {name: without(name) for name in names},
    )


def _base(release: GoldRelease, answers: Answers, ruler: Ruler) -> Base | None:
    """What the labels refer to; ``None`` if that does not stand any more."""
    if not LAYERS[release.layer].needs:
        return Base()
    settle = partial(settling.settle_answers, answers, release.project, ruler)
    base = settling.Outcomes(answers, release.project, settle).base(release.layer)
    return None if isinstance(base, Fact) else base


def _labels_of(layer: str, base: Base, assignment: Assignment, texts: Sequence[str]) -> Labels:
    labels: Labels = (assignment.annotation.payload or {}).get(LAYERS[layer].key, [])
    own = labels_in_normal_form(labels, texts)
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


def _gold_without(
    release: GoldRelease,
    content: GoldContent,
    answers: Answers,
    base: Base,
    ruler: Ruler,
    person: str,
) -> Labels:
    """Gold of a conversation as if the person had not labeled it.

    What an adjudicator decided holds, unless the label rests on this person alone. Otherwise the
    labels of the others are merged by the project's rules: what they agree on is gold.
    """
    layer = release.layer
    others = answers._replace(
        submitted=[
            assignment
            for assignment in answers.submitted
            if assignment.annotator.get_username() != person
        ]
    )
    gold: Labels = content["gold"].get(LAYERS[layer].key, [])
    origins = content["provenance"]["labels"]
    if content["provenance"]["how"] == "adjudicated":
        own = {name: each.labels for name, each in resolved_by(others, layer, base).items()}
        kept = [_decided(label, origins.get(label["uid"]), own, person) for label in gold]
        return [label for label in kept if label is not None]
    settlement = settling.settle_answers(others, release.project, ruler, layer, base)
    return [
        {**plain(settled.label), "uid": _uid_in_gold(settled.uids, origins) or settled.label["uid"]}
        for settled in [*settlement.agreed, *settlement.disputed]
        if 2 * len(settled.by) > len(settlement.annotators)  # two who agree but for a field, too
    ]


def _decided(
    label: StoredLabel,
    origin: LabelOrigin | None,
    others: Mapping[str, Sequence[Mapping[str, Any]]],
    person: str,
) -> StoredLabel | None:
    """What an adjudicator wrote rests on nobody; what they took over, on those who hold it.

    Where they took this person's words and somebody else holds the label, that person's count.
    """
    if origin is None:
        return label
    uids = {name: uid for name, uid in (origin.get("uids") or {}).items() if uid}
    by: Collection[str] = origin["by"]
    holders = {*uids, *by}
    if holders == {person}:
        return None
    if set(by) != {person}:
        return label
    for name in sorted(holders - {person}):
        for own in others.get(name, []):
            if own.get("uid") == uids.get(name):
                return {**plain(own), "uid": label["uid"]}
    return label


def _uid_in_gold(
    holders: Mapping[str, str | None], origins: Mapping[str, LabelOrigin]
) -> str | None:
    """By which uid gold knows a label that these people hold under these uids."""
    for uid, origin in origins.items():
        known = origin.get("uids") or {}
        if any(own is not None and known.get(name) == own for name, own in holders.items()):
            return uid
    return None


def own_label(
    labels: Mapping[str, Labels], content: GoldContent, part: str
) -> Mapping[str, Labels]:
    """Of a question or an arc: each person's label of it, as gold knows it; else all labels."""
    if not part:
        return labels
    origin = content["provenance"]["labels"].get(part)
    names = (origin.get("uids") if origin else None) or {}
    own = {
        person: [label for label in theirs if label.get("uid") == names.get(person)]
        for person, theirs in labels.items()
    }
    return {person: theirs for person, theirs in own.items() if theirs}
