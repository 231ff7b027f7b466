"""Disagreements of a closed round: what the annotators say about them, and what is decided.

A disagreement is found from the labels, so nothing has to be kept in step: a row exists from
the first remark or decision on.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.crypto import salted_hmac

from labeling.agreement import agreement, conversations, measurements
from labeling.agreement.rules.disagreements import Split, letters
from labeling.core import events
from labeling.core.rules.reasons import reason_in
from labeling.domain.errors import RuleError
from labeling.models import Assignment, Comment, Disagreement, Round
from labeling.schema import DEFAULT_LAYER, LAYERS
from labeling.work.comments import EmptyComment


class RoundOpen(RuleError, code="round_open"):
    """An open round is blind or unfinished: there is nothing to discuss yet."""


class NoDisagreement(RuleError, code="no_disagreement"):
    """The annotators marked this message alike, or it does not exist."""


class UnitPlace(NamedTuple):
    """Where a disagreement is: its conversation's key, the position of its unit, its layer.

    The units of requirements, evidence and narratives are the messages.
    """

    conversation: int
    unit: int
    layer: str = DEFAULT_LAYER

    @classmethod
    def parse(cls, text: str) -> UnitPlace | None:
        """From ``12-3`` or ``12-3-validation``, as in addresses and forms."""
        conversation, _, rest = text.partition("-")
        unit, _, layer = rest.partition("-")
        if not all(part.isdecimal() and len(part) < 10 for part in (conversation, unit)):
            return None
        if layer and layer not in LAYERS:
            return None
        return cls(int(conversation), int(unit), layer or DEFAULT_LAYER)

    def __str__(self) -> str:
        layer = "" if self.layer == DEFAULT_LAYER else f"-{self.layer}"
        return f"{self.conversation}-{self.unit}{layer}"


def found_in(
    discussed: Round, layer: str = "", *, among: Collection[int] | None = None
) -> dict[UnitPlace, Split]:
    """The disagreements of a round on one layer (default: the project's first).

    In the order in which the round handed out its conversations; ``among`` narrows it to these.
    Raises ``NotMeasured`` if a worker has to find them first.
    """
    if discussed.state == Round.State.OPEN:
        raise RoundOpen("discussion.round_open")
    layer = layer or agreement.first_layer(discussed.project)
    if layer not in discussed.project.layers:
        return {}
    measurements.refuse_unmeasured(discussed, layer)
    splits = conversations.splits_in(discussed, layer, among=among)
    return {UnitPlace(pk, split.unit, layer): split for pk, split in splits}


def split_at(discussed: Round, place: UnitPlace) -> Split | None:
    return found_in(discussed, place.layer, among=[place.conversation]).get(place)


def split_of(row: Disagreement) -> Split | None:
    """What a stored disagreement is about."""
    return split_at(row.round, UnitPlace(row.conversation_id, int(row.unit), row.layer))


def letters_of(discussed: Round) -> dict[str, str]:
    """A letter for each annotator that does not reveal who it is, and stays the same."""
    own = Assignment.objects.filter(round=discussed, annotator=OuterRef("pk"))
    people = User.objects.filter(Exists(own)).order_by("username")
    secrets = {
        name: salted_hmac("labeling.discussions", f"{discussed.pk}:{name}").hexdigest()
        for name in people.values_list("username", flat=True)
    }
    return letters(secrets)


@transaction.atomic
def say(discussed: Round, place: UnitPlace, *, body: str, by: User) -> Comment:
    """Add a remark to the thread of a disagreement. The same one sent twice is one remark."""
    body = reason_in(body)
    if not body:
        raise EmptyComment("comment.empty")
    row, split = _row(discussed, place)
    last = row.comments.last()
    if last and (last.author, last.body) == (by, body):
        return last
    added = Comment.objects.create(
        project=discussed.project,
        conversation=row.conversation,
        round=discussed,
        disagreement=row,
        message_index=split.message,
        body=body,
        author=by,
    )
    named = _named(row, split)
    events.record("disagreement.discussed", row, project=discussed.project, actor=by, **named)
    return added


@transaction.atomic
def decide(
    discussed: Round, place: UnitPlace, *, outcome: str, note: str = "", by: User
) -> Disagreement:
    """Say what came of a disagreement; an empty outcome opens it again. The last word counts."""
    row, split = _row(discussed, place)
    named = _named(row, split)
    row.outcome, row.note = outcome, reason_in(note)
    row.decided_by, row.decided_at = (by, timezone.now()) if outcome else (None, None)
    row.save(update_fields=["outcome", "note", "decided_by", "decided_at"])
    verb, said = ("decided", {"outcome": outcome}) if outcome else ("reopened", {})
    events.record(f"disagreement.{verb}", row, project=discussed.project, actor=by, **said, **named)
    return row


@transaction.atomic
def hide_names(discussed: Round, *, hidden: bool, by: User) -> None:
    """Show letters instead of names to everybody who reads the discussion."""
    changed = Round.objects.filter(pk=discussed.pk, anonymous=not hidden).update(anonymous=hidden)
    if changed:
        verb = "round.names_hidden" if hidden else "round.names_shown"
        events.record(verb, discussed, project=discussed.project, actor=by)


def _row(discussed: Round, place: UnitPlace) -> tuple[Disagreement, Split]:
    """The stored row of a disagreement, created on first use."""
    split = split_at(discussed, place)
    if split is None:
        raise NoDisagreement("discussion.no_disagreement")
    row, _ = Disagreement.objects.get_or_create(
        round=discussed,
        conversation_id=place.conversation,
        layer=place.layer,
        unit=str(place.unit),
    )
    stored = Disagreement.objects.select_for_update().select_related("conversation")
    return stored.get(pk=row.pk), split


def _named(row: Disagreement, split: Split) -> dict[str, Any]:
    """How an event names what people disagreed on."""
    where = {"conversation": row.conversation.external_id, "message": split.message}
    return {**where, "layer": row.layer, **({"about": split.name} if split.name else {})}
