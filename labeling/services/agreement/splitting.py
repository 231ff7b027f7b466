"""Finding what the annotators of a round see differently, once, for every layer."""

from __future__ import annotations

from dataclasses import asdict

from labeling.domain.agreement.disagreements import Split, event_splits, splits_of
from labeling.domain.agreement.units import BY_REQUIREMENT, judged, units
from labeling.domain.matching.matching import texts_to_prime
from labeling.domain.matching.similarity import Ruler
from labeling.domain.schema import LAYERS
from labeling.models import Discussion, Project, Round
from labeling.services.agreement import agreement
from labeling.services.projects import synonyms_of
from labeling.services.vectors import stored_ruler

Answers = dict[str, tuple[dict[str, dict[str, object]], int]]


def remember(closed: Round, *, ruler: Ruler) -> None:
    """Store the disagreements of every layer. Repeating it changes nothing."""
    if closed.state == Round.State.OPEN:
        return
    for layer in closed.project.layers:
        found = [asdict(one) for one in _found(closed, layer, ruler)]
        Discussion.objects.update_or_create(round=closed, layer=layer, defaults={"splits": found})


def read(closed: Round, layer: str) -> list[Split]:
    """As a worker stored them; until then they are found here.

    ``RulerNeeded`` if that takes the encoder, which web processes do not load.
    """
    stored = Discussion.objects.filter(round=closed, layer=layer).first()
    if stored:
        return [Split(**one) for one in stored.splits]
    return _found(closed, layer, stored_ruler())


def _found(closed: Round, layer: str, ruler: Ruler) -> list[Split]:
    answers = agreement.answers_in(closed)
    if layer in BY_REQUIREMENT:
        _prime(ruler, layer, answers)
    order = closed.places.values_list("conversation__external_id", flat=True)
    return [
        split
        for name in order
        if name in answers
        for split in _of_conversation(closed.project, layer, name, answers[name], ruler)
    ]


def _of_conversation(
    project: Project,
    layer: str,
    name: str,
    answers: tuple[dict[str, dict[str, object]], int],
    ruler: Ruler,
) -> list[Split]:
    payloads, n_messages = answers
    if layer == "events":
        return event_splits(name, payloads, ruler=ruler)
    if layer not in BY_REQUIREMENT:
        found = units(layer, payloads, message_count=n_messages)
        return splits_of(layer, name, payloads, found)
    base = judged(
        layer,
        payloads,
        ruler=ruler,
        synonyms=synonyms_of(project),
        threshold=project.match_threshold,
    )
    found = units(layer, payloads, message_count=n_messages, base=base)
    return splits_of(layer, name, payloads, found, base)


def _prime(ruler: Ruler, layer: str, answers: Answers) -> None:
    keys = [LAYERS[name].key for name in LAYERS[layer].needs]
    ruler.prime(
        texts_to_prime(
            label
            for payloads, _ in answers.values()
            for payload in payloads.values()
            for key in keys
            for label in payload.get(key, [])  # type: ignore[attr-defined]
        )
    )
