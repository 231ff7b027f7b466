"""What each annotator submitted by themselves behind the items of a gold release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from labeling.domain.references import Base, in_terms_of
from labeling.domain.schema import LAYERS
from labeling.domain.similarity import Ruler
from labeling.models import Assignment, Conversation, FirstPass, GoldItem, GoldRelease
from labeling.services import settling
from labeling.services.provenance import Answers

Labels = list[dict[str, Any]]


class Submitted(NamedTuple):
    """The labels of one gold item by annotator, in terms of gold; only of those who were blind."""

    item: GoldItem
    content: Mapping[str, Any]
    labels: dict[str, Labels]


def behind(release: GoldRelease, split: str, *, ruler: Ruler) -> list[Submitted]:
    """Every item of the split in order; without labels where it is not known who gave them.

    People are compared by what they handed in, not by what a reviewer made of it. Who had seen
    suggestions of a pipeline before is left out: these labels are not their own.
    """
    items = release.items.select_related("release__project").order_by("position")
    found = [(item, item.content) for item in (items.filter(split=split) if split else items)]
    answers = _answers(release, [item for item, _ in found], ruler)
    return [
        Submitted(
            item, content, _labels(release, content, answers.get(item.conversation_id), ruler)
        )
        for item, content in found
    ]


def _answers(
    release: GoldRelease, items: Sequence[GoldItem], ruler: Ruler
) -> dict[int, list[Answers]]:
    """By conversation, the answers of each of its rounds."""
    wanted = Conversation.objects.filter(pk__in=[item.conversation_id for item in items])
    found = {one.pk: _rounds_of(one) for one in settling.labelled(wanted, release.layer)}
    if LAYERS[release.layer].needs:  # what labels refer to is matched, so its texts are compared
        everything = [answers for rounds in found.values() for answers in rounds]
        settling.prime(ruler, everything, release.layer)
    return found


def _rounds_of(conversation: Any) -> list[Answers]:
    everything: list[Assignment] = conversation.given
    rounds = dict.fromkeys(one.round_id for one in everything)
    found = []
    for each in rounds:
        conversation.given = [one for one in everything if one.round_id == each]
        found.append(settling.answers_of(conversation))
    return found


def _labels(
    release: GoldRelease,
    content: Mapping[str, Any],
    rounds: Sequence[Answers] | None,
    ruler: Ruler,
) -> dict[str, Labels]:
    number = content["provenance"].get("round")
    answers = next((one for one in rounds or () if one.round.number == number), None)
    if answers is None:
        return {}
    base = _base(release, answers, ruler)
    if base is None:
        return {}
    return {
        one.annotator.get_username(): _of_one(release.layer, base, one)
        for one in _unassisted(answers.submitted)
    }


def _base(release: GoldRelease, answers: Answers, ruler: Ruler) -> Base | None:
    """What the labels refer to; ``None`` if that does not stand any more."""
    if not LAYERS[release.layer].needs:
        return Base()
    found = settling.Outcomes(answers, release.project, ruler).base(release.layer)
    return None if isinstance(found, str) else found


def _of_one(layer: str, base: Base, one: Assignment) -> Labels:
    own: Labels = (one.annotation.payload or {}).get(LAYERS[layer].key, [])
    if not LAYERS[layer].needs:
        return own
    return [dict(label) for label in in_terms_of(base, layer, own, one.annotator.username).labels]


def _unassisted(submitted: Sequence[Assignment]) -> list[Assignment]:
    seen = set(
        FirstPass.objects.filter(assignment__in=submitted).values_list("assignment", flat=True)
    )
    return [one for one in submitted if one.pk not in seen]
