"""How far each annotator's newest answers agree with the newest gold, message by message.

Gold made from a person's own labels agrees with them all the more; the figure shows who was
overruled, and how people do on gold that others made. A worker measures it once for each release,
when somebody looks: pages only read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple, cast

from django.db.models import QuerySet

from labeling.agreement.rules.agreement import pair_agreement
from labeling.agreement.rules.units import marks
from labeling.jobs import queue
from labeling.models import AgreementWithGold, Annotation, GoldItem, GoldRelease, Project, Round
from labeling.schema import LAYERS
from labeling.schema.labels import Payload

READ_AT_ONCE = 500


class WithGold(NamedTuple):
    """One person's agreement with gold; ``n`` counts messages."""

    kappa: float | None
    ci_low: float | None
    ci_high: float | None
    raw: float | None
    n: int


class Measured(NamedTuple):
    """What a page can show; ``is_awaited``: a worker has yet to measure it for the first time."""

    people: dict[int, WithGold]
    is_awaited: bool


def read(project: Project) -> Measured:
    """By the key of the annotator; has a worker measure it if there is another release."""
    newest = _newest(project)
    if newest is None:
        return Measured({}, is_awaited=False)
    row = AgreementWithGold.objects.filter(project=project).first()
    if row is None or row.release_id != newest.pk:
        queue.ask("with_gold", project.pk)
        return Measured({}, is_awaited=True)
    people = {int(key): WithGold(**figures) for key, figures in row.figures.items()}
    return Measured(people, is_awaited=False)


def measure(project: Project) -> None:
    """By a worker, of the answers of now."""
    newest = _newest(project)
    if newest is None:
        return
    figures = {str(who): agreed._asdict() for who, agreed in _compared(newest, project).items()}
    AgreementWithGold.objects.update_or_create(
        project=project, defaults={"release": newest, "figures": figures}
    )


def _newest(project: Project) -> GoldRelease | None:
    """Of a layer whose labels mark messages, and that people labeled."""
    by_message = [name for name in project.layers if LAYERS[name].by_message]
    releases = GoldRelease.objects.filter(project=project, layer__in=by_message).labeled()
    newest = {release.layer: release for release in releases.only("layer").order_by("pk")}
    return next((newest[name] for name in by_message if name in newest), None)


def _compared(release: GoldRelease, project: Project) -> dict[int, WithGold]:
    """One item and one answer at a time: of each only its marks are kept, a byte for a message."""
    layer = release.layer
    items = GoldItem.objects.filter(release=release).order_by()
    gold: dict[str, bytes] = {}
    for item in items.only("conversation_id", "canonical").iterator(READ_AT_ONCE):
        content = item.content
        size = len(content["conversation"])
        gold[str(item.conversation_id)] = _marks(layer, content["gold"], size)
    own: dict[int, dict[str, bytes]] = defaultdict(dict)
    answers = _answers(project, items).values_list(
        "assignment__annotator", "assignment__conversation", "payload", "unanswered"
    )
    for who, conversation, payload, unanswered in answers.iterator(READ_AT_ONCE):
        if layer not in (unanswered or ()):
            key = str(conversation)
            own[who][key] = _marks(layer, payload, len(gold[key]))
    return {who: _agreed(gold, labels) for who, labels in own.items()}


def _agreed(gold: Mapping[str, bytes], own: Mapping[str, bytes]) -> WithGold:
    pair = pair_agreement("", "own", gold, own)
    return WithGold(pair.kappa, pair.ci_low, pair.ci_high, pair.raw, pair.n)


def _answers(project: Project, items: QuerySet[GoldItem]) -> QuerySet[Annotation]:
    """What was submitted about the conversations of these items, in rounds that are not blind; the
    newest answer of a person comes last.
    """
    return (
        Annotation.objects.filter(
            status=Annotation.Status.SUBMITTED,
            assignment__round__project=project,
            assignment__conversation__in=items.values("conversation"),
        )
        .exclude(assignment__round__in=Round.objects.blind())
        .order_by("assignment__round__number")
    )


def _marks(layer: str, payload: Payload, size: int) -> bytes:
    return bytes(cast(list[int], marks(layer, payload, size)))
